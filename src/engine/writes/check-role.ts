/** Checks references to roles: the `role` of functions and keys, and the roles of access providers. */
import { isArray, isKind } from '../../values/value.ts';
import type { Value } from '../../values/value.ts';
import { isBuiltinRole } from '../context/caller.ts';
import type { Schema } from '../catalog/schema.ts';
import { refuse, refuseReference, refuseType, type Draft } from './draft.ts';
import { NATIVE } from '../../values/native-kinds.ts';

/** `role` must be a builtin role, the name of a role in `names`, or the ref of a role. */
export function checkRole(
  draft: Draft,
  role: Value,
  field: readonly (string | number)[],
  names: Schema,
): void {
  if (typeof role === 'string') {
    if (isBuiltinRole(role) || names.namedNow('roles', role)) return;
    refuse(draft, field, 'validation failure', `Role '${role}' does not exist.`);
  } else checkRoleRef(draft, role, field);
}

export function checkRoleRef(draft: Draft, role: Value, field: readonly (string | number)[]): void {
  if (!isKind(role, 'ref') || role.collection !== NATIVE.roles) {
    refuseType(draft, field, role, 'String or Role Ref');
  } else if (!draft.context.schema(role.database).byId('roles', role.id)) {
    refuseReference(draft, field);
  }
}

/** `role` of a key: one role, as for a function, or an array of user-defined roles. */
export function checkKeyRole(draft: Draft, role: Value, names: Schema): void {
  if (!isArray(role)) {
    checkRole(draft, role, ['role'], names);
    return;
  }
  role.forEach((each, i) => {
    if (isBuiltinRole(each)) {
      refuse(draft, ['role', i], 'validation failure', `Builtin role '${each}' must stand alone.`);
    } else checkRole(draft, each, ['role', i], names);
  });
}
