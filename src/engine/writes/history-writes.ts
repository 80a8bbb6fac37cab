/** `insert` and `remove`: change past versions of a document. Spec: functions 1.5. */
import { fail } from '../../errors.ts';
import { positionOf, type QueryPath } from '../../query/query-path.ts';
import type { PastEvent, ReadTime } from '../../query/session.ts';
import { isObject } from '../../values/value.ts';
import type { ActionName, Event, Micros, ObjectValue, Ref } from '../../values/value.ts';
import { NATIVE, isNative } from '../../values/native-kinds.ts';
import { objectWithoutNulls } from '../../values/object-changes.ts';
import type { EngineContext } from '../context/context.ts';
import { versionsOf } from '../documents/document-events.ts';
import { fieldsOf, liveVersion } from '../documents/documents.ts';
import { removeVersion, rewriteHistory } from '../documents/history-rewrite.ts';
import { plainObject } from '../documents/stored-values.ts';
import { deleteCredentialsOf } from './delete-credentials.ts';
import { requireReadableRefs } from './params.ts';
import { checkedFields } from './save.ts';
import {
  requireCollection,
  failWriteTime,
  requireOwn,
  requireCreatable,
  requirePresent,
  requireRight,
} from './write-checks.ts';

/** Whether the action denotes the deletion of a document. All other actions denote a version. */
const isEnd = (action: ActionName): boolean => action === 'delete' || action === 'remove';

export function insertVersion(
  context: EngineContext,
  event: PastEvent,
  path: QueryPath,
  time: ReadTime,
): Event {
  const { ref, action, params = NO_PARAMS } = event;
  const form = positionOf(path);
  if (isNative(ref.collection) && ref.collection !== NATIVE.keys) {
    fail('invalid argument', form, 'Cannot insert event for specified ref.');
  }
  const at = requirePast(context, 'insert', event, path, time);
  const plain = plainObject(params, context.commitTs);
  const data = objectWithoutNulls(plain);
  requireRight(context, { action: 'history_write', ref, ts: at, kind: action, data }, form);
  requireCreatable(context, ref.collection, form);
  if (isEnd(action)) {
    rewriteHistory(context, ref, { ts: at, fields: undefined });
    return { kind: 'event', ts: at, action: 'delete', document: ref, data: null };
  }
  const change = { mode: 'insert', ref, params: plain, previous: undefined } as const;
  const fields = checkedFields(context, change, form);
  rewriting(context, ref, () => rewriteHistory(context, ref, { ts: at, fields }));
  const shown = fields.get('data');
  const isShown = shown !== undefined && isObject(shown);
  return { kind: 'event', ts: at, action: 'create', document: ref, data: isShown ? shown : null };
}

export function removeVersionAt(
  context: EngineContext,
  event: PastEvent,
  path: QueryPath,
  time: ReadTime,
): null {
  const { ref, action } = event;
  const form = positionOf(path);
  if (isNative(ref.collection)) {
    fail('invalid argument', form, 'Cannot remove event for specified ref.');
  }
  const at = requirePast(context, 'remove', event, path, time);
  const version = versionsOf(context, ref).find((each) => each.ts === at);
  const data = version ? fieldsOf(context, ref, version) : NO_PARAMS;
  requireRight(context, { action: 'history_write', ref, ts: at, kind: action, data }, form);
  rewriting(context, ref, () => removeVersion(context, ref, at, isEnd(action) ? 'end' : 'live'));
  return null;
}

/** Runs a rewrite. If the document exists because of it, old tokens and credentials of its id are deleted, as when it is created. */
function rewriting(context: EngineContext, ref: Ref, rewrite: () => void): void {
  const wasLive = liveVersion(context, ref, 'present');
  rewrite();
  if (!wasLive && liveVersion(context, ref, 'present')) deleteCredentialsOf(context, ref);
}

const NO_PARAMS: ObjectValue = new Map();

/** Times before this one are cast to it, so no version may have it. */
const CLAMPED = Number.MIN_SAFE_INTEGER;

function requirePast(
  context: EngineContext,
  verb: 'insert' | 'remove',
  { ref, ts, params = NO_PARAMS }: PastEvent,
  path: QueryPath,
  time: ReadTime,
): Micros {
  const form = positionOf(path);
  requireOwn(context, ref, positionOf(path, verb));
  requireReadableRefs(context, params, path);
  requirePresent(time, form);
  requireCollection(context, ref.collection, positionOf(path, verb));
  if (typeof ts !== 'number') return context.commitTs;
  if (verb === 'insert' && ts > context.snapshot) failWriteTime(form);
  if (verb === 'insert' && ts === CLAMPED)
    fail('invalid write time', form, 'Cannot write before 1684-07-28.');
  return ts;
}
