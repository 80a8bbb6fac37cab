/**
 * Decides which documents that the caller may not read now may be on the device. A caller that could never read a document must not learn
 * that it was deleted, or that it existed.
 */
import { decodeDocumentKey, type Key } from '../../../codec/key.ts';
import { prefixRange } from '../../../codec/ranges.ts';
import { unpackVersion } from '../../../codec/row.ts';
import { SYNC_LIMITS } from '../../../limits.ts';
import { eachElement } from '../../../query/collect-needs.ts';
import { Overlay } from '../../../store/overlay.ts';
import type { Row } from '../../../store/port.ts';
import type { Reader } from '../../../store/reader.ts';
import { scan } from '../../../store/scan.ts';
import type { Micros } from '../../../values/value.ts';
import type { DeviceCaller } from './device-caller.ts';
import { ReadRights } from './read-rights.ts';

export interface PreviouslyReadable {
  /** Keys of documents that were readable at some time since. */
  readonly keys: ReadonlySet<Key>;
  /** Whether some documents could not be decided, because their versions are no longer stored. */
  readonly isUnsure: boolean;
}

/**
 * Applies the present rights to all versions since then.
 * @param rows the documents in question, in their present version
 * @throws Suspended
 */
export function readableSince(
  reader: Reader,
  device: DeviceCaller,
  rights: ReadRights,
  rows: ReadonlyMap<Key, Row | undefined>,
  since: Micros,
): PreviouslyReadable {
  const keys = new Set<Key>();
  const undecided: (readonly [Key, Row | undefined])[] = [];
  for (const each of rows)
    if (rights.readsAll(decodeDocumentKey(each[0]).collection)) keys.add(each[0]);
    else undecided.push(each);
  const found = eachElement(undecided, ([key, row]) => ({
    key,
    versions: versionsSince(reader, key, row, since),
  }));
  const known = found.flatMap(({ key, versions }) => (versions ? { key, versions } : []));
  const rounds = Math.max(0, ...known.map(({ versions }) => versions.length));
  // The first versions of all documents together, then the second ones, and so on: each round needs one fetch.
  for (let round = 0; round < rounds; round++) {
    const past = new Overlay(reader);
    const asked: Key[] = [];
    for (const { key, versions } of known) {
      const value = versions[round];
      if (value === undefined || keys.has(key)) continue;
      past.put('documents', { key, entries: [], value });
      asked.push(key);
    }
    const then = new ReadRights(device.over(past));
    const may = eachElement(asked, (key) => then.mayRead(key));
    asked.forEach((key, i) => {
      if (may[i] === true) keys.add(key);
    });
  }
  return { keys, isUnsure: known.length < found.length };
}

/** Stored texts of all versions since then, newest first. Undefined if some of the versions are no longer stored. */
function versionsSince(
  reader: Reader,
  key: Key,
  current: Row | undefined,
  since: Micros,
): readonly string[] | undefined {
  const versions: string[] = [];
  if (current) {
    // The document changed, but its version is older than the change: its history was rewritten.
    if (timeOf(current) <= since) return undefined;
    versions.push(String(current.value));
  }
  const limit = SYNC_LIMITS.pullVersions;
  const past = reader.range(scan('history', prefixRange(key), { reverse: true, limit }));
  let oldest = current;
  for (const { row } of past) {
    if (!row) continue;
    const { action, ts } = unpackVersion(String(row.value));
    // The document is gone, but no version says when: it has expired, or its history was rewritten.
    if (!oldest && ts <= since && action !== 'delete') return undefined;
    oldest = row;
    if (action !== 'delete') versions.push(String(row.value));
    if (ts <= since) return versions;
  }
  const isBeginning = oldest && unpackVersion(String(oldest.value)).action === 'create';
  return isBeginning && past.length < limit ? versions : undefined;
}

const timeOf = (row: Row): Micros => unpackVersion(String(row.value)).ts;
