/** Removes writes from the outbox that have their verdict. */
import { Refusal } from '../../../errors.ts';
import type { Micros } from '../../../values/value.ts';
import { ChangedKeys } from '../rebase/changed-keys.ts';
import { rebasePending } from '../rebase/rebase.ts';
import type { ReplicaTransaction, StateChange } from '../rebase/replica-transaction.ts';
import { outboxAddress, readOutboxRow } from '../state/outbox-row.ts';
import { outboxRange, outboxRecords } from '../state/outbox-rows.ts';
import { numberOf } from './find-writes.ts';

/** The app is done with a write. @throws Suspended; Refusal `not found`, `bad request` */
export function discard(transaction: ReplicaTransaction, id: string): StateChange<void> {
  const { input, state } = transaction;
  const { writer } = input;
  const number = numberOf(writer, id);
  const row = number && writer.row(outboxAddress(number.era, number.seq));
  if (!row) throw new Refusal('not found', `There is no write ${id}: it is already resolved.`);
  const { era, seq } = number;
  const record = readOutboxRow(row);
  if (!record.verdict) throw new Refusal('bad request', `The write ${id} has no verdict yet.`);
  writer.delete('sync', outboxAddress(era, seq).key);
  if (era !== state.era || seq <= state.shownSeq) return { value: undefined };
  // Its effects are shown no more, and writes that read them run again.
  const changed = new ChangedKeys();
  changed.addEffects(record.effects, writer);
  return { value: undefined, ...rebasePending(transaction, changed) };
}

/**
 * Removes writes that the hub confirmed so long before the latest commit of it that is known here: no clock of the device counts.
 * @returns how many
 * @throws Suspended
 */
export function pruneWrites(
  { input, state }: ReplicaTransaction,
  age: Micros,
): StateChange<number> {
  const before = (state.cursor ?? 0) - age;
  const old = outboxRecords(input.writer, outboxRange()).filter(
    ({ verdict, item, era }) =>
      verdict &&
      verdict.ts < before &&
      verdict.state !== 'refused' &&
      (era < state.era || item.seq <= state.shownSeq),
  );
  for (const { era, item } of old) input.writer.delete('sync', outboxAddress(era, item.seq).key);
  return { value: old.length };
}
