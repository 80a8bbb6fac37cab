/** Return types of the hooks of frameworks that read states as plain objects. */
import type { MutationState } from './mutation.ts';
import type { Pages, PagesState } from './pages.ts';
import type { Session, SessionState } from './session.ts';

/** The user of the database, and functions to log in and out. */
export interface UsedSession extends SessionState, Pick<Session, 'logIn' | 'logOut'> {}

/** A live page of a set, and functions to move to the next and the previous page. */
export interface UsedPages<T> extends PagesState<T>, Pick<Pages<T>, 'next' | 'previous'> {}

export interface MutationWays<Args extends readonly unknown[], T> {
  /**
   * Resolves with the result on this device when the write is stored.
   * @throws BurrowError when the write fails
   */
  readonly run: (...args: Args) => Promise<T | undefined>;
  /** Sets the state back to `idle`. */
  readonly reset: () => void;
}

export interface UsedMutation<Args extends readonly unknown[], T>
  extends MutationState<T>, MutationWays<Args, T> {}
