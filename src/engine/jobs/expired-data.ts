/**
 * Finds and removes expired data, which no query can see: rows and entries of deleted collections, indexes and databases, documents whose
 * `ttl` has passed, and versions before the retained time. Each step does a bounded amount of work, may be repeated by any engine, and
 * changes no answer. Spec: sets 1.2, 1.3, 2.5.
 */
import {
  after,
  collectionPrefix,
  databasePrefix,
  decodeDocumentKey,
  documentKeyOf,
  indexPrefix,
  termsPrefix,
  valuesPrefix,
  type Key,
  HIGHEST_KEY,
  keyAfter,
} from '../../codec/key.ts';
import { type KeyRange, prefixRange } from '../../codec/ranges.ts';
import { packVersion, unpackVersion } from '../../codec/row.ts';
import { LIMITS } from '../../limits.ts';
import { eachElement } from '../../query/collect-needs.ts';
import type { Entry, EntrySpace, Range, Row } from '../../store/port.ts';
import type { Writer } from '../../store/reader.ts';
import { scan } from '../../store/scan.ts';
import type { CollectionId, DatabaseId, Micros } from '../../values/value.ts';
import { livingDatabases, ROOT_DATABASE } from '../catalog/databases.ts';
import { minimumValidTime } from '../documents/documents.ts';
import { NATIVE_INDEX } from '../catalog/native-indexes.ts';
import { isGoneBefore } from '../documents/retained.ts';
import type { Schema } from '../catalog/schema.ts';
import { FIRST_USER_COLLECTION, FIRST_USER_INDEX } from '../../values/native-kinds.ts';
import { bytesOf } from './step-size.ts';

export interface SweepContext {
  readonly writer: Writer;
  readonly schema: (database: DatabaseId) => Schema;
  /** Time of the last commit. Not the clock: a clock that is wrong for an hour must not remove history. */
  readonly now: Micros;
}

export interface SweepStep {
  /** Where the next step continues. Undefined: the end is reached. */
  readonly next: Key | undefined;
  /** Rows removed or rewritten. */
  readonly removed: number;
  /** Size of the visited rows. */
  readonly bytes: number;
}

/**
 * One step of a sweep.
 * @param from key to start at; `''` for the beginning
 * @param size rows to visit, at least two
 */
export type Sweep = (context: SweepContext, from: Key, size: number) => SweepStep;

export const NOTHING_EXPIRED: SweepStep = { next: undefined, removed: 0, bytes: 0 };

// --- collections, indexes, databases that are gone ----------------------------------------------

const goneRows =
  (space: EntrySpace): Sweep =>
  (context, from, size) => {
    const { writer } = context;
    const { gaps, next } = rowGaps(context, from);
    const gap = firstFilled(context, { space, by: 'key' }, gaps, from);
    if (!gap) return { ...NOTHING_EXPIRED, next };
    const found = writer.range(scan(space, gap, { limit: size }));
    for (const { key } of found) writer.delete(space, key);
    return { next: nextOf(found, size, gap), removed: found.length, bytes: bytesOf(found) };
  };

const goneEntries =
  (space: EntrySpace): Sweep =>
  (context, from, size) => {
    const { writer } = context;
    const { gaps, next } = entryGaps(context, from);
    const gap = firstFilled(context, { space, by: 'entry' }, gaps, from);
    if (!gap) return { ...NOTHING_EXPIRED, next };
    const found = writer.range(scan(space, { by: 'entry', ...gap }, { limit: size }));
    const rows = new Map(found.flatMap(({ row }) => (row ? [[row.key, row]] : [])));
    const isGone = (entry: Key) => gaps.some(({ lower, upper }) => entry >= lower && entry < upper);
    for (const row of rows.values()) writer.put(space, rowWithout(row, isGone));
    return { next: nextOf(found, size, gap), removed: rows.size, bytes: bytesOf(found) };
  };

function rowWithout(row: Row, isGone: (entry: Key) => boolean): Row {
  const entries = row.entries.filter((entry) => !isGone(entry));
  const version = unpackVersion(String(row.value));
  if (!version.added) return { ...row, entries };
  const added = version.added.filter((_, i) => !isGone(row.entries[i] ?? HIGHEST_KEY));
  return { ...row, entries, value: packVersion({ ...version, added }) };
}

