/** Sequences of the ids of schema objects: ascending, and never reused. */
import { packVersion, unpackVersion } from '../../codec/row.ts';
import { Ref } from '../../values/value.ts';
import type { CollectionId, DatabaseId } from '../../values/value.ts';
import type { EngineContext } from '../context/context.ts';
import { ROOT_DATABASE } from '../catalog/databases.ts';
import { fieldsOf, keyOf } from './documents.ts';
import { bodyOf } from './stored-values.ts';
import { writerOf } from './version-rows.ts';
import { NATIVE, nativeKind } from '../../values/native-kinds.ts';

/**
 * Number of an internal collection without a name. Each of its documents has the number of a native collection as its id, and stores the
 * last id that was used in that collection.
 */
export const SEQUENCES: CollectionId = 0;

/** The next id in a native collection. Databases are numbered across the whole store. */
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
  // No history is written: past values of a counter are not needed.
  writer.put('documents', { key: keyOf(ref), entries: [], value });
  return next;
}
