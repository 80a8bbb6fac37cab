/** The options of `openDatabase`. Those whose values the worker reads are in src/host/settings.ts. */
import {
  flag,
  option,
  optional,
  text,
  type GivenOptions,
  type OptionType,
} from '../host/options.ts';
import { SETTINGS } from '../host/settings.ts';
import type { Progress } from './database.ts';
import type { Login } from './login.ts';

const workerMaker: OptionType<() => Worker> = {
  expected: 'a function',
  accepts: (given): given is () => Worker => typeof given === 'function',
};

const progressListener: OptionType<(progress: Progress) => void> = {
  expected: 'a function',
  accepts: (given): given is (progress: Progress) => void => typeof given === 'function',
};

const login: OptionType<Login> = {
  expected: '{ secret } or { user, password }',
  accepts: (given): given is Login => typeof given === 'object' && given !== null,
  isSecret: true,
};

const PAGE_OPTIONS = {
  /** Creates the worker, where the bundler does not find it by itself. */
  worker: optional(workerMaker),
  /**
   * Whose data it is, such as an e-mail address: each identity has its own database under this name. The text is stored nowhere; the
   * same text opens the same database.
   */
  identity: optional(text),
  /**
   * Told of progress while the database is being opened: stored data may have to be moved into another layout first. Later the event
   * `progress` tells.
   */
  onProgress: optional(progressListener),
  /** Unlocks a database whose user has signed out. */
  unlock: optional(login),
  /** Whether to ask the browser, after the first write, never to evict the data. Some browsers ask the user. */
  persist: option(flag, true),
};

/** @internal */
export const OPTIONS = { ...SETTINGS, ...PAGE_OPTIONS };

export interface DatabaseOptions
  extends GivenOptions<typeof SETTINGS>, GivenOptions<typeof PAGE_OPTIONS> {}
