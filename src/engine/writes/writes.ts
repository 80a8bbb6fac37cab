/** `create`, `update`, `replace` and `delete`: permissions, positions of faults, and the order of checks. Spec: functions 1.5. */
import { unpackVersion } from '../../codec/row.ts';
import { fail } from '../../errors.ts';
import { positionOf, type QueryPath } from '../../query/query-path.ts';
import type { PastEvent, ReadTime, Writes } from '../../query/session.ts';
import { Ref, type DatabaseId } from '../../values/value.ts';
import type { CollectionId, Document, Event, ObjectValue } from '../../values/value.ts';
import type { EngineContext } from '../context/context.ts';
import { collectionRef } from '../catalog/definitions.ts';
import {
  documentOf,
  failDenied,
  failNotFound,
  fieldsOf,
  isExpired,
  keyOf,
  liveVersion,
} from '../documents/documents.ts';
import type { LiveVersion } from '../documents/documents.ts';
import { deleteCredentialsOf } from './delete-credentials.ts';
import { nextRef } from '../documents/fresh-ref.ts';
import { insertVersion, removeVersionAt } from './history-writes.ts';
import { kindOf } from './kinds.ts';
import { moveDatabase } from './move-database.ts';
import { requireReadableRefs } from './params.ts';
import { failUndefined } from '../catalog/fail-undefined.ts';
import { SCHEMA_COLLECTIONS } from '../catalog/refs.ts';
import { failExists, saveDocument } from './save.ts';
import { patchedObject } from '../../values/object-changes.ts';
import { plainObject } from '../documents/stored-values.ts';
import { deleteDocument } from '../documents/write-version.ts';
import {
  requireCollection,
  requireOwn,
  requireCreatable,
  requirePresent,
  requireRight,
  type Position,
} from './write-checks.ts';
import { NATIVE } from '../../values/native-kinds.ts';
import { isNativeCollectionRef } from '../../values/native-refs.ts';

/** The writes of one query. */
export class DocumentWrites implements Writes {
  private readonly context: EngineContext;
  private readonly home: DatabaseId;

  /** @param home database in which names of collections are resolved */
  constructor(context: EngineContext, home: DatabaseId) {
    this.context = context;
    this.home = home;
  }

  /** @param key wire key of the form; nearly all faults are reported at its position */
  create(
    target: Ref | string,
    params: ObjectValue,
    path: QueryPath,
    key: string,
    time: ReadTime,
  ): Document {
    const { context } = this;
    const position = positionOf(path, key);
    const { collection, id } = targetOf(context, this.home, target, position);
    requireReadableRefs(context, params, path);
    requirePresent(time, position);
    const data = plainObject(params, context.commitTs);
    const home = collectionRef(context.database, collection);
    requireRight(
      context,
      id === undefined
        ? { action: 'create', collection: home, data }
        : { action: 'create_with_id', collection: home, data, ref: refIn(context, collection, id) },
      position,
    );
    requireCreatable(context, collection, position);
    return createIn(context, collection, id, data, position);
  }

  update(ref: Ref, params: ObjectValue, path: QueryPath, time: ReadTime): Document {
    return this.change('update', ref, params, path, time);
  }

  replace(ref: Ref, params: ObjectValue, path: QueryPath, time: ReadTime): Document {
    return this.change('replace', ref, params, path, time);
  }

  /** Returns the deleted document. */
  delete(ref: Ref, path: QueryPath): Document {
    const { context } = this;
    const form = positionOf(path);
    const verb = positionOf(path, 'delete');
    if (isNativeCollectionRef(ref)) {
      fail('invalid argument', verb, 'Cannot delete a schema meta collection.');
    }
    requireOwn(context, ref, verb);
    const places = { missing: form, denied: form };
    const live = liveAt(context, ref) ?? failWrite(context, 'delete', ref, false, places);
    if (!context.permissions.may({ action: 'delete', ref }))
      failWrite(context, 'delete', ref, true, places);
    const document = documentOf(context, ref, live.version);
    kindOf(ref.collection).beforeDelete?.(context, ref, form);
    deleteDocument(context, ref);
    return document;
  }

  insert(event: PastEvent, path: QueryPath, time: ReadTime): Event {
    return insertVersion(this.context, event, path, time);
  }

