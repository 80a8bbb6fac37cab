/** Parks writes while nobody is logged in, and takes them up again. */
import type { ReplicaTransaction, StateChange } from '../rebase/replica-transaction.ts';
import { outboxRow } from '../state/outbox-row.ts';
import { outboxRange, outboxRecords } from '../state/outbox-rows.ts';

/** @throws Suspended */
export function parkWrites(
  { input, state }: ReplicaTransaction,
  isParked: boolean,
): StateChange<void> {
  const [from, to] = isParked ? (['local', 'parked'] as const) : (['parked', 'local'] as const);
  for (const record of outboxRecords(input.writer, outboxRange(state.era, state.settledSeq + 1)))
    if (record.state === from)
      input.writer.put('sync', outboxRow(state.era, { ...record, state: to }));
  return { value: undefined, next: { ...state, generation: state.generation + 1 } };
}
