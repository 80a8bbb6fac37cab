/** Removes writes that have a verdict from the outbox. */
import { Refusal } from '../../../errors.ts';
import { entriesIn, scan } from '../../../store/scan.ts';
import type { Micros } from '../../../values/value.ts';
import { ChangedKeys } from '../rebase/changed-keys.ts';
import { rebasePending } from '../rebase/rebase.ts';
import type { ReplicaTransaction, StateChange } from '../rebase/replica-transaction.ts';
import { outboxAddress, readOutboxRow } from '../state/outbox-row.ts';
import { outboxRange } from '../state/outbox-rows.ts';
import { writesById } from './find-writes.ts';

/** Removes a write that the app has dealt with. @throws Suspended; Refusal `not found`, `bad request` */
export function discard(transaction: ReplicaTransaction, id: string): StateChange<void> {
  const { input, state } = transaction;
  const { writer } = input;
  const [record] = writesById(writer, [id]);
  if (!record)
    throw new Refusal('not found', `There is no write ${id}, or it is already resolved.`);
  const { era } = record;
  const { seq } = record.item;
  if (!record.verdict) throw new Refusal('bad request', `The write ${id} has no verdict yet.`);
  writer.delete('sync', outboxAddress(era, seq).key);
  if (era !== state.era || seq <= state.shownSeq) return { value: undefined };
  // The effects of the write are no longer shown, and writes that read them run again.
  const changed = new ChangedKeys();
  changed.addEffects(record.effects, writer);
  return { value: undefined, ...rebasePending(transaction, changed) };
}

/** Number of rows read at a time. */
const PAGE_ROWS = 256;

/**
 * Removes writes that the hub confirmed at least `age` before its latest commit known here, so the device's clock does not matter. These
 * writes come first, in the order of their verdicts, so the other writes need not be read.
 * @returns how many were removed
 * @throws Suspended
 */
export function pruneWrites(
  { input: { writer }, state }: ReplicaTransaction,
  age: Micros,
): StateChange<number> {
  const before = (state.cursor ?? 0) - age;
  const { lower } = outboxRange();
  const { key: upper } = outboxAddress(state.era, state.shownSeq + 1);
  let value = 0;
  for (const { key, row } of entriesIn(
    writer,
    scan('sync', { lower, upper }, { limit: PAGE_ROWS }),
  )) {
    const verdict = row && readOutboxRow(row).verdict;
    if (verdict?.state === 'refused') continue;
    if (!verdict || verdict.ts >= before) break;
    writer.delete('sync', key);
    value += 1;
  }
  return { value };
}
