/** Refs for new documents. */
import { Ref } from '../../values/value.ts';
import type { CollectionId } from '../../values/value.ts';
import type { EngineContext } from '../context/context.ts';
import { nextInSequence } from './id-sequences.ts';
import { SCHEMA_COLLECTIONS } from '../catalog/refs.ts';

/** An unused ref in this database. In collections that number their members it is certainly unused, in others very likely. */
export function nextRef(context: EngineContext, collection: CollectionId): Ref {
  const { database } = context;
  return SCHEMA_COLLECTIONS.has(collection)
    ? new Ref(database, collection, BigInt(nextInSequence(context, database, collection)))
    : new Ref(database, collection, context.inputs.newId());
}
