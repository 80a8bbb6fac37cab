/** Questions about refs. */
import type { CollectionId, Ref } from '../../values/value.ts';
import { collectionRef } from './definitions.ts';
import { NATIVE, nativeNumbers } from '../../values/native-kinds.ts';

export const isSameRef = (a: Ref, b: Ref): boolean =>
  a.id === b.id && a.collection === b.collection && a.database === b.database;

/** The ref of the collection a document is in. */
export const collectionOfDocument = (ref: Ref): Ref => collectionRef(ref.database, ref.collection);

/** Collections whose members are known by name. */
export const SCHEMA_COLLECTIONS: ReadonlySet<CollectionId> = nativeNumbers((kind) => kind.isNamed);

/** What a role protects, within one database. Collections are looked up for each document, so they are named by their number. */
export type ResourceName = string | CollectionId;
export const resourceName = ({ collection, id }: Ref): ResourceName =>
  collection === NATIVE.collections ? Number(id) : `${collection}/${id}`;
