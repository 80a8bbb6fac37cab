/** Stores the schema that the hub has sent, and updates index entries where indexes have changed. */
import { collectionPrefix, decodeDocumentKey } from '../../../codec/key.ts';
import { prefixRange } from '../../../codec/ranges.ts';
import { unpackVersion } from '../../../codec/row.ts';
import type { EngineContext } from '../../../engine/context.ts';
import { ROOT_DATABASE, type IndexDefinition } from '../../../engine/catalog.ts';
import { eachElement } from '../../../query/collect-needs.ts';
import type { Row } from '../../../store/port.ts';
import type { Reader, Writer } from '../../../store/reader.ts';
import { Ref, type CollectionId } from '../../../values/value.ts';
import { NATIVE } from '../../../values/native-kinds.ts';
import type { PulledDocument } from '../../protocol/identifiers.ts';
import type { ChangedKeys } from '../rebase/changed-keys.ts';
import {
  documentsIn,
  keyOfDocument,
  putConfirmed,
  putVersion,
  removeRows,
} from './confirmed-documents.ts';

/** Collections of the schema objects that a hub sends. */
const SCHEMA = [NATIVE.collections, NATIVE.indexes, NATIVE.functions, NATIVE.roles] as const;

/** Replaces the stored schema. @throws Suspended */
export function putSchema(
  context: EngineContext,
  writer: Writer,
  documents: readonly PulledDocument[],
  changed: ChangedKeys,
): void {
  const wanted = new Set(documents.map(keyOfDocument));
  const present = eachElement(SCHEMA, (collection) => documentsOf(writer, collection)).flat();
  const schema = context.schema(ROOT_DATABASE);
  const before = new Map(schema.all('indexes').map(({ id, ts }) => [id, ts]));
  removeRows(
    writer,
    present.filter(({ key }) => !wanted.has(key)),
    changed,
  );
  putConfirmed(context, writer, documents, changed);
  schema.forget();
  const indexes = schema.all('indexes').filter(({ id, ts }) => before.get(id) !== ts);
  for (const collection of collectionsOf(context, indexes))
    updateEntries(context, writer, collection, changed);
}

function collectionsOf(
  context: EngineContext,
  indexes: readonly IndexDefinition[],
): ReadonlySet<CollectionId> {
  const all = context.schema(ROOT_DATABASE).all('collections');
  const sources = indexes.flatMap((index) => index.sources);
  return new Set(
    sources.flatMap(({ collections }) =>
      collections === 'all' ? all.map(({ id }) => id) : [...collections],
    ),
  );
}

function updateEntries(
  context: EngineContext,
  writer: Writer,
  collection: CollectionId,
  changed: ChangedKeys,
): void {
  for (const before of documentsOf(writer, collection)) {
    const { id } = decodeDocumentKey(before.key);
    const ref = new Ref(ROOT_DATABASE, collection, id);
    const version = unpackVersion(String(before.value));
    putVersion(context, writer, { ref, version, before }, changed);
  }
}

const documentsOf = (reader: Reader, collection: CollectionId): readonly Row[] =>
  documentsIn(reader, prefixRange(collectionPrefix(ROOT_DATABASE, collection)));
