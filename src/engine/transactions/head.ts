/**
 * The head: one row with the time of the last commit, signed by the engine that made it. Its tail lists what the latest commits changed, so
 * that an engine beside others, on the same store, forgets only that.
 */
import { metaKey, type Key, keyOfBytes } from '../../codec/key.ts';
import { versionTs } from '../../codec/row.ts';
import type { Changes } from '../../store/snapshot-cache.ts';
import { isEntrySpace } from '../../store/port.ts';
import type { EntrySpace, Row, RowAddress, TrackedSpace } from '../../store/port.ts';
import type { Micros } from '../../values/value.ts';

export const HEAD: RowAddress = { space: 'meta', key: metaKey('head') };

/** Keys are written after one letter of their space. */
interface TailCommit {
  readonly previous: Micros;
  readonly ts: Micros;
  readonly rows: readonly string[];
  readonly entries: readonly string[];
}

/** How many versions the last commit stored: document rows and delete markers of a time after `previous`. */
export interface LastCommit {
  readonly previous: Micros;
  readonly versions: number;
}

export interface Head {
  readonly ts: Micros;
  /** Undefined in heads that were written before this was kept. */
  readonly last?: LastCommit | undefined;
  readonly tail: readonly TailCommit[];
}

const NO_COMMIT: Head = { ts: 0, tail: [] };

/** A commit that changed more is left out of the tail: who missed it forgets everything. */
const TAIL_KEYS_MAX = 24;
const TAIL_COMMITS_MAX = 8;

export function readHead(row: Row | undefined): Head {
  if (typeof row?.value !== 'string') return NO_COMMIT;
  // Only this file writes it.
  const { ts, last, tail = [] } = JSON.parse(row.value) as Partial<Head>;
  return { ts: ts ?? 0, last, tail };
}

export const headOf = (row: Row | undefined): Micros => readHead(row).ts;

/** @param before the tail of the head that this one follows; undefined: no other engine will read it */
export function headRow(changes: Changes, by: string, before: Head['tail'] | undefined): Row {
  const { ts } = changes;
  const tail = before && [...before, ...tailOf(changes)].slice(-TAIL_COMMITS_MAX);
  const last: LastCommit = { previous: changes.previous, versions: versionsIn(changes) };
  const value = JSON.stringify(tail && tail.length > 0 ? { ts, by, last, tail } : { ts, by, last });
  return { key: HEAD.key, entries: [], value };
}

function versionsIn({ previous, ts, rows }: Changes): number {
  let versions = 0;
  for (const { space, row } of rows)
    if (row && row !== 'unknown' && isEntrySpace(space) && isOfCommit(row, previous, ts))
      versions++;
  return versions;
}

/** Whether the version in a row was made by the commit of `ts` that followed the one of `previous`. */
export function isOfCommit({ value }: Row, previous: Micros, ts: Micros): boolean {
  const made = versionTs(String(value));
  return made > previous && made <= ts;
}

const tailOf = ({ previous, ts, rows, entries }: Changes): readonly TailCommit[] =>
  rows.length + entries.length > TAIL_KEYS_MAX
    ? []
    : [{ previous, ts, rows: rows.map(lettered), entries: entries.map(lettered) }];

/** The commits from `from` to the head, oldest first; undefined when the tail does not reach back so far. */
export function commitsSince(from: Micros, { ts, tail }: Head): readonly Changes[] | undefined {
  const missed = tail.slice(tail.findIndex((commit) => commit.previous === from));
  const isChain = missed.every((commit, i) => commit.previous === (missed[i - 1]?.ts ?? from));
  if (!isChain || missed.at(-1)?.ts !== ts) return undefined;
  return missed.map(changesIn);
}

const changesIn = ({ previous, ts, rows, entries }: TailCommit): Changes => ({
  previous,
  ts,
  rows: rows.map((each) => ({ ...addressIn(each), row: 'unknown' })),
  entries: entries.map((each) => addressIn(each) as EntryAddress),
});

/** Only rows with entries have them. */
interface EntryAddress {
  readonly space: EntrySpace;
  readonly key: Key;
}

const LETTERS = { documents: 'd', history: 'h', sync: 's' } as const satisfies Record<
  TrackedSpace,
  string
>;
const SPACES_BY_LETTER: Readonly<Record<string, TrackedSpace>> = {
  d: 'documents',
  h: 'history',
  s: 'sync',
};

const lettered = ({ space, key }: { readonly space: TrackedSpace; readonly key: Key }): string =>
  LETTERS[space] + key;

const addressIn = (text: string): { readonly space: TrackedSpace; readonly key: Key } => ({
  space: SPACES_BY_LETTER[text.charAt(0)] ?? 'documents',
  key: keyOfBytes(text.slice(1)),
});
