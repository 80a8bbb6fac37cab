/** Combines the permissions of a caller from all sources. */
import type { Caller } from '../context/caller.ts';
import type { EngineContext } from '../context/context.ts';
import { identityPermissions, memberPermissions } from './legacy-permissions.ts';
import { anyOf, builtinPermissions } from './permissions.ts';
import type { Permissions } from '../context/access-request.ts';
import { rolePermissions } from './role-permissions.ts';

export function permissionsOf(context: EngineContext, caller: Caller): Permissions {
  const { role, identity, readsOwnDocument = false } = caller;
  if (role === 'admin') return builtinPermissions(context, role);
  return anyOf([
    ...(role === 'roles' ? [] : [builtinPermissions(context, role)]),
    ...(identity ? [identityPermissions(context, identity, readsOwnDocument)] : []),
    memberPermissions(context, identity),
    // Last, because predicates may have to read documents.
    ...(role === 'roles' ? [rolePermissions(context, caller)] : []),
  ]);
}
