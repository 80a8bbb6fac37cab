/** Deletes old rows of the log of changes. A device with an older cursor whose sets have changed since must compare fingerprints. */
import { changeKey } from '../../../engine/transactions.ts';
import { SYNC_LIMITS } from '../../../limits.ts';
import { scan } from '../../../store/scan.ts';
import type { DatabaseId, Micros } from '../../../values/value.ts';
import { cutAfter } from '../rows/dropped-changes.ts';
import { contentKey } from '../rows/verdict-rows.ts';
import { databasesIn, pruneBatch, type PruneHost } from './prune-batch.ts';

/**
 * @param before changes at or before this time are deleted
 * @returns how many commits were deleted from the log
 */
export async function pruneChanges(host: PruneHost, before: Micros): Promise<number> {
  let pruned = 0;
  for await (const { database, first } of databasesIn(host, 'changes')) {
    let batch = first > changeKey(database, before) ? 0 : SYNC_LIMITS.pruneRows;
    while (batch === SYNC_LIMITS.pruneRows) {
      batch = await pruneLog(host, database, before);
      pruned += batch;
    }
  }
  const contentsBefore = Math.max(0, host.clock() - SYNC_LIMITS.devicesKeptMicros);
  for await (const { database, first } of databasesIn(host, 'made')) {
    if (first >= contentKey(database, contentsBefore, '')) continue;
    while ((await pruneContents(host, database, contentsBefore)) === SYNC_LIMITS.pruneRows);
  }
  return pruned;
}

/** Deletes verdicts by content (`contentKey`) of writes so old that the hub refuses them. They are kept longer than the log for clones. */
async function pruneContents(
  { transactions, clock }: PruneHost,
  database: DatabaseId,
  before: Micros,
): Promise<number> {
  const { value } = await transactions.write(({ writer, head }) => {
    const upper = contentKey(database, before, '');
    const found = writer.range(pruneBatch(contentKey(database, 0, ''), upper));
    for (const { key } of found) writer.delete('sync', key);
    return { value: found.length, ts: Math.max(clock(), head) + 1 };
  });
  return value;
}

async function pruneLog(
  { transactions, clock }: PruneHost,
  database: DatabaseId,
  before: Micros,
): Promise<number> {
  const { value } = await transactions.write(({ writer, head }) => {
    // Not beyond the head, so that later commits do not invalidate the cached range.
    const upper = changeKey(database, Math.min(before, head) + 1);
    const limit = SYNC_LIMITS.pruneRows;
    const found = writer.range(scan('sync', { lower: changeKey(database, 0), upper }, { limit }));
    if (found.length === 0) return { value: 0 };
    const rows = found.flatMap(({ row }) => row ?? []);
    const { puts, deletes } = cutAfter(writer, database, rows);
    for (const row of puts) writer.put('sync', row);
    for (const key of [...deletes, ...found.map(({ key }) => key)]) writer.delete('sync', key);
    return { value: found.length, ts: Math.max(clock(), head) + 1 };
  });
  return value;
}
