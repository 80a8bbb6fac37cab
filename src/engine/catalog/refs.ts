/** Questions about refs. */
import { NATIVE } from '../../values/value.ts';
import type { CollectionId, Ref } from '../../values/value.ts';
import { collectionRef, isNative } from './definitions.ts';

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

/** `collections()`, `keys()` and their like. */
export const isNativeCollectionRef = (ref: Ref): boolean =>
  ref.collection === NATIVE.collections && isNative(Number(ref.id));

/** What a role protects, within one database. Collections are asked for once a document: they go by their number. */
export type ResourceName = string | CollectionId;
export const resourceName = ({ collection, id }: Ref): ResourceName =>
  collection === NATIVE.collections ? Number(id) : `${collection}/${id}`;
