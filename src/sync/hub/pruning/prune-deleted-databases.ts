/** Deletes rows about devices of deleted databases. They are not needed, because numbers of databases are never used again. */
import { syncKey, type Key } from '../../../codec/key.ts';
import { prefixRange } from '../../../codec/ranges.ts';
import type { BodyInput, BodyResult } from '../../../engine/transactions.ts';
import { databasesBelow, ROOT_DATABASE } from '../../../engine/catalog.ts';
import { SYNC_LIMITS } from '../../../limits.ts';
import { eachElement } from '../../../query/collect-needs.ts';
import type { Range } from '../../../store/port.ts';
import type { Reader } from '../../../store/reader.ts';
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

/** @returns how many rows were deleted */
export async function pruneDeletedDatabases({ transactions, clock }: PruneHost): Promise<number> {
  const deleteBatch = ({ writer, head }: BodyInput): BodyResult<number> => {
    const keys = keysOfDeleted(writer);
    for (const key of keys) writer.delete('sync', key);
    return { value: keys.length, ts: Math.max(clock(), head) + 1 };
  };
  let pruned = 0;
  // Reads first: if there is nothing to delete, no write transaction is needed.
  while ((await transactions.read(deleteBatch)).value > 0)
    pruned += (await transactions.write(deleteBatch)).value;
  return pruned;
}

/** Keys of the next batch to delete. Empty if there are none. */
function keysOfDeleted(reader: Reader): readonly Key[] {
  const living = eachElement(databasesBelow(reader, ROOT_DATABASE), (database) => database).sort(
    (a, b) => a - b,
  );
  const gaps = LISTS.flatMap((list) => gapsIn(list, living));
  const found = eachElement(gaps, (gap) => reader.range(gap));
  return found
    .flat()
    .slice(0, SYNC_LIMITS.pruneRows)
    .map(({ key }) => key);
}

/** The key ranges of a list between those of existing databases. */
function gapsIn(list: string, living: readonly DatabaseId[]): readonly Range[] {
  const all = prefixRange(syncKey(list));
  const gaps: Range[] = [];
  let { lower } = all;
  for (const database of living) {
    const own = prefixRange(syncKey(list, database));
    gaps.push(pruneBatch(lower, own.lower));
    lower = own.upper;
  }
  return [...gaps, pruneBatch(lower, all.upper)];
}
