/**
 * The value of a row in `documents` and `history`: a header line, then the stored text of the version's members. The
 * header has all that a page needs, so pages are made without parsing bodies. Register of the letters in the header:
 * docs/store-format.md.
 */
import { assert } from '../errors.ts';
import type { Micros } from '../values/value.ts';

export type VersionAction = 'create' | 'update' | 'delete';

export interface StoredVersion {
  readonly ts: Micros;
  readonly action: VersionAction;
  /** The time, in µs, from which on the version no longer exists. */
  readonly ttl: Micros | undefined;
  /** When each index entry was added, in the order of `row.entries`. Undefined: all were added at `ts`. */
  readonly added: readonly Micros[] | undefined;
  /** The stored text equals the wire text, so it is rendered without looking up names. */
  readonly plain: boolean;
  /** Stored text of the members, as an object. Empty for a delete marker. */
  readonly body: string;
}

const LETTERS = { create: 'c', update: 'u', delete: 'd' } as const;
const ACTIONS: Readonly<Record<string, VersionAction>> = { c: 'create', u: 'update', d: 'delete' };

/**
 * Header: action letter, `p` (plain) or `n`, `ts` in base 36. If there is a ttl: `~` and the ttl. If any entry was
 * added before `ts`: `+` and, for each entry, how long before `ts` it was added, empty for an entry added at `ts`.
 */
export function packVersion(version: StoredVersion): string {
  const { ts, action, ttl, added, plain, body } = version;
  let header = LETTERS[action] + (plain ? 'p' : 'n') + ts.toString(36);
  if (ttl !== undefined) header += '~' + ttl.toString(36);
  if (added?.some((each) => each !== ts)) {
    header += '+' + added.map((each) => (each === ts ? '' : (ts - each).toString(36))).join(',');
  }
  return `${header}\n${body}`;
}

export function unpackVersion(text: string): StoredVersion {
  const end = text.indexOf('\n');
  const action = ACTIONS[text.charAt(0)];
  assert(end > 2 && action, () => `a version starts with an unknown header: ${text.slice(0, 40)}`);
  const plus = text.lastIndexOf('+', end);
  const numbersEnd = plus < 0 ? end : plus;
  const tilde = text.lastIndexOf('~', numbersEnd);
  const ts = parseInt(text.slice(2, tilde < 0 ? numbersEnd : tilde), 36);
  return {
    ts,
    action,
    ttl: tilde < 0 ? undefined : parseInt(text.slice(tilde + 1, numbersEnd), 36),
    added: plus < 0 ? undefined : addedOf(text.slice(plus + 1, end), ts),
    plain: text.charAt(1) === 'p',
    body: text.slice(end + 1),
  };
}

/** Commit time of the version. Parses only the header. */
export const versionTs = (text: string): Micros => parseInt(text.slice(2), 36);

const addedOf = (text: string, ts: Micros): readonly Micros[] =>
  text.split(',').map((each) => (each === '' ? ts : ts - parseInt(each, 36)));
