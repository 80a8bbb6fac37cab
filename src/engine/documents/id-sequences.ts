/** Sequences of ids of schema objects: ascending, and never used twice. */
import { packVersion, unpackVersion } from '../../codec/row.ts';
import { Ref } from '../../values/value.ts';
import type { CollectionId, DatabaseId } from '../../values/value.ts';
import type { EngineContext } from '../context/context.ts';
import { ROOT_DATABASE } from '../catalog/databases.ts';
import { fieldsOf, keyOf } from './documents.ts';
import { bodyOf } from './stored-values.ts';
import { writerOf } from './version-rows.ts';
import { NATIVE, nativeKind } from '../../values/native-kinds.ts';

/** A collection without a name: its ids are the numbers of native collections, its documents hold the last id given there. */
export const SEQUENCES: CollectionId = 0;

/** The next number in a native collection. Databases are numbered over the whole store. */
export function nextInSequence(
  context: EngineContext,
  database: DatabaseId,
  collection: CollectionId,
): number {
  const writer = writerOf(context);
  const home = collection === NATIVE.databases ? ROOT_DATABASE : database;
  const ref = new Ref(home, SEQUENCES, BigInt(collection));
  const row = writer.row({ space: 'documents', key: keyOf(ref) });
  const last = row && fieldsOf(context, ref, unpackVersion(String(row.value))).get('last');
  const next = typeof last === 'number' ? last + 1 : (nativeKind(collection)?.firstNumber ?? 1);
  const fields = new Map([['last', next]]);
  const value = packVersion({
    ts: context.commitTs,
    action: last === undefined ? 'create' : 'update',
    ttl: undefined,
    added: undefined,
    ...bodyOf(fields, home),
  });
  // The past of a counter is of no use: it goes on from where it is.
  writer.put('documents', { key: keyOf(ref), entries: [], value });
  return next;
}
