/** Checks that several writes share, with the positions at which their faults are reported. */
import { fail, type Step } from '../../errors.ts';
import { isAtLeast, type ReadTime } from '../../query/session.ts';
import type { CollectionId, Ref } from '../../values/value.ts';
import type { AccessRequest } from '../context/access-request.ts';
import { failUndefined } from '../catalog/fail-undefined.ts';
import type { EngineContext } from '../context/context.ts';
import { failDenied } from '../documents/documents.ts';
import { kindOf } from './kinds.ts';
import { isAllowedInContainer, isContainer } from './validate-databases.ts';

export type Position = readonly Step[];

export function requireOwn(context: EngineContext, ref: Ref, position: Position): void {
  if (ref.database === context.database) return;
  fail('invalid argument', position, 'Cannot write a scoped ref.');
}

export function requirePresent(time: ReadTime, position: Position): void {
  if (time !== 'present') failWriteTime(position);
}

export const failWriteTime = (position: Position): never =>
  fail('invalid write time', position, 'Cannot write outside of snapshot time.');

export function requireRight(
  context: EngineContext,
  request: AccessRequest,
  position: Position,
): void {
  if (!context.permissions.may(request)) failDenied(position);
}

export function requireCreatable(
  context: EngineContext,
  collection: CollectionId,
  position: Position,
): void {
  if (!isAllowedInContainer(collection) && isContainer(context)) {
    fail('invalid object in container', position, 'Object is not allowed in a container');
  }
  const { apiVersion, database } = context;
  if (isAtLeast(apiVersion, '5') && !context.schema(database).hadCollection(collection))
    fail('invalid ref', position, NEW_COLLECTION);
  kindOf(collection).requireCreatable?.(context, position);
}

/** Spec: values 1. */
const NEW_COLLECTION =
  'The collection is created by this query: create documents in it with the next query.';

/** @throws QueryFailure `invalid ref` */
export function requireCollection(
  context: EngineContext,
  collection: CollectionId,
  position: Position,
): void {
  const { database } = context;
  if (context.schema(database).collection(collection)) return;
  failUndefined(context, 'collections', { database, id: BigInt(collection) }, position);
}
