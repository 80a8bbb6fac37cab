/** Rewrites the history of a document: `insert` and `remove` of versions. Spec: sets 1.2, 1.6. */
import { historyKey, type Key } from '../../codec/key.ts';
import { prefixRange } from '../../codec/ranges.ts';
import { packVersion, unpackVersion, type StoredVersion } from '../../codec/row.ts';
import type { Row } from '../../store/port.ts';
import type { Reader, Writer } from '../../store/reader.ts';
import { entriesIn, scan } from '../../store/scan.ts';
import type { Micros, ObjectValue, Ref } from '../../values/value.ts';
import type { EngineContext } from '../context/context.ts';
import { fieldsOf, keyOf, minimumValidTime } from './documents.ts';
import { entryTimeline, type TimelineStep } from './entry-timeline.ts';
import { omitUnfit } from './index-entries.ts';
import { retained } from './retained.ts';
import { bodyOf } from './stored-values.ts';
import {
  allEntries,
  deleteMarker,
  countWritten,
  putCurrent,
  requireDocumentSize,
  ttlOf,
  entriesToWrite,
  writerOf,
} from './version-rows.ts';

/** Rows of all versions of a document, delete markers included, oldest first. The current version is last. */
export function versionRows(reader: Reader, ref: Ref): readonly Row[] {
  const rows: Row[] = [];
  const past = scan('history', prefixRange(keyOf(ref)), { limit: 64 });
  for (const { row } of entriesIn(reader, past, 8)) if (row) rows.push(row);
  const current = reader.row({ space: 'documents', key: keyOf(ref) });
  if (current) rows.push(current);
  return rows;
}

interface VersionRange {
  /** Versions with a valid time later than this… */
  readonly after: Micros;
  /** …up to and including this one. */
  readonly through: Micros;
  readonly count: number;
  /** Whether the newest versions of the range are returned, instead of the oldest. */
  readonly isFromEnd: boolean;
}

const FIRST = 1024;

/** Up to `count` versions of a document in a range of times, oldest first. */
export function versionsWithin(
  reader: Reader,
  ref: Ref,
  { after, through, count, isFromEnd }: VersionRange,
): readonly StoredVersion[] {
  if (through <= after) return [];
  const all = prefixRange(keyOf(ref));
  const behind = (ts: Micros): Key => historyKey(ref.database, ref.collection, ref.id, ts + 1);
  const lower = after === -Infinity ? all.lower : behind(after);
  const upper = through === Infinity ? all.upper : behind(through);
  const row = reader.row({ space: 'documents', key: keyOf(ref) });
  const current = row && unpackVersion(String(row.value));
  const isWithin = current && current.ts > after && current.ts <= through;
  const versions = isWithin && isFromEnd ? [current] : [];
  const limit = Math.min(count - versions.length, FIRST);
  const range = scan('history', { lower, upper }, { reverse: isFromEnd, limit });
  const pasts = limit > 0 ? entriesIn(reader, range, 8) : [];
  for (const past of pasts) {
    if (past.row) versions.push(unpackVersion(String(past.row.value)));
    if (versions.length === count) break;
  }
  if (isWithin && !isFromEnd && versions.length < count) versions.push(current);
  return isFromEnd ? versions.reverse() : versions;
}

/** One version in the history of a document. `fields` undefined: the document was deleted at `ts`. */
interface Link {
  readonly ts: Micros;
  readonly fields: ObjectValue | undefined;
}

/** Inserts a version, or a deletion, into the history. It replaces a version at the same time. */
export function rewriteHistory(context: EngineContext, ref: Ref, link: Link): void {
  const { rows, links } = chainOf(context, ref);
  const others = links.filter((each) => each.ts !== link.ts);
  const at = others.findIndex((each) => each.ts > link.ts);
  others.splice(at < 0 ? others.length : at, 0, link);
  saveChain(context, ref, rows, others, link);
}

