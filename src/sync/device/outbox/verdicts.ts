/** Stores verdicts of the hub with the writes in the outbox. */
import { eachElement } from '../../../query/collect-needs.ts';
import type { Verdict } from '../../protocol/writes.ts';
import type { ReplicaTransaction, StateChange } from '../rebase/replica-transaction.ts';
import { publicRecord, type OutboxRecord, type WriteRecord } from '../state/outbox-record.ts';
import { outboxAddress, outboxRow, readOutboxRow } from '../state/outbox-row.ts';

/** Undefined if the write has a verdict already, or the verdict is for another write with the same number. */
export const withVerdict = (
  record: OutboxRecord,
  verdict: Verdict | undefined,
): OutboxRecord | undefined =>
  !verdict || record.verdict || record.item.hash !== verdict.hash
    ? undefined
    : { ...record, verdict, state: verdict.state, predicted: undefined };

/** Stores the verdicts that a push returned. The data shown does not change. @throws Suspended */
export function settle(
  { input: { writer }, state }: ReplicaTransaction,
  verdicts: readonly Verdict[],
): StateChange<readonly WriteRecord[]> {
  const addresses = verdicts.map(({ seq }) => outboxAddress(state.era, seq));
  const rows = eachElement(addresses, (address) => writer.row(address));
  const settled = verdicts.flatMap((verdict, i) => {
    const row = rows[i];
    return (row && withVerdict(readOutboxRow(row), verdict)) ?? [];
  });
  const value = settled.map(publicRecord);
  if (settled.length === 0) return { value };
  for (const record of settled) writer.put('sync', outboxRow(record));
  let { settledSeq } = state;
  for (const { item } of settled) if (item.seq === settledSeq + 1) settledSeq = item.seq;
  const size = settled.reduce((sum, record) => sum + record.size, 0);
  const outboxSize = Math.max(0, state.outboxSize - size);
  return { value, next: { ...state, settledSeq, outboxSize } };
}
