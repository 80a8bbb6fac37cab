/** Converts writes and the progress of sync to the form that the page receives. */
import type { JudgedData, SyncProgress, WriteData } from '../../src/host/sync.ts';
import type { PendingState } from '../../src/states.ts';
import type { WriteRecord } from '../../src/sync/device/state/outbox-record.ts';
import type { ReplicaProgress } from '../../src/sync/device/syncer/syncer-options.ts';

export function writeData(record: WriteRecord): WriteData {
  const judged = judgedData(record);
  if (judged) return judged;
  const { state, predicted } = record;
  // A write that had a verdict before its hub was restored from a backup is sent again.
  return { ...madeOf(record), state: isPending(state) ? state : 'local', predicted };
}

/** Undefined while the write has no verdict. */
export function judgedData(record: WriteRecord): JudgedData | undefined {
  const { verdict } = record;
  if (!verdict) return undefined;
  const { state, ts, body } = verdict;
  return { ...madeOf(record), state, ts, body };
}

const madeOf = ({ id, at, item, replaces, note }: WriteRecord) => ({
  id,
  madeMicros: at,
  query: item.query,
  replaces,
  note,
});

const isPending = (state: string): state is PendingState => state === 'local' || state === 'parked';

export const progressData = ({ sets, ...progress }: ReplicaProgress): SyncProgress => ({
  ...progress,
  sets: sets.map(({ query: set, rows, of, error }) => ({ set, rows, of, error })),
});
