/** Prevents the deletion of a role that is still used. Spec: auth 3.1. */
import { unpackVersion } from '../../codec/row.ts';
import { refOfKey } from '../../codec/key.ts';
import type { Step } from '../../errors.ts';
import { isKind, isObject, type Ref } from '../../values/value.ts';
import type { Value } from '../../values/value.ts';
import type { EngineContext } from '../context/context.ts';
import { oneOrMany } from '../catalog/definitions.ts';
import { fieldsOf, isExpired, kindName } from '../documents/documents.ts';
import { rowsOf } from '../catalog/native-rows.ts';
import { failValidation } from './params.ts';
import { isSameRef } from '../catalog/refs.ts';

/**
 * Requires at the end of the query that no function, access provider or key uses the deleted role. While the query runs, some may.
 * @throws QueryFailure `validation failed`, at the end of the query, at the position of the deletion
 */
export function requireRoleUnused(
  context: EngineContext,
  role: Ref,
  position: readonly Step[],
): void {
  const name = context.schema(role.database).byId('roles', role.id)?.name;
  if (name !== undefined) context.atEnd.push(() => requireNoUser(context, role, name, position));
}

function requireNoUser(
  context: EngineContext,
  role: Ref,
  name: string,
  position: readonly Step[],
): void {
  const isNamedAgain = context
    .schema(role.database)
    .all('roles')
    .some((each) => each.name === name);
  const user = userOf(context, role, (value) =>
    isKind(value, 'ref') ? isSameRef(value, role) : value === name && !isNamedAgain,
  );
  if (!user) return;
  const description = `Role '${name}' is used by ${kindName(user.ref)} '${user.name}'.`;
  failValidation([{ field: ['name'], code: 'invalid reference', description }], position);
}

interface User {
  readonly ref: Ref;
  readonly name: string;
}

function userOf(
  context: EngineContext,
  role: Ref,
  isRole: (value: Value) => boolean,
): User | undefined {
  const has = (value: Value | undefined) =>
    oneOrMany(value).some((each) => isRole(isObject(each) ? (each.get('role') ?? null) : each));
  const schema = context.schema(role.database);
  const byName =
    schema.all('functions').find(({ fields }) => has(fields.get('role'))) ??
    schema.all('access_providers').find(({ fields }) => has(fields.get('roles')));
  return byName ?? keyWith(context, role, has);
}

function keyWith(
  context: EngineContext,
  { database }: Ref,
  has: (value: Value | undefined) => boolean,
): User | undefined {
  for (const row of rowsOf(context, database, 'keys')) {
    const version = unpackVersion(String(row.value));
    if (isExpired(version, context.snapshot)) continue;
    const ref = refOfKey(row.key);
    const fields = fieldsOf(context, ref, version);
    // Role names of a key for a child database refer to roles of that child.
    const roles = fields.has('database')
      ? oneOrMany(fields.get('role')).filter((each) => typeof each !== 'string')
      : fields.get('role');
    if (has(roles)) return { ref, name: String(ref.id) };
  }
  return undefined;
}
