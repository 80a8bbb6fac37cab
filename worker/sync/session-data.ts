/** What a page is told of writes and progress. */
import type { SyncProgressData, WriteData } from '../../src/host/api.ts';
import type { WriteRecord } from '../../src/sync/device/state/outbox-record.ts';
import type { ReplicaProgress } from '../../src/sync/device/syncer/syncer-options.ts';

export function writeData(record: WriteRecord): WriteData {
  const judged = judgedData(record);
  if (judged) return judged;
  const { state, predicted } = record;
  // One that was judged before its hub was restored is offered again.
  return { ...madeOf(record), state: isPending(state) ? state : 'local', predicted };
}

export const progressData = ({
  sets,
  bytes,
  pending,
  oldestPendingMs,
}: ReplicaProgress): SyncProgressData => ({
  // The device's name for a set is its text.
  sets: sets.map(({ id, rows, of, error }) => ({ set: id, rows, of, error })),
});
