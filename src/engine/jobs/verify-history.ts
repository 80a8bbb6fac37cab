/**
 * Checks the superseded versions of one document: each must have a successor, and its entries must contain the times at which they were
 * held.
 */
import { decodeHistoryEntry, hexOfKey, type Key } from '../../codec/key.ts';
import { unpackVersion, type StoredVersion } from '../../codec/row.ts';
import type { Row } from '../../store/port.ts';
import type { Micros, Ref } from '../../values/value.ts';
import type { EngineContext } from '../context/context.ts';
import { entryTimeline, type TimelineStep } from '../documents/entry-timeline.ts';
import { isNativeEntry } from '../catalog/native-indexes.ts';
import { expectedEntries, isOfBuiltIndex } from './verify-entries.ts';

export interface StoredHistory {
  readonly ref: Ref;
  /** Rows in `history`, oldest first. Versions before the first may have been collected. */
  readonly past: readonly Row[];
  readonly current: Row | undefined;
  /** The successor of the last version in `past` is not known, so that version is not checked. */
  readonly isCut: boolean;
}

/**
 * @returns one sentence for each problem
 * @throws Suspended, and the error of a row that cannot be read
 */
export function historyProblems(
  context: EngineContext,
  { ref, past, current, isCut }: StoredHistory,
): readonly string[] {
  const rows = current && !isCut ? [...past, current] : past;
  const versions = rows.map((row) => unpackVersion(String(row.value)));
  const chain = versions.map((version) => ({
    ts: version.ts,
    entries: expectedEntries(context, ref, version),
  }));
  const timeline = entryTimeline(chain);
  const check: Check = { isBuilt: isOfBuiltIndex(context), oldest: versions[0] };
  return rows.flatMap((row, i) => {
    const version = versions[i];
    const step = timeline[i];
    const isLast = i === rows.length - 1;
    if (!version || !step || (isCut && isLast)) return [];
    const before = versions[i - 1];
    if (row === current && before && before.ts >= version.ts)
      return [
        `documents row ${hexOfKey(row.key)} has the time ${version.ts}, which is not after that of the version it superseded, ${before.ts}.`,
      ];
    if (row === current) return wrongDates(check, row, version, step);
    if (isLast && version.action !== 'delete')
      return [`history row ${hexOfKey(row.key)} is a superseded version without a successor.`];
    return wrongEntries(check, row, step);
  });
}

interface Check {
  readonly isBuilt: (entry: Key) => boolean;
  /** The oldest stored version. */
  readonly oldest: StoredVersion | undefined;
}

interface EndedEntry {
  readonly key: Key;
  readonly entry: Key;
  readonly added: Micros;
  readonly removed: Micros;
}

function wrongEntries(check: Check, row: Row, { ended }: TimelineStep): readonly string[] {
  const name = `history row ${hexOfKey(row.key)}`;
  const expected = endedEntries(check, ended);
  const actual = endedEntries(check, row.entries);
  const agree = (one: EndedEntry | undefined, other: EndedEntry | undefined): boolean =>
    one !== undefined &&
    other !== undefined &&
    one.removed === other.removed &&
    isSince(check, one.added, other.added);
  const problems: string[] = [];
  for (const [entry, each] of expected) {
    if (!agree(each, actual.get(entry)))
      problems.push(`${name} is missing the ended index entry ${hexOfKey(each.key)}.`);
  }
  for (const [entry, each] of actual) {
    if (!agree(expected.get(entry), each))
      problems.push(
        `${name} has the ended index entry ${hexOfKey(each.key)}, which does not follow from its versions.`,
      );
  }
  return problems;
}

function endedEntries({ isBuilt }: Check, keys: readonly Key[]): ReadonlyMap<Key, EndedEntry> {
  const entries = new Map<Key, EndedEntry>();
  for (const key of keys) {
    const read = decodeHistoryEntry(key);
    if (isBuilt(read.entry)) entries.set(read.entry, { key, ...read });
  }
  return entries;
}

/** Reports entries of the current version with a wrong start time. The entries themselves are checked in `verify.ts`. */
function wrongDates(
  check: Check,
  row: Row,
  version: StoredVersion,
  { held }: TimelineStep,
): readonly string[] {
  return row.entries.flatMap((entry, i) => {
    const expected = held.get(entry);
    const actual = version.added?.[i] ?? version.ts;
    if (expected === undefined || isNativeEntry(entry) || !check.isBuilt(entry)) return [];
    if (isSince(check, expected, actual)) return [];
    return [
      `documents row ${hexOfKey(row.key)} has the index entry ${hexOfKey(entry)} since ${actual} instead of ${expected}.`,
    ];
  });
}

/** Whether a start time is right. Entries of the oldest stored version may have been held before it, unless it created the document. */
function isSince({ oldest }: Check, expected: Micros, actual: Micros): boolean {
  if (actual === expected) return true;
  // A document that is created again after its `ttl` keeps entries that are the same, so a version with a `ttl` does not count.
  const isFirst = oldest?.action === 'create' && oldest.ttl === undefined;
  return expected === oldest?.ts && actual < expected && !isFirst;
}
