/** Parks writes while nobody is logged in, and takes them up again. */
import type { ReplicaTransaction, StateChange } from '../rebase/replica-transaction.ts';
import { outboxAddress, outboxRow, readOutboxRow } from '../state/outbox-row.ts';
import { outboxRange, outboxRecords } from '../state/outbox-rows.ts';

/** Changes nothing of what they do: views stay valid. @throws Suspended */
export function parkWrites(
  { input: { writer }, state: { era, settledSeq } }: ReplicaTransaction,
  isParked: boolean,
): StateChange<void> {
  const oldest = writer.row(outboxAddress(era, settledSeq + 1));
  const [from, to] = isParked ? (['local', 'parked'] as const) : (['parked', 'local'] as const);
  // Those that are parked came before the others: each hello asks, and thousands may wait.
  const areThere = oldest && (isParked || readOutboxRow(oldest).state === from);
  for (const record of areThere ? outboxRecords(writer, outboxRange(era, settledSeq + 1)) : [])
    if (record.state === from) writer.put('sync', outboxRow(era, { ...record, state: to }));
  return { value: undefined };
}