/** Removes a version (`live`) or a deletion (`end`). Does nothing if there is none at `ts`. */
export function removeVersion(
  context: EngineContext,
  ref: Ref,
  ts: Micros,
  kind: 'live' | 'end',
): void {
  const { rows, links } = chainOf(context, ref);
  const at = links.findIndex((each) => each.ts === ts);
  const link = links[at];
  if (!link || (link.fields === undefined) !== (kind === 'end')) return;
  const collection = context.schema(ref.database).collection(ref.collection);
  const minimum = collection ? minimumValidTime(collection, context.snapshot) : 0;
  const next = links[at + 1];
  // Versions before the oldest retained one are not retained. Removing that one must not make them visible again, so a deletion takes its
  // place.
  const isOldestKept = ts <= minimum && (!next || next.ts > minimum);
  const without = links.toSpliced(at, 1);
  if (isOldestKept && kind === 'live') without.splice(at, 0, { ts, fields: undefined });
  saveChain(context, ref, rows, without);
}

/** The history of a document. Versions that are no longer retained are left out, so saving the history removes them. */
function chainOf(
  context: EngineContext,
  ref: Ref,
): { readonly rows: readonly Row[]; readonly links: Link[] } {
  const rows = versionRows(context.reader, ref);
  const collection = context.schema(ref.database).collection(ref.collection);
  const minimum = collection ? minimumValidTime(collection, context.snapshot) : 0;
  const versions = rows.map((row) => unpackVersion(String(row.value)));
  const links = retained(versions, minimum).map((version): Link => {
    const fields = version.action === 'delete' ? undefined : fieldsOf(context, ref, version);
    return { ts: version.ts, fields };
  });
  return { rows, links };
}

/**
 * Recomputes everything: actions, entries, and how long each entry was held. Histories are short, and an entry may last for many versions,
 * so one change can affect many rows.
 * @param given the version that is written now; the others are already stored
 */
function saveChain(
  context: EngineContext,
  ref: Ref,
  rows: readonly Row[],
  links: readonly Link[],
  given?: Link,
): void {
  const writer = writerOf(context);
  context.rewritten.add(keyOf(ref));
  const chain = links
    .filter((link, i) => link.fields || links[i - 1]?.fields)
    .map((link) => ({ ...link, entries: entriesOf(context, ref, link, link === given) }));
  const stale = new Map(rows.map((row) => [row.key, row]));
  const timeline = entryTimeline(chain);
  chain.forEach(({ fields, ts, entries }, i) => {
    const { held, ended } = timeline[i] ?? NO_ENTRIES;
    const follows = chain[i - 1]?.fields !== undefined;
    const version = fields ? liveVersionOf(ref, ts, fields, follows) : deleteMarker(ts);
    if (fields && i === chain.length - 1) {
      const added = [...held.values()];
      putCurrent(context, writer, { key: keyOf(ref), entries, version, added });
      stale.delete(keyOf(ref));
      return;
    }
    const row = pastRow(ref, version, ended);
    const known = stale.get(row.key);
    stale.delete(row.key);
    if (!known || !isSameRow(known, row)) putPast(context, writer, row);
  });
  for (const key of stale.keys()) writer.delete(key === keyOf(ref) ? 'documents' : 'history', key);
}

function entriesOf(
  context: EngineContext,
  ref: Ref,
  { ts, fields }: Link,
  isGiven: boolean,
): readonly Key[] {
  if (!fields) return [];
  const ttl = ttlOf(fields);
  const onUnfit = isGiven ? undefined : omitUnfit;
  return allEntries(ref, fields, ttl, entriesToWrite(context, ref, fields, { ts, ttl }, onUnfit));
}

function liveVersionOf(ref: Ref, ts: Micros, fields: ObjectValue, follows: boolean): StoredVersion {
  const action = follows ? 'update' : 'create';
  return { ts, action, ttl: ttlOf(fields), added: undefined, ...bodyOf(fields, ref.database) };
}

const NO_ENTRIES: TimelineStep = { held: new Map(), ended: [] };

const pastRow = (ref: Ref, version: StoredVersion, entries: readonly Key[]): Row => ({
  key: historyKey(ref.database, ref.collection, ref.id, version.ts),
  entries,
  value: packVersion(version),
});

function putPast(context: EngineContext, writer: Writer, row: Row): void {
  requireDocumentSize(String(row.value));
  writer.put('history', row);
  countWritten(context, row);
}

const isSameRow = (a: Row, b: Row): boolean =>
  a.value === b.value &&
  a.entries.length === b.entries.length &&
  a.entries.every((each, i) => each === b.entries[i]);
