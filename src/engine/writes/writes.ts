/** `create`, `update`, `replace`, `delete`, `insert`, `remove`: rights, places of faults, order of checks. Spec: functions 1.5. */
import { unpackVersion } from '../../codec/row.ts';
import { fail, type Step } from '../../errors.ts';
import { undefinedRef } from '../../fault-texts.ts';
import { positionOf, type QueryPath } from '../../query/query-path.ts';
import type { ReadTime } from '../../query/session.ts';
import { Ref, isObject } from '../../values/value.ts';
import type {
  ActionName,
  CollectionId,
  Document,
  Event,
  Micros,
  ObjectValue,
  PendingTime,
} from '../../values/value.ts';
import type { EngineContext } from '../context/context.ts';
import { collectionRef } from '../catalog/definitions.ts';
import { versionsOf } from '../documents/document-events.ts';
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
import { endCredentialsOf } from './end-credentials.ts';
import { nextRef } from '../documents/fresh-ref.ts';
import { removeVersion, rewriteHistory } from '../documents/history-rewrite.ts';
import { kindOf } from './kinds.ts';
import { requireReadableRefs } from './params.ts';
import type { AccessRequest } from '../context/access-request.ts';
import { SCHEMA_COLLECTIONS } from '../catalog/refs.ts';
import { checkedFields, failExists, saveDocument } from './save.ts';
import { objectWithoutNulls, patchedObject } from '../../values/object-changes.ts';
import { plainObject } from '../documents/stored-values.ts';
import { isAllowedInContainer, isContainer } from './validate-databases.ts';
import { endDocument } from '../documents/write-version.ts';
import { NATIVE, isNative } from '../../values/native-kinds.ts';
import { isNativeCollectionRef } from '../../values/native-refs.ts';

type Position = readonly Step[];

// --- create -------------------------------------------------------------------------------------

/** @param key wire key of the form: the position of nearly all faults */
export function createDocument(
  context: EngineContext,
  target: Ref | string,
  params: ObjectValue,
  path: QueryPath,
  key: string,
  time: ReadTime,
): Document {
  const position = positionOf(path, key);
  const { collection, id } = targetOf(context, target, position);
  requireReadableRefs(context, params, path);
  requirePresent(time, position);
  const plain = plainObject(params, context.commitTs);
  const data = objectWithoutNulls(plain);
  const home = collectionRef(context.database, collection);
  requireRight(
    context,
    id === undefined
      ? { action: 'create', collection: home, data }
      : { action: 'create_with_id', collection: home, data, ref: refIn(context, collection, id) },
    position,
  );
  requirePossible(context, collection, position);
  return createIn(context, collection, id, plain, position);
}

const refIn = ({ database }: EngineContext, collection: CollectionId, id: bigint): Ref =>
  new Ref(database, collection, id);

/** Creates without asking for rights. @param id undefined: a fresh one */
export function createIn(
  context: EngineContext,
  collection: CollectionId,
  id: bigint | undefined,
  params: ObjectValue,
  position: Position,
): Document {
  for (;;) {
    const ref = id === undefined ? nextRef(context, collection) : refIn(context, collection, id);
    if (isFreeRef(context, ref)) {
      if (id !== undefined) endCredentialsOf(context, ref);
      return saveDocument(context, { mode: 'create', ref, params, previous: undefined }, position);
    }
    if (id !== undefined) failExists(ref, position);
  }
}

function isFreeRef(context: EngineContext, ref: Ref): boolean {
  if (SCHEMA_COLLECTIONS.has(ref.collection)) return true;
  const row = context.reader.rowAssumedAbsent({ space: 'documents', key: keyOf(ref) });
  return !row || isExpired(unpackVersion(String(row.value)), context.snapshot);
}

function targetOf(
  context: EngineContext,
  target: Ref | string,
  position: Position,
): { readonly collection: CollectionId; readonly id: bigint | undefined } {
  const schema = context.schema(context.database);
  if (typeof target === 'string') {
    const found = schema.byName('collections', target);
    return found ? { collection: found.id, id: undefined } : failNoCollection(target, position);
  }
  requireOwn(context, target, position);
  const isCollection = target.collection === NATIVE.collections;
  const collection = isCollection ? Number(target.id) : target.collection;
  if (!schema.collection(collection)) return failNoCollection(String(collection), position);
  if (isCollection) return { collection, id: undefined };
  // Schema objects are numbered by us: a ref to one is a ref to one that is there.
  if (SCHEMA_COLLECTIONS.has(collection)) return failExists(target, position);
  return { collection, id: target.id };
}

const failNoCollection = (name: string, position: Position): never =>
  fail('invalid ref', position, undefinedRef('collection', name));

function requirePossible(
  context: EngineContext,
  collection: CollectionId,
  position: Position,
): void {
  if (!isAllowedInContainer(collection) && isContainer(context)) {
    fail('invalid object in container', position, 'Object is not allowed in a container');
  }
  kindOf(collection).requirePossible?.(context, position);
}

