/** `move_database`: gives a database another parent. The rows of its contents do not move. Spec: functions 1.5. */
import { fail } from '../../errors.ts';
import { positionOf, type QueryPath } from '../../query/query-path.ts';
import { Ref } from '../../values/value.ts';
import type { Document } from '../../values/value.ts';
import type { EngineContext } from '../context/context.ts';
import {
  databaseById,
  databaseByName,
  databaseIdOf,
  databasePath,
  isWithin,
} from '../catalog/databases.ts';
import {
  documentOf,
  failDenied,
  failNotFound,
  fieldsOf,
  liveVersion,
} from '../documents/documents.ts';
import { deleteDocument, writeVersion } from '../documents/write-version.ts';
import { NATIVE } from '../../values/native-kinds.ts';

export function moveDatabase(
  context: EngineContext,
  from: Ref,
  to: Ref,
  queryPath: QueryPath,
): Document {
  const position = positionOf(queryPath);
  const target = databaseIdOf(to);
  const live = liveVersion(context, from, 'present') ?? failNotFound(context, from, position);
  if (!liveVersion(context, to, 'present')) failNotFound(context, to, positionOf(queryPath, 'to'));
  // Permission to delete is defined only for the caller's own database, so it is checked with a ref there. Databases further down belong to
  // an administrator, who can read them; roles never apply to them.
  const probe = new Ref(context.database, NATIVE.databases, from.id);
  const isReached = [from, to].every(
    (ref) =>
      isWithin(context.reader, ref.database, context.database) &&
      (ref.database === context.database || context.permissions.may({ action: 'read', ref })),
  );
  if (!isReached || !context.permissions.may({ action: 'delete', ref: probe })) {
    failDenied(position);
  }
  const fields = fieldsOf(context, from, live.version);
  const name = databaseById(context.reader, databaseIdOf(from))?.name ?? '';
  const path = databasePath(context.reader, target) ?? [];
  const reason = path.some((each) => each.id === databaseIdOf(from))
    ? 'it is the database itself or below it.'
    : from.database !== target && databaseByName(context.reader, target, name)
      ? 'it has a database of that name.'
      : undefined;
  if (reason !== undefined) {
    const parent = path.at(-1)?.name ?? '';
    const text = `Cannot move database '${name}' into parent '${parent}': ${reason}`;
    fail('move database error', position, text);
  }
  const moved = new Ref(target, NATIVE.databases, from.id);
  if (target !== from.database) deleteDocument(context, from);
  const version = writeVersion(context, moved, fields, position);
  return documentOf(context, moved, version);
}
