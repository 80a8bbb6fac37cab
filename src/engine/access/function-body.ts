/** Finds the stored function that a query calls, and the permissions with which it runs. Spec: functions 4.6, auth 3.3. */
import { positionOf, type QueryPath } from '../../query/query-path.ts';
import type { DatabaseId, Lambda, Ref, Value } from '../../values/value.ts';
import { isBuiltinRole, type Caller } from '../context/caller.ts';
import { permissionsOf } from './caller-permissions.ts';
import type { Permissions } from '../context/access-request.ts';
import type { EngineContext } from '../context/context.ts';
import type { FunctionDefinition } from '../catalog/definitions.ts';
import { failUndefined } from '../catalog/fail-undefined.ts';
import { failDenied } from '../documents/documents.ts';
import { NATIVE } from '../../values/native-kinds.ts';

export interface FunctionBody {
  readonly lambda: Lambda;
  /** Permissions of the function's role, if it has one. The caller's identity does not change. */
  readonly permissions: Permissions | undefined;
  /** The function's own database, in which names in its body are resolved. */
  readonly database: DatabaseId;
}

/**
 * @param home database in which the name of the function is looked up
 * @throws QueryFailure `invalid ref` at `[call]`, `permission denied` at the form
 */
export function functionBody(
  context: EngineContext,
  home: DatabaseId,
  nameOrRef: string | Ref,
  argument: Value,
  path: QueryPath,
): FunctionBody {
  const definition = functionToCall(context, home, nameOrRef, path);
  if (!context.permissions.may({ action: 'call', function: definition, argument })) {
    failDenied(positionOf(path));
  }
  const permissions = permissionsOfRole(context, definition);
  return { lambda: definition.body, permissions, database: definition.ref.database };
}

function functionToCall(
  context: EngineContext,
  home: DatabaseId,
  nameOrRef: string | Ref,
  path: QueryPath,
): FunctionDefinition {
  const ref =
    typeof nameOrRef === 'string'
      ? context.schema(home).byName('functions', nameOrRef)?.ref
      : nameOrRef;
  const found =
    ref?.collection === NATIVE.functions
      ? context.schema(ref.database).byId('functions', ref.id)
      : undefined;
  return found ?? failUndefined(context, 'functions', nameOrRef, positionOf(path, 'call'));
}

function permissionsOfRole(
  context: EngineContext,
  { ref, role }: FunctionDefinition,
): Permissions | undefined {
  if (role === undefined) return undefined;
  const { caller } = context;
  const { database } = ref;
  const schema = context.schema(database);
  const custom =
    typeof role === 'string' ? schema.byName('roles', role) : schema.byId('roles', role.id);
  const inRole: Caller = {
    ...caller,
    role: isBuiltinRole(role) ? role : 'roles',
    roles: custom ? [custom.ref] : [],
    // With these, the caller's own roles would be added.
    identity: undefined,
    grant: undefined,
  };
  return permissionsOf({ ...context, database }, inRole);
}