  remove(event: PastEvent, path: QueryPath, time: ReadTime): null {
    return removeVersionAt(this.context, event, path, time);
  }

  moveDatabase(from: Ref, to: Ref, path: QueryPath): Document {
    return moveDatabase(this.context, from, to, path);
  }

  private change(
    mode: 'update' | 'replace',
    ref: Ref,
    params: ObjectValue,
    path: QueryPath,
    time: ReadTime,
  ): Document {
    const { context } = this;
    const form = positionOf(path);
    const verb = positionOf(path, mode);
    requireOwn(context, ref, verb);
    requireReadableRefs(context, params, path);
    requirePresent(time, form);
    const places = { missing: verb, denied: form };
    const live = liveAt(context, ref) ?? failWrite(context, 'write', ref, false, places);
    const previous = fieldsOf(context, ref, live.version);
    const plain = plainObject(params, context.commitTs);
    const merged = patchedObject(previous, plain);
    if (!context.permissions.may({ action: 'write', ref, old: previous, new: merged }))
      failWrite(context, 'write', ref, true, places);
    return saveDocument(context, { mode, ref, params: plain, previous }, form);
  }
}

const refIn = ({ database }: EngineContext, collection: CollectionId, id: bigint): Ref =>
  new Ref(database, collection, id);

/** Creates a document without checking permissions. @param id undefined: a new id is generated */
export function createIn(
  context: EngineContext,
  collection: CollectionId,
  id: bigint | undefined,
  params: ObjectValue,
  position: Position,
): Document {
  for (;;) {
    const ref = id === undefined ? nextRef(context, collection) : refIn(context, collection, id);
    const isFree = isFreeRef(context, ref);
    if (id === undefined)
      context.inputs.checkId?.(ref.id, isFree, () => {
        const home = collectionRef(context.database, collection);
        const { permissions } = context;
        return permissions.may({ action: 'create_with_id', collection: home, data: params, ref });
      });
    if (isFree) {
      if (id !== undefined) deleteCredentialsOf(context, ref);
      return saveDocument(context, { mode: 'create', ref, params, previous: undefined }, position);
    }
    if (id !== undefined) failExists(ref, position);
  }
}

function isFreeRef(context: EngineContext, ref: Ref): boolean {
  if (SCHEMA_COLLECTIONS.has(ref.collection)) return true;
  const row = context.reader.row({ space: 'documents', key: keyOf(ref) }, 'absent');
  return !row || isExpired(unpackVersion(String(row.value)), context.snapshot);
}

function targetOf(
  context: EngineContext,
  home: DatabaseId,
  target: Ref | string,
  position: Position,
): { readonly collection: CollectionId; readonly id: bigint | undefined } {
  const ref =
    typeof target === 'string' ? context.schema(home).byName('collections', target)?.ref : target;
  if (!ref) return failUndefined(context, 'collections', target, position);
  requireOwn(context, ref, position);
  const isCollection = ref.collection === NATIVE.collections;
  const collection = isCollection ? Number(ref.id) : ref.collection;
  requireCollection(context, collection, position);
  if (isCollection) return { collection, id: undefined };
  // The engine assigns the ids of schema objects, so a ref to a schema object means that it exists.
  if (SCHEMA_COLLECTIONS.has(collection)) return failExists(ref, position);
  return { collection, id: ref.id };
}

const liveAt = (context: EngineContext, ref: Ref): LiveVersion | undefined =>
  isNativeCollectionRef(ref) ? undefined : liveVersion(context, ref, 'present');

/**
 * Fails a write. To a caller who may not read the document, an existing document and a missing one must look the same: the error is
 * `permission denied` if a role has a rule that could have allowed the write, otherwise `instance not found`.
 */
function failWrite(
  context: EngineContext,
  rule: 'write' | 'delete',
  ref: Ref,
  isThere: boolean,
  { missing, denied }: { readonly missing: Position; readonly denied: Position },
): never {
  const { permissions } = context;
  const isDenied = permissions.may({ action: 'read', ref })
    ? isThere
    : permissions.may({ action: 'has_rule', rule, ref });
  return isDenied ? failDenied(denied) : failNotFound(context, ref, missing);
}
