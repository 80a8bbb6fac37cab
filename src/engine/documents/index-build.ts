/**
 * Creates the entries of a new index for documents stored before it: at once if they are few, otherwise in steps of bounded work. Any
 * engine may repeat any step at any time, because entries that are already correct are not written. Writes after the creation of the index
 * add their own entries, so the steps have to get through all documents only once. Spec: sets 2.6.
 */
import {
  after,
  collectionPrefix,
  documentKeyOf,
  indexPrefix,
  type Key,
  refOfKey,
} from '../../codec/key.ts';
import { packVersion, unpackVersion, type StoredVersion } from '../../codec/row.ts';
import { LIMITS } from '../../limits.ts';
import type { EntrySpace, Row } from '../../store/port.ts';
import type { Writer } from '../../store/reader.ts';
import { scan } from '../../store/scan.ts';
import type { Ref } from '../../values/value.ts';
import type { CollectionId, Micros, Value } from '../../values/value.ts';
import type { EngineContext } from '../context/context.ts';
import type { IndexDefinition } from '../catalog/definitions.ts';
import { fieldsOf } from './documents.ts';
import { entryTimeline, type HeldEntries } from './entry-timeline.ts';
import { indexEntries, omitUnfit } from './index-entries.ts';
import { putCurrent, writerOf } from './version-rows.ts';
import { writeVersion } from './write-version.ts';

/**
 * Builds an index in the query that creates it, if its sources are small. Returns whether it did; the index is then active.
 * @param index as it has just been written
 */
export function buildSynchronously(context: EngineContext, index: IndexDefinition): boolean {
  const collections = collectionsOf(context, index);
  const ofAll = index.sources.some((source) => source.collections === 'all');
  const isSmall =
    (!ofAll || collections.length === 0) && hasFewVersions(context, index, collections);
  if (!isSmall) {
    // If the query set the index active, it is readable at once but not complete. The background job finds it by this mark.
    if (index.active) putFields(context, index, [['building', true]]);
    return false;
  }
  for (const collection of collections) {
    const prefix = collectionPrefix(index.ref.database, collection);
    for (const document of documentsFrom(context, prefix, prefix, SMALL).documents) {
      buildDocument(context, index, document);
    }
  }
  activate(context, index);
  return true;
}

const SMALL: StepSize = {
  documents: LIMITS.synchronousBuildDocuments + 1,
  history: LIMITS.synchronousBuildDocuments + 1,
};

function hasFewVersions(
  context: EngineContext,
  { ref }: IndexDefinition,
  collections: readonly CollectionId[],
): boolean {
  let versions = 0;
  let bytes = 0;
  for (const collection of collections) {
    const prefix = collectionPrefix(ref.database, collection);
    for (const space of ['documents', 'history'] as const) {
      for (let lower = prefix, isLast = false; !isLast;) {
        // Large documents are left to the background job, without reading all of them first: each is written again, with its entries.
        const rows = rowsFrom(context, space, lower, after(prefix), FEW_ROWS);
        versions += rows.length;
        for (const { value } of rows) bytes += value.length;
        if (versions > LIMITS.synchronousBuildDocuments || bytes > LIMITS.transactionBytes / 2)
          return false;
        isLast = rows.length < FEW_ROWS;
        lower = after(rows.at(-1)?.key ?? prefix);
      }
    }
  }
  return true;
}

const FEW_ROWS = 16;

export interface BuildStep {
  /** Where the next step continues. Undefined: the index is complete and active. */
  readonly next: Key | undefined;
  /** Number of documents processed. */
  readonly documents: number;
  /** Size of their current versions. */
  readonly bytes: number;
}

/**
 * Processes a bounded number of documents in the order of their keys, starting at `from`, or at the first one. Stops early after many bytes
 * were written. The last step makes the index active. Does nothing if the index was deleted or is complete.
 * @param size most documents to read
 */
export function buildStep(
  context: EngineContext,
  ref: Ref,
  from: Key | undefined,
  size = LIMITS.sweepStepRows,
): BuildStep {
  const index = context.schema(ref.database).index(ref);
  if (!index?.isBuilding) return { next: undefined, documents: 0, bytes: 0 };
  const writer = writerOf(context);
  const read = { documents: size, history: 8 * size };
  let built = 0;
  let bytes = 0;
  const collections = collectionsOf(context, index);
  for (const collection of collections) {
    const prefix = collectionPrefix(ref.database, collection);
    const lower = from !== undefined && from > prefix ? from : prefix;
    if (lower >= after(prefix)) continue;
    const { documents, isEnd } = documentsFrom(context, prefix, lower, read);
    let next: Key | undefined;
    for (const document of documents) {
      if (writer.bytes > LIMITS.sweepStepBytes) break;
      buildDocument(context, index, document);
      next = after(document.key);
      built += 1;
      bytes += document.current?.value.length ?? 0;
    }
    // After many bytes were written there is no room left in this commit to make the index active.
    const isWhole = isEnd && built === documents.length && writer.bytes <= LIMITS.sweepStepBytes;
    if (!isWhole) return { next, documents: built, bytes };
    // Documents that are created in this collection from now on get their entries when they are written. Looking for more of them would
    // never end while somebody writes.
    if (built > 0 && collection !== collections.at(-1))
      return { next: after(prefix), documents: built, bytes };
  }
  activate(context, index);
  return { next: undefined, documents: built, bytes };
}

interface StepSize {
  readonly documents: number;
  /** Number of superseded versions. */
  readonly history: number;
}

