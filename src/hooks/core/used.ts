/** What hooks return, where a framework reads states as they are. */
import type { MutationState } from './mutation.ts';
import type { Session, SessionState } from './session.ts';

/** Who uses the database, and how to log in and out. */
export interface UsedSession extends SessionState, Pick<Session, 'logIn' | 'logOut'> {}

export interface MutationWays<Args extends readonly unknown[], T> {
  /**
   * Resolves when it is stored here, with what it did.
   * @throws BurrowError when it failed
   */
  readonly run: (...args: Args) => Promise<T | undefined>;
  /** Back to `idle`. */
  readonly reset: () => void;
}

export interface UsedMutation<Args extends readonly unknown[], T>
  extends MutationState<T>, MutationWays<Args, T> {}
