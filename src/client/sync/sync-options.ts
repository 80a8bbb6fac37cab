/** What apps pass to sync: options of `sync()` and `submit()`, and how a refused write is resolved. */
import { optional, text, type OptionRow, type OptionType } from '../../host/options.ts';
import type { WriteChoice } from '../../host/sync.ts';
import { UsageError } from '../errors.ts';
import { isExpr } from '../queries/is-expr.ts';
import { queryText } from '../queries/query-text.ts';
import type { Arg } from '../queries/types/arguments.ts';
import type { Expr } from '../queries/values.ts';
import { abortSignal, anyText, isUser, list, readOptions, shown } from '../read-options.ts';
import type { WriteData } from './writes.ts';

export interface SyncOptions {
  /** URL of the hub: `https://hub.example`. */
  readonly url: string | URL;
  /** Secret of a token of the hub. */
  readonly secret?: string;
  /** In place of `secret`: a login at the hub. After the first one, logins on this device also work without the hub, for 30 days. */
  readonly login?: {
    /** A ref, or a set that contains the user, such as `q.Match(q.Index('users_by_email'), email)`. */
    readonly user: Arg;
    readonly password: string;
    /** Secret of a client key of the hub. */
    readonly key: string;
  };
  /** The data that this device keeps, most urgent first: `q.Documents(…)`, `q.Match(index, …)`, refs, and unions of these. */
  readonly sets: readonly Expr[];
}

export interface SubmitOptions {
  /** Aborts the write before it is stored in the outbox, as the signal of a query does. */
  readonly signal?: AbortSignal;
  /** What the write does, in words for the user. It is stored on the device with the write, for lists of writes. */
  readonly label?: string;
  /** Anything else that the app needs to know about the write later. It must be encodable as JSON. */
  readonly data?: WriteData;
}

export type WriteResolution =
  | { readonly discard: true }
  | { readonly retry: true }
  | { readonly edit: Arg };

/**
 * Paths are appended to the URL, so it has no query string. `fetch` refuses a URL with a password, so messages do not show an invalid URL.
 */
const hubUrl: OptionType<string | URL> = {
  expected: 'an http or https URL without password and query',
  accepts: (given): given is string | URL =>
    /^https?:\/\/(?![^/]*@)[^?#]+$/.test(String(given)) && URL.canParse(given as string),
  isSecret: true,
};

const hubLogin: OptionType<NonNullable<SyncOptions['login']>> = {
  expected: '{ user, password, key }',
  accepts: (given): given is NonNullable<SyncOptions['login']> => {
    const { user, password, key } = Object(given) as Partial<NonNullable<SyncOptions['login']>>;
    return isUser(user) && typeof password === 'string' && text.accepts(key);
  },
  isSecret: true,
};

const SYNC_OPTIONS = {
  url: hubUrl,
  secret: optional({ ...text, isSecret: true }),
  login: optional(hubLogin),
  sets: list,
} satisfies Record<keyof SyncOptions, OptionRow>;

const json: OptionType<unknown> = {
  expected: 'a JSON value',
  accepts: (given): given is unknown => {
    try {
      return JSON.stringify(given) !== undefined;
    } catch {
      return false;
    }
  },
};

/** @internal */
export const SUBMIT_OPTIONS = {
  signal: abortSignal,
  label: anyText,
  data: optional(json),
} satisfies Record<keyof SubmitOptions, OptionRow>;

/** Matches queries that cannot be a set: other values, collections and pages. The hub checks the rest. */
const NO_SET = /^[^{]|^\{"(?:collection|paginate)/;

/** @internal @throws UsageError */
export function setText(set: Arg, at: number): string {
  const query = isExpr(set) ? queryText(set) : shown(set);
  if (NO_SET.test(query))
    throw new UsageError(`The option \`sets.${at}\` must be a set or a ref, but is ${query}.`);
  return query;
}

/** @internal @throws UsageError */
export function checkSyncOptions(options: Partial<SyncOptions>): void {
  const { secret, login } = readOptions(SYNC_OPTIONS, options);
  if (login && secret) throw new UsageError('Pass one: `secret` or `login`.');
}

/** @internal @throws UsageError for anything but one of the three choices: it must not be mistaken for one of them */
export function choiceOf(resolution: WriteResolution): WriteChoice {
  const [[name, value] = [], ...others] = Object.entries(Object(resolution));
  if (others.length === 0) {
    if (name === 'edit') return { edit: queryText(value as Arg) };
    if ((name === 'discard' || name === 'retry') && value === true)
      return resolution as WriteChoice;
  }
  throw new UsageError('resolve() takes { discard: true }, { retry: true } or { edit: query }.');
}
