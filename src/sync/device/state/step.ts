/** What one commit makes of a copy. */
import type { Announced } from '../../../engine/attempts.ts';
import type { ReplicaState } from './api.ts';

export interface Step<T> {
  readonly value: T;
  /** Undefined: the state stays as it is. */
  readonly next?: ReplicaState;
  readonly announced?: Announced;
}
