/** Moves writes to a new device id: there, they are numbered from 1. */
import type { DeviceId, Epoch } from '../../protocol/identifiers.ts';
import { ChangedKeys } from '../rebase/changed-keys.ts';
import { rebasePending } from '../rebase/rebase.ts';
import type { ReplicaTransaction, StateChange } from '../rebase/replica-transaction.ts';
import type { OutboxRecord } from '../state/outbox-record.ts';
import { outboxAddress, outboxRow } from '../state/outbox-row.ts';
import { outboxRange, outboxRecords } from '../state/outbox-rows.ts';
import type { ReplicaState } from '../state/replica-state.ts';
import { dropStaged } from '../state/staged-rows.ts';
import { NO_EFFECTS } from '../view/local-execution.ts';
import { hashed } from './new-record.ts';

/** Writes without a verdict move. @throws Suspended */
export function moveToDevice(
  transaction: ReplicaTransaction,
  device: DeviceId,
): StateChange<ReplicaState> {
  const { input, state } = transaction;
  const all = outboxRecords(input.writer, outboxRange(state.era, 1));
  return renumber(transaction, device, {
    moving: all.filter(({ verdict }) => verdict === undefined),
    staying: all.filter(({ verdict }) => verdict !== undefined),
  });
}

/** All writes that are kept move, except refused ones: the hub has lost its history, and is offered them again. @throws Suspended */
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
    // What has a verdict is in the stored rows, or comes back with its new verdict: it is not shown twice.
    return { ...record, effects: NO_EFFECTS, reads: NO_READS, verdict: undefined };
  });
  dropStaged(input.writer, state);
  const history = { epoch, cursor: undefined, token: undefined, staged: undefined };
  return renumber({ ...transaction, state: { ...state, ...history } }, device, {
    moving,
    staying: all.filter(({ verdict, era }) => verdict !== undefined && era === state.era),
  });
}

const NO_READS = { rows: [], ranges: [] };

interface Moves {
  /** In order, each under its present number. */
  readonly moving: readonly OutboxRecord[];
  /** Those with a verdict, under the device id that is given up. */
  readonly staying: readonly OutboxRecord[];
}

function renumber(
  { input, state, host }: ReplicaTransaction,
  device: DeviceId,
  { moving, staying }: Moves,
): StateChange<ReplicaState> {
  const { writer } = input;
  const era = state.era + 1;
  // Before any is put: one of an earlier era may have the number that another gets.
  for (const { era: before, item } of moving)
    writer.delete('sync', outboxAddress(before, item.seq).key);
  moving.forEach((record, i) => {
    const item = hashed({ ...record.item, seq: i + 1 }, host.sha256);
    writer.put('sync', outboxRow(era, { ...record, era, item, state: 'local' }));
  });
  const lastSeq = moving.length;
  const renamed: ReplicaState = { ...state, device, era, lastSeq, shownSeq: 0, settledSeq: 0 };
  // Effects of writes that stay are shown no more: they come with the next pull, and until then no write may build on them.
  const changed = new ChangedKeys();
  for (const { item, effects } of staying)
    if (item.seq > state.shownSeq) changed.addEffects(effects, writer);
  const { next, announced } = rebasePending({ input, state: renamed, host }, changed);
  return { value: next, next, announced };
}
