/**
 * Documents that are not the caller's to see now: which of them the device may have? Whoever could never read one is not told that it
 * is gone, or was there.
 */
import { after, decodeDocumentKey, type Key } from '../../codec/key.ts';
import { unpackVersion } from '../../codec/row.ts';
import { SYNC_LIMITS } from '../../limits.ts';
import { eachElement } from '../../query/collect-needs.ts';
import { Overlay } from '../../store/overlay.ts';
import type { Row } from '../../store/port.ts';
import type { Reader } from '../../store/reader.ts';
import type { Micros } from '../../values/value.ts';
import type { Asker } from './asker.ts';
import { Rights } from './rights.ts';

export interface Seen {
  /** Readable at some time since. */
  readonly seen: ReadonlySet<Key>;
  /** Of some it cannot be told any more. */
  readonly isUnsure: boolean;
}

/**
 * Judged by the present rights over the versions there were since.
 * @param rows documents in question, as they stand now
 * @throws Suspended
 */
export function seenSince(
  reader: Reader,
  asker: Asker,
  rights: Rights,
  rows: ReadonlyMap<Key, Row | undefined>,
  since: Micros,
): Seen {
  const seen = new Set<Key>();
  const judged: (readonly [Key, Row | undefined])[] = [];
  for (const each of rows)
    if (rights.readsAll(decodeDocumentKey(each[0]).collection)) seen.add(each[0]);
    else judged.push(each);
  const found = eachElement(judged, ([key, row]) => ({
    key,
    versions: versionsSince(reader, key, row, since),
  }));
  const isUnsure = found.some(({ versions }) => versions === 'unknown');
  const known = found.flatMap(({ key, versions }) =>
    versions === 'unknown' ? [] : { key, versions },
  );
  const rounds = Math.max(0, ...known.map(({ versions }) => versions.length));
  for (let round = 0; round < rounds; round++) {
    const past = new Overlay(reader);
    const asked: Key[] = [];
    for (const { key, versions } of known) {
      const value = versions[round];
      if (value === undefined || seen.has(key)) continue;
      past.put('documents', { key, entries: [], value });
      asked.push(key);
    }
    const then = new Rights(asker.over(past));
    const may = eachElement(asked, (key) => then.mayRead(key));
    asked.forEach((key, i) => {
      if (may[i] === true) seen.add(key);
    });
  }
  return { seen, isUnsure };
}

/** Values of the rows of all versions there were since then, newest first. */
function versionsSince(
  reader: Reader,
  key: Key,
  current: Row | undefined,
  since: Micros,
): readonly string[] | 'unknown' {
  const versions: string[] = [];
  if (current) {
    // It changed, and is older than the change: its past was rewritten.
    if (tsOf(current) <= since) return 'unknown';
    versions.push(String(current.value));
  }
  const limit = SYNC_LIMITS.pullVersions;
  const past = reader.range({
    space: 'history',
    by: 'key',
    lower: key,
    upper: after(key),
    reverse: true,
    limit,
    rows: true,
  });
  let oldest = current;
  for (const { row } of past) {
    if (!row) continue;
    const { action, ts } = unpackVersion(String(row.value));
    // It is gone, and no version says when: it lapsed, or its past was rewritten.
    if (!oldest && ts <= since && action !== 'delete') return 'unknown';
    oldest = row;
    if (action !== 'delete') versions.push(String(row.value));
    if (ts <= since) return versions;
  }
  const isBeginning = oldest && unpackVersion(String(oldest.value)).action === 'create';
  return isBeginning && past.length < limit ? versions : 'unknown';
}

const tsOf = (row: Row): Micros => unpackVersion(String(row.value)).ts;