const nextOf = (found: readonly Entry[], size: number, gap: KeyRange): Key => {
  const last = found.at(-1);
  return last && found.length === size ? keyAfter(last.entry) : gap.upper;
};

/** The first gap that contains anything, starting at `from`. */
function firstFilled(
  { writer }: SweepContext,
  { space, by }: Pick<Range, 'space' | 'by'>,
  gaps: readonly KeyRange[],
  from: Key,
): KeyRange | undefined {
  const left = gaps
    .filter(({ lower, upper }) => lower < upper && from < upper)
    .map(({ lower, upper }) => ({ lower: from > lower ? from : lower, upper }));
  const filled = eachElement(
    left,
    (gap) => writer.range(scan(space, { by, ...gap }, { limit: 1, rows: false })).length > 0,
  );
  return left[filled.indexOf(true)];
}

interface Gaps {
  readonly gaps: readonly KeyRange[];
  /** Where the next step looks if nothing is in these gaps. Undefined: there are no further gaps. */
  readonly next: Key | undefined;
}

/** The key ranges between existing databases and collections, of some databases from a key on. */
function rowGaps({ writer, schema }: SweepContext, from: Key): Gaps {
  const { some, next } = livingDatabases(writer, from);
  const each = eachElement(some, (database) => {
    const collections = schema(database).all('collections');
    return {
      prefix: databasePrefix(database),
      inside: gapsIn(database, FIRST_USER_COLLECTION, collections, collectionPrefix),
    };
  });
  const gaps: KeyRange[] = [];
  let lower = from;
  for (const { prefix, inside } of each) {
    gaps.push({ lower, upper: prefix }, ...inside);
    lower = after(prefix);
  }
  return { gaps: [...gaps, { lower, upper: next ?? HIGHEST_KEY }], next };
}

/** The key ranges between the entries of existing indexes. Entries of deleted databases are removed with their rows. */
function entryGaps({ writer, schema }: SweepContext, from: Key): Gaps {
  const { some, next } = livingDatabases(writer, from);
  const gaps = eachElement(some, (database) =>
    gapsIn(database, FIRST_USER_INDEX, schema(database).all('indexes'), indexPrefix),
  );
  return { gaps: gaps.flat(), next };
}

/** @param objects in the order of their ids */
function gapsIn(
  database: DatabaseId,
  first: number,
  objects: readonly { readonly id: number }[],
  prefixOf: (database: DatabaseId, id: number) => Key,
): readonly KeyRange[] {
  const gaps: KeyRange[] = [];
  let lower = prefixOf(database, first);
  for (const { id } of objects) {
    gaps.push({ lower, upper: prefixOf(database, id) });
    lower = after(prefixOf(database, id));
  }
  return [...gaps, { lower, upper: after(databasePrefix(database)) }];
}

// --- documents whose ttl has passed -------------------------------------------------------------

/** Documents whose versions are read together at first. The versions of all documents found could be far more than one step removes. */
const PASTS_AT_FIRST = 8;

const expired: Sweep = (context, from, size) => {
  const { writer, now } = context;
  const prefix = termsPrefix(ROOT_DATABASE, NATIVE_INDEX.expiring, []);
  const end = valuesPrefix(prefix, [now - LIMITS.historyGraceMicros + 1], [false]);
  const lower = from > prefix ? from : prefix;
  if (lower >= end) return NOTHING_EXPIRED;
  const range = scan('documents', { by: 'entry', lower, upper: end }, { limit: size });
  const found = writer.range(range);
  const bytes = bytesOf(found);
  let removed = 0;
  for (let at = 0, count = PASTS_AT_FIRST; at < found.length; at += count, count *= 2) {
    const some = found.slice(at, at + count);
    const pasts = eachElement(some, ({ row }) =>
      row && isExpiredDocument(context, row) ? pastOf(writer, row.key, size) : undefined,
    );
    for (const [i, { entry, key }] of some.entries()) {
      const past = pasts[i];
      if (!past) continue;
      if (removed >= size) return { next: entry, removed, bytes };
      for (const each of past) writer.delete('history', each.key);
      removed += past.length;
      // The current version is deleted last: without it, the version before it would become visible again.
      if (past.length === size) return { next: entry, removed, bytes };
      writer.delete('documents', key);
      removed += 1;
    }
  }
  const next = nextOf(found, size, { lower, upper: end });
  return { next: next < end ? next : undefined, removed, bytes };
};