// --- update, replace, delete --------------------------------------------------------------------

export function changeDocument(
  context: EngineContext,
  mode: 'update' | 'replace',
  ref: Ref,
  params: ObjectValue,
  path: QueryPath,
  time: ReadTime,
): Document {
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

/** Returns what was there. */
export function deleteDocument(context: EngineContext, ref: Ref, path: QueryPath): Document {
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
  endDocument(context, ref);
  return document;
}

const liveAt = (context: EngineContext, ref: Ref): LiveVersion | undefined =>
  isNativeCollectionRef(ref) ? undefined : liveVersion(context, ref, 'present');

/**
 * To a caller who may not read it, a document that is there and one that is not look alike: denied to those for whom a role has a
 * rule that could have let them, else not there.
 */
function failWrite(
  context: EngineContext,
  deed: 'write' | 'delete',
  ref: Ref,
  isThere: boolean,
  { missing, denied }: { readonly missing: Position; readonly denied: Position },
): never {
  const { permissions } = context;
  const isDenied = permissions.may({ action: 'read', ref })
    ? isThere
    : permissions.may({ action: 'has_rule', deed, ref });
  return isDenied ? failDenied(denied) : failNotFound(context, ref, missing);
}

// --- insert, remove -----------------------------------------------------------------------------

/** `delete` means the end of a document, every other action a version of it. */
const isEnd = (action: ActionName): boolean => action === 'delete' || action === 'remove';

export function insertVersion(
  context: EngineContext,
  ref: Ref,
  ts: Micros | PendingTime,
  action: ActionName,
  params: ObjectValue,
  path: QueryPath,
  time: ReadTime,
): Event {
  const form = positionOf(path);
  if (isNative(ref.collection) && ref.collection !== NATIVE.keys) {
    fail('invalid argument', form, 'Cannot insert event for specified ref.');
  }
  const at = requirePast(context, ref, ts, 'insert', params, path, time);
  const plain = plainObject(params, context.commitTs);
  const data = objectWithoutNulls(plain);
  requireRight(context, { action: 'history_write', ref, ts: at, kind: action, data }, form);
  requirePossible(context, ref.collection, form);
  if (isEnd(action)) {
    rewriteHistory(context, ref, { ts: at, fields: undefined });
    return { kind: 'event', ts: at, action: 'delete', document: ref, data: null };
  }
  const change = { mode: 'insert', ref, params: plain, previous: undefined } as const;
  const fields = checkedFields(context, change, form);
  rewriteHistory(context, ref, { ts: at, fields });
  const shown = fields.get('data');
  const isShown = shown !== undefined && isObject(shown);
  return { kind: 'event', ts: at, action: 'create', document: ref, data: isShown ? shown : null };
}

export function removeVersionOf(
  context: EngineContext,
  ref: Ref,
  ts: Micros | PendingTime,
  action: ActionName,
  path: QueryPath,
  time: ReadTime,
): null {
  const form = positionOf(path);
  if (isNative(ref.collection)) {
    fail('invalid argument', form, 'Cannot remove event for specified ref.');
  }
  const at = requirePast(context, ref, ts, 'remove', NO_PARAMS, path, time);
  const version = versionsOf(context, ref).find((each) => each.ts === at);
  const data = version ? fieldsOf(context, ref, version) : NO_PARAMS;
  requireRight(context, { action: 'history_write', ref, ts: at, kind: action, data }, form);
  removeVersion(context, ref, at, isEnd(action) ? 'end' : 'live');
  return null;
}

const NO_PARAMS: ObjectValue = new Map();

function requirePast(
  context: EngineContext,
  ref: Ref,
  ts: Micros | PendingTime,
  verb: 'insert' | 'remove',
  params: ObjectValue,
  path: QueryPath,
  time: ReadTime,
): Micros {
  const form = positionOf(path);
  requireOwn(context, ref, positionOf(path, verb));
  requireReadableRefs(context, params, path);
  requirePresent(time, form);
  if (!context.schema(context.database).collection(ref.collection)) {
    failNoCollection(String(ref.collection), positionOf(path, verb));
  }
  if (typeof ts !== 'number') return context.commitTs;
  if (verb === 'insert' && ts > context.snapshot) failWriteTime(form);
  return ts;
}

// --- checks -------------------------------------------------------------------------------------

function requireOwn(context: EngineContext, ref: Ref, position: Position): void {
  if (ref.database === context.database) return;
  fail('invalid argument', position, 'Cannot write a scoped ref.');
}

export function requirePresent(time: ReadTime, position: Position): void {
  if (time !== 'present') failWriteTime(position);
}

const failWriteTime = (position: Position): never =>
  fail('invalid write time', position, 'Cannot write outside of snapshot time.');

function requireRight(context: EngineContext, request: AccessRequest, position: Position): void {
  if (!context.permissions.may(request)) failDenied(position);
}
