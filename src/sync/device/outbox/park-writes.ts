/** Parks writes while no user is logged in, and releases them again. */
import type { ReplicaTransaction, StateChange } from '../rebase/replica-transaction.ts';
import { outboxRow, readOutboxRow } from '../state/outbox-row.ts';
import { outboxRows } from '../state/outbox-rows.ts';

/** The effects of the writes do not change, so views stay valid. @throws Suspended */
export function parkWrites(
  { input: { writer }, state: { era, settledSeq, lastSeq } }: ReplicaTransaction,
  isParked: boolean,
): StateChange<void> {
  const [from, to] = isParked ? (['local', 'parked'] as const) : (['parked', 'local'] as const);
  for (const row of outboxRows(writer, era, settledSeq + 1, lastSeq)) {
    const record = readOutboxRow(row);
    if (record.state === from) writer.put('sync', outboxRow({ ...record, state: to }));
  }
  return { value: undefined };
}
