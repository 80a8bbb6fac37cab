/** The options of `openDatabase`. Options whose values the worker reads are in src/host/settings.ts. */
import {
  flag,
  option,
  optional,
  text,
  type GivenOptions,
  type OptionType,
} from '../host/options.ts';
import { SETTINGS, type Settings } from '../host/settings.ts';
import type { Progress } from './database.ts';
import { loginOption } from './login.ts';
import { callable } from './read-options.ts';

const PAGE_OPTIONS = {
  /** Creates the worker. Needed only if the bundler does not find the worker's file by itself. */
  worker: optional(callable as OptionType<() => Worker>),
  /**
   * Whose data it is, such as an e-mail address. Each identity has its own database under this name. The text itself is not stored; opening
   * the database again takes the same text. An `identity` that is undefined, as that of a user who has signed out, is refused.
   */
  identity: optional({ ...text, isWhose: true }),
  /**
   * Called with the progress of opening, for instance while stored data is moved into another layout. Once the database is open, the event
   * `progress` reports progress.
   */
  onProgress: optional(callable as OptionType<(progress: Progress) => void>),
  /** Unlocks the database if its user has signed out. */
  unlock: optional(loginOption),
  /** Whether to ask the browser, after the first write, to never evict the data. Some browsers ask the user. */
  persist: option(flag, true),
};

/** @internal */
export const OPTIONS = { ...SETTINGS, ...PAGE_OPTIONS };

/**
 * The options that go to the worker: all but those of the page, because functions cannot be sent to a worker, and secrets must not be.
 * @internal
 */
export type ForWorker = Settings & { readonly [name in keyof typeof PAGE_OPTIONS]?: never };

export interface DatabaseOptions
  extends GivenOptions<typeof SETTINGS>, GivenOptions<typeof PAGE_OPTIONS> {}
