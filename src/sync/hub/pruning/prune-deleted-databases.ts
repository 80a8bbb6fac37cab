/** Deletes rows about devices of deleted databases. They are not needed, because numbers of databases are never used again. */
import { syncKey, type Key } from '../../../codec/key.ts';
import { prefixRange } from '../../../codec/ranges.ts';
import type { BodyInput, BodyResult } from '../../../engine/transactions.ts';
import { databasePath } from '../../../engine/catalog.ts';
import type { Reader } from '../../../store/reader.ts';
import type { DatabaseId } from '../../../values/value.ts';
import { databasesIn, pruneBatch, type PruneHost } from './prune-batch.ts';

/** Lists in the space `sync` whose keys begin with a database: docs/store-format.md. */
const LISTS = [
  'device',
  'owned',
  'verdict',
  'scope',
  'changes',
  'dropped',
  'horizon',
  'made',
  'building',
] as const;

/** @returns how many rows were deleted */
export async function pruneDeletedDatabases(host: PruneHost): Promise<number> {
  const { transactions } = host;
  let pruned = 0;
  for (const list of LISTS) {
    for await (const { database } of databasesIn(host, list)) {
      const deleteBatch = ({ writer, head }: BodyInput): BodyResult<number> => {
        const keys = databasePath(writer, database) ? [] : keysOf(writer, list, database);
        for (const key of keys) writer.delete('sync', key);
        return { value: keys.length, ts: Math.max(host.clock(), head) + 1 };
      };
      // Reads first: if there is nothing to delete, no write transaction is needed.
      while ((await transactions.read(deleteBatch)).value > 0)
        pruned += (await transactions.write(deleteBatch)).value;
    }
  }
  return pruned;
}

/** As many keys as one commit deletes. */
function keysOf(reader: Reader, list: string, database: DatabaseId): readonly Key[] {
  const { lower, upper } = prefixRange(syncKey(list, database));
  return reader.range(pruneBatch(lower, upper)).map(({ key }) => key);
}
