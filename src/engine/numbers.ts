/** Numbers of schema objects: given in order, never given again. */
import { documentKey } from '../codec/key.ts';
import { NATIVE } from '../values/value.ts';
import type { CollectionId, DatabaseId } from '../values/value.ts';
import type { EngineContext } from './context.ts';
import { ROOT_DATABASE } from './databases.ts';
import { FIRST_USER_COLLECTION, FIRST_USER_INDEX } from './definitions.ts';
import { writerOf } from './version-rows.ts';

/** Its rows are no documents: the id is a native collection's number, the value the last number given in it. */
export const NUMBERS_COLLECTION: CollectionId = 0;

const FIRST: ReadonlyMap<CollectionId, number> = new Map([
  [NATIVE.collections, FIRST_USER_COLLECTION],
  [NATIVE.indexes, FIRST_USER_INDEX],
]);

/** The next number in a native collection. Databases are numbered over the whole store. */
export function nextNumber(
  context: EngineContext,
  database: DatabaseId,
  collection: CollectionId,
): number {
  const writer = writerOf(context);
  const home = collection === NATIVE.databases ? ROOT_DATABASE : database;
  const key = documentKey(home, NUMBERS_COLLECTION, BigInt(collection));
  const last = writer.row({ space: 'documents', key });
  const next = last ? Number(last.value) + 1 : (FIRST.get(collection) ?? 1);
  writer.put('documents', { key, entries: [], value: String(next) });
  return next;
}
