/** Restores writes from their copy outside of the database (`worker/sync/outbox-file.ts`) after the database was lost. */
import type { Reader } from '../../../store/reader.ts';
import type { DeviceId } from '../../protocol/identifiers.ts';
import { ChangedKeys } from '../rebase/changed-keys.ts';
import { rebasePending } from '../rebase/rebase.ts';
import type { ReplicaTransaction, StateChange } from '../rebase/replica-transaction.ts';
import type { OutboxRecord, SavedWrite } from '../state/outbox-record.ts';
import { outboxRow } from '../state/outbox-row.ts';
import { outboxRange, outboxRecords } from '../state/outbox-rows.ts';
import type { ReplicaState } from '../state/replica-state.ts';
import { hashed } from './new-record.ts';
import { moveToDevice } from './renumber.ts';

export interface SavedWrites {
  /** Undefined: the writes are from earlier device ids that copies of this user had. */
  readonly device: DeviceId | undefined;
  readonly writes: readonly SavedWrite[];
  /** A device id that is not in use. */
  readonly fresh: DeviceId;
}

/**
 * Changes nothing if the outbox has other writes. Numbers of writes must not have gaps: if some are missing in between, the rest moves to
 * a new device id.
 * @returns how many writes are missing
 * @throws Suspended
 */
export function recoverWrites(
  transaction: ReplicaTransaction,
  { device, writes, fresh }: SavedWrites,
): StateChange<number> {
  const { input, state, host } = transaction;
  if (device === undefined) {
    const numbered = writes.filter(isUnknownIn(input.writer)).map(({ item, note }, i) => ({
      item: hashed({ ...item, seq: state.lastSeq + i + 1 }, host.sha256),
      note,
    }));
    return recoverWrites(transaction, { device: state.device, writes: numbered, fresh });
  }
  const isNew = state.lastSeq === 0;
  const lost = writes.filter(({ item }) => isNew || item.seq > state.lastSeq);
  const first = lost[0]?.item;
  const last = lost.at(-1)?.item;
  if (!first || !last) return { value: 0 };
  if (!isNew && device !== state.device) return { value: 0 };
  const expected = isNew ? first.seq : state.lastSeq + 1;
  const missing = last.seq - expected + 1 - lost.length;
  if (isNew && missing > 0) {
    const other = { ...transaction, state: { ...state, device: fresh } };
    const saved = { device: undefined, writes: lost, fresh };
    return { ...recoverWrites(other, saved), value: missing };
  }
  for (const write of lost) input.writer.put('sync', outboxRow(recovered(write, state)));
  if (missing > 0) {
    const longer = { ...state, lastSeq: last.seq, lastNow: last.now };
    return { ...moveToDevice({ ...transaction, state: longer }, fresh), value: missing };
  }
  const before = first.seq - 1;
  const next: ReplicaState = {
    ...state,
    device,
    lastSeq: last.seq,
    lastNow: Math.max(state.lastNow, last.now),
    ...(isNew && { shownSeq: before, settledSeq: before }),
    generation: state.generation + 1,
  };
  // Before the first pull there is no data on which the writes could run.
  if (state.schema === undefined) return { value: 0, next };
  return { value: 0, ...rebasePending({ ...transaction, state: next }, new ChangedKeys()) };
}

/** Whether the outbox lacks a write, under any number. No two writes of a copy have the same time and query. @throws Suspended */
function isUnknownIn(reader: Reader): (write: SavedWrite) => boolean {
  const nameOf = ({ item }: SavedWrite): string => item.now + item.query;
  const known = new Set(outboxRecords(reader, outboxRange()).map(nameOf));
  return (write) => !known.has(nameOf(write));
}

/** Without effects, so the write runs before it is shown. */
const recovered = ({ item, note }: SavedWrite, { era, skew }: ReplicaState): OutboxRecord => ({
  id: `${era}.${item.seq}`,
  era,
  item,
  state: 'local',
  at: item.now - skew,
  local: undefined,
  verdict: undefined,
  predicted: undefined,
  replaces: undefined,
  note,
  effects: undefined,
  reads: 'all',
  size: 0,
});
