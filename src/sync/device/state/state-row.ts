/** The row with the state of a copy. */
import { syncKey } from '../../../codec/key.ts';
import type { Row, RowAddress } from '../../../store/port.ts';
import type { ReplicaState } from './replica-state.ts';

export const STATE: RowAddress = { space: 'sync', key: syncKey('replica') };

export const stateRow = (state: ReplicaState): Row => ({
  key: STATE.key,
  entries: [],
  value: JSON.stringify(state),
});

/** The cast is safe, because only `stateRow` makes such rows. */
export const readState = (row: Row | undefined): ReplicaState | undefined =>
  row && (JSON.parse(String(row.value)) as ReplicaState);
