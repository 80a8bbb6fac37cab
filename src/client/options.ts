/** The options of `openDatabase`. Those whose values the worker reads are in src/host/settings.ts. */
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
import type { Login } from './login.ts';
import { anObject, callable } from './read-options.ts';

const login = {
  ...anObject,
  expected: '{ secret } or { user, password }',
  isSecret: true,
} as OptionType<Login>;

const PAGE_OPTIONS = {
  /** Creates the worker, where the bundler does not find it by itself. */
  worker: optional(callable as OptionType<() => Worker>),
  /**
   * Whose data it is, such as an e-mail address: each identity has its own database under this name. The text is stored nowhere; the
   * same text opens the same database.
   */
  identity: optional(text),
  /**
   * Called with the progress of opening, which may move stored data into another layout. Once the database is open, the event `progress`
   * reports it.
   */
  onProgress: optional(callable as OptionType<(progress: Progress) => void>),
  /** Unlocks a database whose user has signed out. */
  unlock: optional(login),
  /** Whether to ask the browser, after the first write, never to evict the data. Some browsers ask the user. */
  persist: option(flag, true),
};

/** @internal */
export const OPTIONS = { ...SETTINGS, ...PAGE_OPTIONS };

/**
 * What is left of the options once the page has taken its own: goes to the worker, which could not read a function, and must not read a
 * secret.
 * @internal
 */
export type ForWorker = Settings & { readonly [name in keyof typeof PAGE_OPTIONS]?: never };

export interface DatabaseOptions
  extends GivenOptions<typeof SETTINGS>, GivenOptions<typeof PAGE_OPTIONS> {}
