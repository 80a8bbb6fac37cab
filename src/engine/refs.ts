/** Questions about refs. */
import { NATIVE, Ref } from '../values/value.ts';
import type { CollectionId } from '../values/value.ts';
import { collectionRef } from './definitions.ts';

export const isSameRef = (a: Ref, b: Ref): boolean =>
  a.id === b.id && a.collection === b.collection && a.database === b.database;

/** The ref of the collection a document is in. */
export const collectionOfDocument = (ref: Ref): Ref => collectionRef(ref.database, ref.collection);

/** Collections whose members are known by name. */
export const SCHEMA_COLLECTIONS: ReadonlySet<CollectionId> = new Set([
  NATIVE.collections,
  NATIVE.databases,
  NATIVE.indexes,
  NATIVE.functions,
  NATIVE.roles,
  NATIVE.access_providers,
]);
