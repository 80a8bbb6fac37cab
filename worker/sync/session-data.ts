/** What a page is told of writes and progress. */
import type { SyncProgressData, WriteData } from '../../src/host/api.ts';
import type { WriteRecord } from '../../src/sync/device/api.ts';
import type { SyncProgress } from '../../src/sync/device/syncer-options.ts';

export function writeData(record: WriteRecord): WriteData {
  const { id, state, at, item, local, verdict, predicted, replaces } = record;
  return {
    id,
    state,
    at,
    query: item.query,
    local,
    verdict: verdict && { ts: verdict.ts, body: verdict.body },
    predicted,
    replaces,
  };
}

export const progressData = ({
  sets,
  bytes,
  pending,
  oldestPendingMs,
}: SyncProgress): SyncProgressData => ({
  // The device's name for a set is its text.
  sets: sets.map(({ id, rows, of, error }) => ({ set: id, rows, of, error })),
  bytes,
  pending,
  oldestPending: oldestPendingMs,
});
