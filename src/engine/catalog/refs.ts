/** Helpers for refs. */
import type { CollectionId, Ref } from '../../values/value.ts';
import { collectionRef } from './definitions.ts';
import { NATIVE, nativeNumbers } from '../../values/native-kinds.ts';

export const isSameRef = (a: Ref, b: Ref): boolean =>
  a.id === b.id && a.collection === b.collection && a.database === b.database;

/** The ref of the collection that contains a document. */
export const collectionOfDocument = (ref: Ref): Ref => collectionRef(ref.database, ref.collection);

/** Native collections whose members have names. */
export const SCHEMA_COLLECTIONS: ReadonlySet<CollectionId> = nativeNumbers((kind) => kind.isNamed);

/** Identifies a resource of a role within one database. Collections are looked up for each document, so they are identified by a number. */
export type ResourceName = string | CollectionId;
export const resourceName = ({ collection, id }: Ref): ResourceName =>
  collection === NATIVE.collections ? Number(id) : `${collection}/${id}`;
