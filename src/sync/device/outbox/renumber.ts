/** Moves writes to a new device id, under which they are numbered from 1. */
import { NO_WRITES } from '../../../store/port.ts';
import type { DeviceId, Epoch } from '../../protocol/identifiers.ts';
import { ChangedKeys } from '../rebase/changed-keys.ts';
import { rebasePending } from '../rebase/rebase.ts';
import type { ReplicaTransaction, StateChange } from '../rebase/replica-transaction.ts';
import type { OutboxRecord } from '../state/outbox-record.ts';
import { outboxAddress, outboxRow } from '../state/outbox-row.ts';
import { outboxRange, outboxRecords } from '../state/outbox-rows.ts';
import { inDoubt, suspectOnceMore, type ReplicaState } from '../state/replica-state.ts';
import { dropStaged } from '../state/staged-rows.ts';
import { hashed } from './new-record.ts';

/** Moves the writes without a verdict. @throws Suspended */
export function moveToDevice(
  transaction: ReplicaTransaction,
  device: DeviceId,
): StateChange<ReplicaState> {
  const { input, state } = transaction;
  const all = outboxRecords(input.writer, outboxRange(state.era, 1));
  return renumber(transaction, device, {
    moving: all.filter(({ verdict }) => !verdict),
    staying: all.filter(({ verdict }) => verdict),
  });
}

/** Moves all writes in the outbox except refused ones: the hub has lost its history, so all are submitted again. @throws Suspended */
export function resubmitAll(
  transaction: ReplicaTransaction,
  device: DeviceId,
  epoch: Epoch,
): StateChange<ReplicaState> {
  const { input, state } = transaction;
  const all = outboxRecords(input.writer, outboxRange());
  const offered = all.filter(({ verdict }) => verdict?.state !== 'refused');
  const moving = offered.map((record): OutboxRecord => {
    if (!record.verdict) return record;
    // The effects of a write with a verdict are in the stored rows, or come with its new verdict. They must not be shown twice.
    return { ...record, effects: NO_WRITES, reads: { rows: [], ranges: [] }, verdict: undefined };
  });
  dropStaged(input.writer, state);
  const history = {
    epoch,
    cursor: undefined,
    token: undefined,
    staged: undefined,
    // Nothing is known of the hub's new history yet.
    suspectSince: suspectOnceMore(state),
    sets: inDoubt(state.sets, true),
  };
  return renumber({ ...transaction, state: { ...state, ...history } }, device, {
    moving,
    staying: all.filter(({ verdict, era }) => verdict !== undefined && era === state.era),
  });
}

interface Moves {
  /** In order, each with its present number. */
  readonly moving: readonly OutboxRecord[];
  /** The other writes, which keep their numbers under the old device id. */
  readonly staying: readonly OutboxRecord[];
}

function renumber(
  { input, state, host }: ReplicaTransaction,
  device: DeviceId,
  { moving, staying }: Moves,
): StateChange<ReplicaState> {
  const { writer } = input;
  const era = state.era + 1;
  // Deleted before any is put, because a write of an earlier era may have the number that another write gets.
  for (const { era: before, item } of moving)
    writer.delete('sync', outboxAddress(before, item.seq).key);
  moving.forEach((record, i) => {
    const item = hashed({ ...record.item, seq: i + 1 }, host.sha256);
    writer.put('sync', outboxRow({ ...record, era, item, state: 'local' }));
  });
  const lastSeq = moving.length;
  const renamed: ReplicaState = { ...state, device, era, lastSeq, shownSeq: 0, settledSeq: 0 };
  // The effects of staying writes are hidden until the next pull contains them, so pending writes must not depend on them.
  const changed = new ChangedKeys();
  for (const { item, effects } of staying)
    if (item.seq > state.shownSeq) changed.addEffects(effects, writer);
  const { next, announced } = rebasePending({ input, state: renamed, host }, changed);
  return { value: next, next, announced };
}
