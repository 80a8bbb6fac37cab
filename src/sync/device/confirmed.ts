/** Puts what the hub sent in the place of what is stored: documents with the index entries they have here, and the schema. */
import {
  after,
  collectionPrefix,
  decodeDocumentKey,
  documentKey,
  type Key,
} from '../../codec/key.ts';
import { packVersion, unpackVersion, type StoredVersion } from '../../codec/row.ts';
import type { EngineContext } from '../../engine/context.ts';
import { ROOT_DATABASE, type IndexDefinition } from '../../engine/catalog.ts';
import { fieldsOf, allEntries, userEntries } from '../../engine/documents.ts';
import { eachElement } from '../../query/collect-needs.ts';
import type { Entry, Range, Row } from '../../store/port.ts';
import type { Reader, Writer } from '../../store/reader.ts';
import { Ref, type CollectionId, type Micros } from '../../values/value.ts';
import type { DocumentName, PulledDocument, SetPart } from '../protocol.ts';
import { isInPart, partRange } from '../parts.ts';
import { NATIVE } from '../../values/native-kinds.ts';

/** Keys of documents that are now otherwise than they were, with the entries they had and have. */
export class Touched {
  readonly rows = new Set<Key>();
  readonly entries = new Set<Key>();

  note(key: Key, ...versions: readonly (Pick<Row, 'entries'> | undefined)[]): void {
    this.rows.add(key);
    for (const version of versions)
      for (const entry of version?.entries ?? []) this.entries.add(entry);
  }
}

const keyOf = ([collection, id]: DocumentName | PulledDocument): Key =>
  documentKey(ROOT_DATABASE, collection, BigInt(id));

const rowOf = (reader: Reader, key: Key): Row | undefined =>
  reader.row({ space: 'documents', key });

/**
 * @param since of when the copy is: what was created after that is hardly ever here
 * @throws Suspended
 */
export function putConfirmed(
  context: EngineContext,
  writer: Writer,
  documents: readonly PulledDocument[],
  touched: Touched,
  since: Micros = Infinity,
): void {
  const before = eachElement(documents, (document) =>
    isCreatedAfter(since, document)
      ? writer.rowAssumedAbsent({ space: 'documents', key: keyOf(document) })
      : rowOf(writer, keyOf(document)),
  );
  documents.forEach((document, i) => {
    const row = confirmedRow(context, document);
    if (isSameRow(row, before[i])) return;
    writer.put('documents', row);
    touched.note(row.key, before[i], row);
  });
}

function isCreatedAfter(since: Micros, [, , stored]: PulledDocument): boolean {
  const { action, ts } = unpackVersion(stored);
  return action === 'create' && ts > since;
}

/** @throws Suspended */
export function removeConfirmed(
  writer: Writer,
  names: readonly DocumentName[],
  touched: Touched,
): void {
  const before = eachElement(names, (name) => rowOf(writer, keyOf(name)));
  for (const row of before) {
    if (!row) continue;
    writer.delete('documents', row.key);
    touched.note(row.key, row);
  }
}

function confirmedRow(context: EngineContext, [collection, id, stored]: PulledDocument): Row {
  const version = { ...unpackVersion(stored), added: undefined };
  const ref = new Ref(ROOT_DATABASE, collection, BigInt(id));
  return versionRow(context, ref, version);
}

function versionRow(context: EngineContext, ref: Ref, version: StoredVersion): Row {
  const fields = fieldsOf(context, ref, version);
  const indexed = userEntries(context, ref, fields, version);
  return {
    key: documentKey(ref.database, ref.collection, ref.id),
    entries: allEntries(ref, fields, version.ttl, indexed),
    value: packVersion(version),
  };
}

const isSameRow = (a: Row, b: Row | undefined): boolean =>
  b?.value === a.value &&
  b.entries.length === a.entries.length &&
  a.entries.every((entry, i) => entry === b.entries[i]);

/** Collections of schema objects that a hub sends. */
const SCHEMA = [NATIVE.collections, NATIVE.indexes, NATIVE.functions, NATIVE.roles] as const;

/**
 * Makes the stored schema the given one; documents of collections whose indexes changed get their entries anew.
 * @throws Suspended
 */
export function putSchema(
  context: EngineContext,
  writer: Writer,
  documents: readonly PulledDocument[],
  touched: Touched,
): void {
  const wanted = new Set(documents.map(keyOf));
  const present = eachElement(SCHEMA, (collection) => rowsOf(writer, collection)).flat();
  const gone = present.filter(({ key }) => !wanted.has(key));
  const schema = context.schema(ROOT_DATABASE);
  const before = new Map(schema.all('indexes').map((index) => [index.id, index]));
  for (const row of gone) {
    writer.delete('documents', row.key);
    touched.note(row.key, row);
  }
  putConfirmed(context, writer, documents, touched);
  schema.forget();
  const changed = schema.all('indexes').filter((index) => isOtherThan(index, before.get(index.id)));
  for (const collection of collectionsOf(context, changed))
    reindex(context, writer, collection, touched);
}

const isOtherThan = (index: IndexDefinition, before: IndexDefinition | undefined): boolean =>
  before?.ts !== index.ts;

function collectionsOf(
  context: EngineContext,
  indexes: readonly IndexDefinition[],
): ReadonlySet<CollectionId> {
  const collections = new Set<CollectionId>();
  for (const { sources } of indexes) {
    for (const { collections: named } of sources) {
      const all =
        named === 'all'
          ? context
              .schema(ROOT_DATABASE)
              .all('collections')
              .map(({ id }) => id)
          : named;
      for (const id of all) collections.add(id);
    }
  }
  return collections;
}

function reindex(
  context: EngineContext,
  writer: Writer,
  collection: CollectionId,
  touched: Touched,
): void {
  for (const before of rowsOf(writer, collection)) {
    const { id } = decodeDocumentKey(before.key);
    const ref = new Ref(ROOT_DATABASE, collection, id);
    const row = versionRow(context, ref, unpackVersion(String(before.value)));
    if (isSameRow(row, before)) continue;
    writer.put('documents', row);
    touched.note(row.key, before, row);
  }
}

function rowsOf(reader: Reader, collection: CollectionId): readonly Row[] {
  const prefix = collectionPrefix(ROOT_DATABASE, collection);
  return rowsIn(reader, { by: 'key', lower: prefix, upper: after(prefix) });
}

const rowsIn = (reader: Reader, part: Pick<Range, 'by' | 'lower' | 'upper'>): readonly Row[] =>
  reader
    .range({
      space: 'documents',
      ...part,
      reverse: false,
      limit: Number.MAX_SAFE_INTEGER,
      rows: true,
    })
    .flatMap(({ row }: Entry) => row ?? []);

/** Removes what only `dropped` held. @throws Suspended */
export function dropParts(
  writer: Writer,
  dropped: readonly SetPart[],
  kept: readonly SetPart[],
  touched: Touched,
): void {
  const still = new Set(kept.map((part) => JSON.stringify(part)));
  // Nearly always all of them are kept: then nothing is looked at, however much they hold.
  const gone = dropped.filter((part) => !still.has(JSON.stringify(part)));
  const found = eachElement(gone, (part) => rowsIn(writer, partRange(part, ROOT_DATABASE))).flat();
  const isHeld = (row: Row) => kept.some((part) => isInPart(part, row, ROOT_DATABASE));
  for (const row of new Set(found)) {
    if (isHeld(row)) continue;
    writer.delete('documents', row.key);
    touched.note(row.key, row);
  }
}
