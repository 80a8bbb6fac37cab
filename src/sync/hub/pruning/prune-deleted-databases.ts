/** Deletes rows about devices of deleted databases. They are not needed, because numbers of databases are never used again. */
import { syncKey, syncNumberOf, type Key } from '../../../codec/key.ts';
import { prefixRange } from '../../../codec/ranges.ts';
import type { BodyInput, BodyResult } from '../../../engine/transactions.ts';
import { databasePath } from '../../../engine/catalog.ts';
import type { Reader } from '../../../store/reader.ts';
import { scan } from '../../../store/scan.ts';
import type { DatabaseId } from '../../../values/value.ts';
import { pruneBatch, type PruneHost } from './prune-batch.ts';

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

/**
 * Goes from each database that has rows in a list to the next one, so that its work depends on these databases only: a hub may have
 * thousands without devices.
 * @returns how many rows were deleted
 */
export async function pruneDeletedDatabases(host: PruneHost): Promise<number> {
  const { transactions } = host;
  let pruned = 0;
  for (const list of LISTS) {
    for await (const database of databasesIn(host, list)) {
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

/**
 * The databases that have rows in a list, in ascending order. Not read through the engine, whose cache does not see the rows that commits
 * add to the log of changes.
 */
async function* databasesIn({ store }: PruneHost, list: string): AsyncGenerator<DatabaseId> {
  let range = prefixRange(syncKey(list));
  for (;;) {
    const next = scan('sync', range, { limit: 1, rows: false });
    const { ranges } = await store.read((tx) => tx.fetch([], [next]), { spaces: ['sync'] });
    const first = ranges[0]?.[0];
    if (!first) return;
    const database = syncNumberOf(first.key, list);
    yield database;
    range = { ...range, lower: prefixRange(syncKey(list, database)).upper };
  }
}

/** As many keys as one commit deletes. */
function keysOf(reader: Reader, list: string, database: DatabaseId): readonly Key[] {
  const { lower, upper } = prefixRange(syncKey(list, database));
  return reader.range(pruneBatch(lower, upper)).map(({ key }) => key);
}