function isExpiredDocument(context: SweepContext, { key, value }: Row): boolean {
  return isGoneBefore(unpackVersion(String(value)), minimumAt(context, key));
}

const pastOf = (writer: Writer, key: Key, limit: number): readonly Entry[] =>
  writer.range(scan('history', prefixRange(key), { limit }));

/** Minimum valid time of the collection that a key belongs to. 0 when the collection was deleted. */
function minimumAt({ schema, now }: SweepContext, key: Key): Micros {
  const { database, collection } = decodeDocumentKey(documentKeyOf(key));
  return minimumIn({ schema, now }, database, collection);
}

function minimumIn(
  { schema, now }: Pick<SweepContext, 'schema' | 'now'>,
  database: DatabaseId,
  id: CollectionId,
): Micros {
  const collection = schema(database).collection(id);
  return collection ? minimumValidTime(collection, now) : 0;
}

// --- versions before the retained time ----------------------------------------------------------

const superseded: Sweep = (context, from, size) => {
  const { writer } = context;
  const found = writer.range(scan('history', { lower: from, upper: HIGHEST_KEY }, { limit: size }));
  const [first] = found;
  if (!first) return NOTHING_EXPIRED;
  const bytes = bytesOf(found);
  if (minimumAt(context, first.key) === 0)
    return { next: collectionEnd(first.key), removed: 0, bytes };
  const pasts = byDocument(found);
  const next = found.length === size ? resumeAt(context, pasts) : undefined;
  const obsolete = eachElement(pasts, ([key, past]) => obsoleteOf(context, key, past, next)).flat();
  for (const key of obsolete) writer.delete('history', key);
  return { next, removed: obsolete.length, bytes };
};

function byDocument(found: readonly Entry[]): Map<Key, Entry[]> {
  const pasts = new Map<Key, Entry[]>();
  for (const entry of found) {
    const key = documentKeyOf(entry.key);
    const past = pasts.get(key);
    if (past) past.push(entry);
    else pasts.set(key, [entry]);
  }
  return pasts;
}

const collectionEnd = (key: Key): Key => {
  const { database, collection } = decodeDocumentKey(documentKeyOf(key));
  return after(collectionPrefix(database, collection));
};

/**
 * Where the next step continues. A document whose history was truncated is left to the next step. If it is the only document, the next step
 * continues at its last row, or after the document if the rest of its history is retained.
 */
function resumeAt(context: SweepContext, pasts: Map<Key, readonly Entry[]>): Key {
  const [key, past] = [...pasts].at(-1) ?? [HIGHEST_KEY, []];
  if (pasts.size > 1) {
    pasts.delete(key);
    return key;
  }
  const last = past.at(-1)?.key ?? key;
  const { ts } = versionOf(past.at(-1));
  return ts < minimumAt(context, key) ? last : after(key);
}

/** Keys of versions that were superseded before the retained time, and of deletions before it. */
function obsoleteOf(
  context: SweepContext,
  key: Key,
  past: readonly Entry[],
  next: Key | undefined,
): readonly Key[] {
  const minimum = minimumAt(context, key);
  const isWhole = next === undefined || next >= after(key);
  return past.flatMap((entry, i) => {
    const { ts, action } = versionOf(entry);
    if (ts >= minimum) return [];
    const isObsolete = action === 'delete' || followedAt(past[i + 1]) < minimum;
    return isObsolete ? [entry.key] : [];
  });

  function followedAt(follower: Entry | undefined): Micros {
    if (follower) return versionOf(follower).ts;
    const row = isWhole ? context.writer.row({ space: 'documents', key }) : undefined;
    return row ? unpackVersion(String(row.value)).ts : Infinity;
  }
}

const versionOf = (entry: Entry | undefined) => unpackVersion(String(entry?.row?.value));

/** All sweeps. Data that is deleted as a whole comes first, so that later sweeps do not visit it piece by piece. */
export const SWEEPS: readonly Sweep[] = [
  goneRows('documents'),
  goneRows('history'),
  goneEntries('documents'),
  goneEntries('history'),
  expired,
  superseded,
];
