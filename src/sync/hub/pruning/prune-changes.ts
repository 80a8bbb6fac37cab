/** Takes from the log of changes what is older than any device is waited for: who comes back after that compares fingerprints. */
import { changeKey } from '../../../engine/change-log.ts';
import { databasesBelow, ROOT_DATABASE } from '../../../engine/databases.ts';
import { SYNC_LIMITS } from '../../../limits.ts';
import type { DatabaseId, Micros } from '../../../values/value.ts';
import { horizonIn, horizonRow, tsOf } from '../rows/change-log-rows.ts';
import { madeKey } from '../rows/device-rows.ts';
import { rowsToPrune, type PruneHost } from './prune-batch.ts';

/**
 * In small commits of its own.
 * @param before changes of this time and older go
 * @returns how many commits were forgotten
 */
export async function pruneChanges(host: PruneHost, before: Micros): Promise<number> {
  const { value: databases } = await host.transactions.read((input) => ({
    value: [...databasesBelow(input.writer, ROOT_DATABASE)],
    ts: input.head,
    keep: false,
  }));
  let pruned = 0;
  for (const database of databases) {
    let step: number = SYNC_LIMITS.pruneRows;
    while (step === SYNC_LIMITS.pruneRows) {
      step = await pruneStep(host, database, before);
      pruned += step;
    }
    while ((await pruneMade(host, database, before - MADE_LONGER)) === SYNC_LIMITS.pruneRows);
  }
  return pruned;
}

/** A copy of a device may lie in a drawer for longer than the log of changes reaches back, µs. */
const MADE_LONGER: Micros = 60 * 86_400 * 1_000_000;

async function pruneMade(
  { transactions, clock }: PruneHost,
  database: DatabaseId,
  before: Micros,
): Promise<number> {
  const { value } = await transactions.write(({ writer, head }) => {
    const upper = madeKey(database, Math.max(0, before), '');
    const found = writer.range(rowsToPrune(madeKey(database, 0, ''), upper));
    for (const { key } of found) writer.delete('sync', key);
    return { value: found.length, ts: Math.max(clock(), head) + 1, keep: found.length > 0 };
  });
  return value;
}

async function pruneStep(
  { transactions, clock }: PruneHost,
  database: DatabaseId,
  before: Micros,
): Promise<number> {
  const { value } = await transactions.write(({ writer, head }) => {
    // Not behind the head: what is known of the range stays true when more is written.
    const upper = changeKey(database, Math.min(before, head) + 1);
    const found = writer.range(rowsToPrune(changeKey(database, 0), upper));
    const last = found.at(-1);
    if (!last) return { value: 0, ts: head, keep: false };
    for (const { key } of found) writer.delete('sync', key);
    const horizon = Math.max(horizonIn(writer, database), tsOf(last.key));
    writer.put('sync', horizonRow(database, horizon));
    return { value: found.length, ts: Math.max(clock(), head) + 1, keep: true };
  });
  return value;
}