/** The collections that the index covers, in the order of their keys. */
function collectionsOf(context: EngineContext, { ref, sources }: IndexDefinition): CollectionId[] {
  const schema = context.schema(ref.database);
  const ids = new Set<CollectionId>();
  for (const { collections } of sources) {
    if (collections === 'all') for (const { id } of schema.all('collections')) ids.add(id);
    else for (const id of collections) ids.add(id);
  }
  return [...ids].sort((a, b) => a - b);
}

/** A document with the rows of all its versions, oldest first. */
interface StoredDocument {
  readonly key: Key;
  readonly past: readonly Row[];
  readonly current: Row | undefined;
}

/**
 * The first documents of a collection from `lower` on, each with all its versions. At least one if there is any. `isEnd`: there are no more
 * documents.
 */
function documentsFrom(
  context: EngineContext,
  prefix: Key,
  lower: Key,
  size: StepSize,
): { readonly documents: readonly StoredDocument[]; readonly isEnd: boolean } {
  const end = after(prefix);
  const current = rowsFrom(context, 'documents', lower, end, size.documents);
  const lastCurrent = current.at(-1);
  const upper = lastCurrent && current.length === size.documents ? after(lastCurrent.key) : end;
  const past = rowsFrom(context, 'history', lower, upper, size.history);
  const byKey = new Map<Key, { key: Key; past: Row[]; current: Row | undefined }>();
  const documentAt = (key: Key) => {
    const known = byKey.get(key);
    const document = known ?? { key, past: [], current: undefined };
    if (!known) byKey.set(key, document);
    return document;
  };
  for (const row of past) documentAt(documentKeyOf(row.key)).past.push(row);
  for (const row of current) documentAt(row.key).current = row;
  const documents = [...byKey.values()].sort((a, b) => (a.key < b.key ? -1 : 1));
  const cut = past.length === size.history ? past.at(-1) : undefined;
  if (!cut) return { documents, isEnd: upper === end };
  // The document whose history was truncated, and all after it, are left to the next step, unless it is the first one.
  const cutKey = documentKeyOf(cut.key);
  const whole = documents.filter(({ key }) => key < cutKey);
  if (whole.length > 0) return { documents: whole, isEnd: false };
  const longer = { ...size, history: size.history * 8 };
  return documentsFrom(context, prefix, lower, longer);
}

function rowsFrom(
  { reader }: EngineContext,
  space: EntrySpace,
  lower: Key,
  upper: Key,
  limit: number,
): readonly Row[] {
  const range = scan(space, { lower, upper }, { limit });
  return reader.range(range).flatMap(({ row }) => row ?? []);
}

/** Adds the index's entries to all versions of a document. All versions are handled together, so they are written in one commit. */
function buildDocument(
  context: EngineContext,
  index: IndexDefinition,
  { key, past, current }: StoredDocument,
): void {
  const writer = writerOf(context);
  // Later writes of this query to the document must treat these entries as existing before the query.
  context.rewritten.add(key);
  const ref = refOfKey(key);
  const rows = current ? [...past, current] : past;
  const versions = rows.map((row) => unpackVersion(String(row.value)));
  const timeline = entryTimeline(
    versions.map((version) => ({
      ts: version.ts,
      entries: entriesOf(context, index, ref, version),
    })),
  );
  rows.forEach((row, i) => {
    const version = versions[i];
    const step = timeline[i];
    if (!version || !step) return;
    if (row === current) {
      putCurrentEntries(context, writer, index, row, version, step.held);
      return;
    }
    const all = [...entriesOfOthers(index, row), ...step.ended];
    if (!isSameList(all, row.entries)) writer.put('history', { ...row, entries: all });
  });
}

function putCurrentEntries(
  context: EngineContext,
  writer: Writer,
  index: IndexDefinition,
  row: Row,
  version: StoredVersion,
  own: HeldEntries,
): void {
  const prefix = indexPrefix(index.ref.database, index.id);
  // Existing entries keep their position, so that a row that is already correct stays the same.
  const added = new Map<Key, Micros>();
  row.entries.forEach((entry, i) => {
    const isOwn = entry.startsWith(prefix);
    const since = isOwn ? own.get(entry) : (version.added?.[i] ?? version.ts);
    if (since !== undefined) added.set(entry, since);
  });
  for (const [entry, since] of own) added.set(entry, since);
  const entries = [...added.keys()];
  const rebuilt = { ...version, added: [...added.values()] };
  if (packVersion(rebuilt) === row.value && isSameList(entries, row.entries)) return;
  putCurrent(context, writer, { key: row.key, entries, version, added: rebuilt.added });
}

const entriesOf = (
  context: EngineContext,
  index: IndexDefinition,
  ref: Ref,
  version: StoredVersion,
): readonly Key[] =>
  version.action === 'delete'
    ? []
    : indexEntries(
        context,
        index,
        ref,
        { ts: version.ts, ttl: version.ttl, fields: fieldsOf(context, ref, version) },
        omitUnfit,
      );

function entriesOfOthers({ ref, id }: IndexDefinition, row: Row): readonly Key[] {
  const prefix = indexPrefix(ref.database, id);
  return row.entries.filter((entry) => !entry.startsWith(prefix));
}

const isSameList = (a: readonly Key[], b: readonly Key[]): boolean =>
  a.length === b.length && new Set([...a, ...b]).size === a.length;

function activate(context: EngineContext, index: IndexDefinition): void {
  putFields(context, index, [['active', true]]);
}

function putFields(
  context: EngineContext,
  { ref, fields }: IndexDefinition,
  changes: readonly (readonly [string, Value])[],
): void {
  const kept = [...fields].filter(([name]) => name !== 'building');
  writeVersion(context, ref, new Map([...kept, ...changes]));
}
