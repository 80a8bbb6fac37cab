/**
 * Of documents that the caller may not see now: which of them may the device have? A caller who could never read a document is not told
 * that it is gone, or ever existed.
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
  /** Readable at some time since. */
  readonly keys: ReadonlySet<Key>;
  /** Of some documents it cannot be told any more. */
  readonly isUnsure: boolean;
}

/**
 * Decided by the present rights over the versions there were since then.
 * @param rows documents in question, as they are now
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
  // All first versions together, then all second ones: each round reads once.
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

/** Stored texts of all versions there were since then, newest first. Undefined: some are not known any more. */
function versionsSince(
  reader: Reader,
  key: Key,
  current: Row | undefined,
  since: Micros,
): readonly string[] | undefined {
  const versions: string[] = [];
  if (current) {
    // It changed, and is older than the change: its history was rewritten.
    if (timeOf(current) <= since) return undefined;
    versions.push(String(current.value));
  }
  const limit = SYNC_LIMITS.pullVersions;
  const past = reader.range(scan('history', prefixRange(key), { reverse: true, limit }));
  let oldest = current;
  for (const { row } of past) {
    if (!row) continue;
    const { action, ts } = unpackVersion(String(row.value));
    // It is gone, and no version says when: it expired, or its history was rewritten.
    if (!oldest && ts <= since && action !== 'delete') return undefined;
    oldest = row;
    if (action !== 'delete') versions.push(String(row.value));
    if (ts <= since) return versions;
  }
  const isBeginning = oldest && unpackVersion(String(oldest.value)).action === 'create';
  return isBeginning && past.length < limit ? versions : undefined;
}

const timeOf = (row: Row): Micros => unpackVersion(String(row.value)).ts;
