/** Runs pending writes again if rows that they read or wrote have changed. */
import type { Announced } from '../../../engine/transactions.ts';
import { Refusal } from '../../../errors.ts';
import { Overlay } from '../../../store/overlay.ts';
import { NO_WRITES, type WriteSet } from '../../../store/port.ts';
import type { Reader } from '../../../store/reader.ts';
import type { OutboxRecord } from '../state/outbox-record.ts';
import { outboxRow, readOutboxRow } from '../state/outbox-row.ts';
import { outboxRows } from '../state/outbox-rows.ts';
import type { ReplicaState } from '../state/replica-state.ts';
import { announcedChanges } from '../view/announced-changes.ts';
import { HubOnlyFunction } from '../view/impersonation.ts';
import { digestOfExecution, executeLocally } from '../view/local-execution.ts';
import { keptReads, PresentReader } from '../view/tracked-reads.ts';
import type { ChangedKeys } from './changed-keys.ts';
import type { ReplicaTransaction } from './replica-transaction.ts';

/** Writes under the present device id, from the first one whose effects are shown or that has no verdict. @throws Suspended */
export function openRecords(
  reader: Reader,
  { era, shownSeq, settledSeq, lastSeq }: ReplicaState,
): OutboxRecord[] {
  return outboxRows(reader, era, Math.min(shownSeq, settledSeq) + 1, lastSeq).map(readOutboxRow);
}

/** Runs affected pending writes again after a change that did not come from a pull. @throws Suspended */
export function rebasePending(
  { input, state, host }: ReplicaTransaction,
  changed: ChangedKeys,
): { readonly next: ReplicaState; readonly announced: Announced } {
  const { writer } = input;
  const pending = openRecords(writer, state).filter(({ item }) => item.seq > state.shownSeq);
  const { effects, size } = rerunAffected({ input, state, host }, pending, changed);
  return {
    next: { ...state, outboxSize: size, generation: state.generation + 1 },
    announced: announcedChanges(effects, (address) => writer.row(address, 'absent')),
  };
}

export interface Rerun {
  /** Effects of the writes that ran again: the previous ones and the new ones. */
  readonly effects: readonly WriteSet[];
  /** Number of characters in all pending writes. */
  readonly size: number;
}

/** Runs the affected pending writes again, in order, over the confirmed rows. The other writes keep their effects. @throws Suspended */
export function rerunAffected(
  transaction: ReplicaTransaction,
  pending: readonly OutboxRecord[],
  changed: ChangedKeys,
): Rerun {
  const { writer } = transaction.input;
  const view = new Overlay(writer);
  /** Effects of earlier writes that the view does not contain yet. Added only when a write runs again, which is rare. */
  let unseen: WriteSet[] = [];
  const effects: WriteSet[] = [];
  let size = 0;
  for (const before of pending) {
    let record = before;
    if (changed.affects(before.effects, before.reads)) {
      for (const each of unseen) view.absorb(each);
      unseen = [];
      record = rerun(before, view, transaction);
      for (const each of [before, record]) {
        changed.addEffects(each.effects, writer);
        if (each.effects) effects.push(each.effects);
      }
      const row = outboxRow(record);
      writer.put('sync', row);
      size += String(row.value).length;
    } else {
      size += record.size;
    }
    if (record.effects) unseen.push(record.effects);
  }
  return { effects, size };
}

function rerun(
  record: OutboxRecord,
  view: Overlay,
  { state, input, host }: ReplicaTransaction,
): OutboxRecord {
  const reader = new PresentReader(view);
  try {
    const run = executeLocally(host.transactions, host.planOf(record, state), input, reader);
    return {
      ...record,
      item: { ...record.item, digest: digestOfExecution(run, host.sha256) },
      effects: run.effects,
      reads: run.reads,
      predicted: run.attempted.outcome.ok ? undefined : 'refused',
    };
  } catch (thrown) {
    if (thrown instanceof HubOnlyFunction) return { ...record, effects: NO_WRITES, reads: 'all' };
    // The write keeps its number, and the hub decides: neither the pull nor later writes may wait for it.
    if (thrown instanceof Refusal) return { ...failedHere(record), reads: keptReads(reader) };
    throw thrown;
  }
}

const failedHere = (record: OutboxRecord): OutboxRecord => ({
  ...record,
  item: { ...record.item, digest: undefined },
  effects: NO_WRITES,
  predicted: 'refused',
});
