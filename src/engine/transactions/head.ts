/**
 * The head: one row with the time of the last commit, signed by the engine that made it. Its tail lists what the latest commits changed, so
 * that another engine on the same store can drop only those rows from its cache.
 */
import { metaKey, type Key, keyOfBytes } from '../../codec/key.ts';
import { versionTs } from '../../codec/row.ts';
import type { Changes } from '../../store/snapshot-cache.ts';
import { isEntrySpace } from '../../store/port.ts';
import type { Row, RowAddress, TrackedSpace } from '../../store/port.ts';
import { sharedLength } from '../../values/shared-length.ts';
import type { Micros } from '../../values/value.ts';

export const HEAD: RowAddress = { space: 'meta', key: metaKey('head') };

/** One commit in the tail. Each text is a letter for the space, then the key, without the prefix that it shares with the text before. */
interface TailCommit {
  readonly previous: Micros;
  readonly ts: Micros;
  readonly rows: readonly string[];
  readonly entries: readonly string[];
}

/** Number of versions that the last commit stored: document rows and delete markers with a time after `previous`. */
export interface LastCommit {
  readonly previous: Micros;
  readonly versions: number;
}

export interface Head {
  readonly ts: Micros;
  /** Undefined in heads written by builds that did not store it. */
  readonly last?: LastCommit | undefined;
  readonly tail: readonly TailCommit[];
}

/**
 * The stored form. Older builds stored whole keys under `tail`; the other name keeps builds of both kinds on one store from reading each
 * other's lists.
 */
interface StoredHead extends Pick<Head, 'ts' | 'last'> {
  readonly by: string;
  readonly latest?: Head['tail'];
}

const NO_COMMIT: Head = { ts: 0, tail: [] };

/**
 * Most keys in all commits of the tail together, because it is written and read with every commit. An engine that missed a commit which is
 * not listed drops its whole cache.
 */
const TAIL_KEYS_MAX = 96;
const TAIL_COMMITS_MAX = 8;

export function readHead(row: Row | undefined): Head {
  if (typeof row?.value !== 'string') return NO_COMMIT;
  // Only this file writes the row, so its contents are not checked.
  const { ts, last, latest = [] } = JSON.parse(row.value) as Partial<StoredHead>;
  return { ts: ts ?? 0, last, tail: latest };
}

export const headOf = (row: Row | undefined): Micros => readHead(row).ts;

/** @param before the tail of the previous head. Undefined: no other engine will read the tail, so none is written */
export function headRow(changes: Changes, by: string, before: Head['tail'] | undefined): Row {
  const { ts } = changes;
  const tail = before && tailOf([...before, inTail(changes)]);
  const last: LastCommit = { previous: changes.previous, versions: versionsIn(changes) };
  const head: StoredHead = { ts, by, last, ...(tail && tail.length > 0 && { latest: tail }) };
  return { key: HEAD.key, entries: [], value: JSON.stringify(head) };
}

function versionsIn({ previous, ts, rows }: Changes): number {
  let versions = 0;
  for (const { space, row } of rows)
    if (row && row !== 'unknown' && isEntrySpace(space) && isOfCommit(row, previous, ts))
      versions++;
  return versions;
}

/** Whether the version in a row was written by the commit at `ts`, whose predecessor is the commit at `previous`. */
export function isOfCommit({ value }: Row, previous: Micros, ts: Micros): boolean {
  const writtenAt = versionTs(String(value));
  return writtenAt > previous && writtenAt <= ts;
}

const inTail = ({ previous, ts, rows, entries }: Changes): TailCommit => ({
  previous,
  ts,
  rows: abridged(rows.map(lettered)),
  entries: abridged(entries.map(lettered)),
});

/** The latest of these commits, as many as the limits allow. */
function tailOf(commits: readonly TailCommit[]): readonly TailCommit[] {
  let keys = 0;
  const latest = commits.slice(-TAIL_COMMITS_MAX);
  const tooOld = latest.findLastIndex(({ rows, entries }) => {
    keys += rows.length + entries.length;
    return keys > TAIL_KEYS_MAX;
  });
  return latest.slice(tooOld + 1);
}

/** The commits after `from` up to the head, oldest first. Undefined when the tail does not reach back that far. */
export function commitsSince(from: Micros, { ts, tail }: Head): readonly Changes[] | undefined {
  const missed = tail.slice(tail.findIndex((commit) => commit.previous === from));
  const isChain = missed.every((commit, i) => commit.previous === (missed[i - 1]?.ts ?? from));
  if (!isChain || missed.at(-1)?.ts !== ts) return undefined;
  return missed.map(changesIn);
}

/**
 * The last commit before `seen` that is left, if the tail shows that `seen` is lost: a later commit has an earlier predecessor. Undefined if
 * it does not show that.
 */
export const lastWithout = (seen: Micros, { tail }: Head): Micros | undefined =>
  tail.find(({ previous, ts }) => previous < seen && seen < ts)?.previous;

const changesIn = ({ previous, ts, rows, entries }: TailCommit): Changes => ({
  previous,
  ts,
  rows: whole(rows).map((each) => ({ ...addressIn(each), row: 'unknown' })),
  entries: whole(entries).map((each) => addressIn(each) as Changes['entries'][number]),
});

/** Code of the character for a shared prefix of length 0. Each following character means one byte more. */
const SHARED_NONE = 0x23;
const SHARED_MAX = 0x5b - SHARED_NONE;

/**
 * Replaces the prefix that each text shares with the text before by one character for its length: keys of one collection differ only in
 * their last few bytes.
 */
const abridged = (texts: readonly string[]): readonly string[] =>
  texts.map((text, i) => {
    const shared = Math.min(SHARED_MAX, sharedLength(texts[i - 1] ?? '', text));
    return String.fromCharCode(SHARED_NONE + shared) + text.slice(shared);
  });

function whole(texts: readonly string[]): readonly string[] {
  let before = '';
  return texts.map((text) => {
    before = before.slice(0, text.charCodeAt(0) - SHARED_NONE) + text.slice(1);
    return before;
  });
}

const SPACES_BY_LETTER: Readonly<Record<string, TrackedSpace>> = {
  d: 'documents',
  h: 'history',
  s: 'sync',
};

const lettered = ({ space, key }: { readonly space: TrackedSpace; readonly key: Key }): string =>
  space.charAt(0) + key;

const addressIn = (text: string): { readonly space: TrackedSpace; readonly key: Key } => ({
  space: SPACES_BY_LETTER[text.charAt(0)] ?? 'documents',
  key: keyOfBytes(text.slice(1)),
});
