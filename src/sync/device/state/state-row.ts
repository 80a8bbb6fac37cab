/** The row that holds the state of a copy. */
import { syncKey } from '../../../codec/key.ts';
import type { Row, RowAddress } from '../../../store/port.ts';
import type { ReplicaState } from './replica-state.ts';

export const STATE: RowAddress = { space: 'sync', key: syncKey('replica') };

export const stateRow = (state: ReplicaState): Row => ({
  key: STATE.key,
  entries: [],
  value: JSON.stringify(state),
});

/** Only `stateRow` makes such rows, so what is parsed is a state. */
export const readState = (row: Row | undefined): ReplicaState | undefined =>
  row && (JSON.parse(String(row.value)) as ReplicaState);
