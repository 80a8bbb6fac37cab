/** Updates the outbox after a pull: writes get verdicts, the effects of some are now in the stored rows, the others stay pending. */
import type { Announced } from '../../../engine/transactions.ts';
import { NO_WRITES, type WriteSet } from '../../../store/port.ts';
import type { Pulled } from '../../protocol/messages.ts';
import { withVerdict } from '../outbox/verdicts.ts';
import type { ChangedKeys } from '../rebase/changed-keys.ts';
import { openRecords, rerunAffected } from '../rebase/rebase.ts';
import type { ReplicaTransaction } from '../rebase/replica-transaction.ts';
import type { OutboxRecord } from '../state/outbox-record.ts';
import { outboxRow } from '../state/outbox-row.ts';
import type { ReplicaState } from '../state/replica-state.ts';
import { announcedChanges } from '../view/announced-changes.ts';

interface OutboxAfterPull {
  readonly settled: readonly OutboxRecord[];
  readonly numbers: Pick<ReplicaState, 'shownSeq' | 'settledSeq' | 'outboxSize' | 'generation'>;
  readonly announced: Announced;
}

/** @param changed by the pull; the effects of writes that are no longer shown are added @throws Suspended */
export function outboxAfterPull(
  transaction: ReplicaTransaction,
  pulled: Pulled,
  changed: ChangedKeys,
): OutboxAfterPull {
  const { input, state } = transaction;
  const { writer } = input;
  const verdicts = new Map(pulled.verdicts.map((verdict) => [verdict.seq, verdict]));
  const settled = new Set<OutboxRecord>();
  const records = openRecords(writer, state).map((record) => {
    const judged = withVerdict(record, verdicts.get(record.item.seq));
    if (judged) settled.add(judged);
    return judged ?? record;
  });
  const shownSeq = shownSeqAfter(state, records, pulled);
  const effects: WriteSet[] = [];
  for (const record of records) {
    const { seq } = record.item;
    // The effects of the write are in the stored rows now, or the write was refused.
    const leavesView = seq > state.shownSeq && seq <= shownSeq;
    if (leavesView) {
      changed.addEffects(record.effects, writer);
      if (record.effects) effects.push(record.effects);
    }
    if (leavesView && record.verdict)
      writer.put('sync', outboxRow({ ...record, effects: NO_WRITES, reads: 'all' }));
    else if (settled.has(record)) writer.put('sync', outboxRow(record));
  }
  const pending = records.filter(({ item }) => item.seq > shownSeq);
  const rerun = rerunAffected(transaction, pending, changed);
  effects.push(...rerun.effects);
  const isOtherView = effects.length > 0 || shownSeq !== state.shownSeq;
  return {
    settled: [...settled],
    numbers: {
      shownSeq,
      settledSeq: settledSeqAfter(state, records, shownSeq),
      outboxSize: rerun.size,
      generation: state.generation + (isOtherView ? 1 : 0),
    },
    announced: announcedChanges(effects, (address) => writer.row(address, 'absent')),
  };
}

/** The last write that the pull contains. A write without a verdict is not in it: the hub has another copy's write with that number. */
function shownSeqAfter(
  { shownSeq, ...state }: ReplicaState,
  records: readonly OutboxRecord[],
  pulled: Pulled,
): number {
  const lastSeq = Math.min(pulled.lastSeq, state.lastSeq);
  const other = records.find(
    ({ item, verdict }) => item.seq > shownSeq && item.seq <= lastSeq && !verdict,
  );
  return Math.max(shownSeq, other ? other.item.seq - 1 : lastSeq);
}

/** The last write up to which all have verdicts. */
function settledSeqAfter(
  { settledSeq }: ReplicaState,
  records: readonly OutboxRecord[],
  shownSeq: number,
): number {
  let seq = settledSeq;
  for (const { item, verdict } of records) {
    if (item.seq !== seq + 1) continue;
    if (!verdict) break;
    seq = item.seq;
  }
  return Math.min(seq, Math.max(shownSeq, settledSeq));
}
