/** Functions and access providers. Spec: sets 1.1; auth 1.2, 2.4. */
import { fail } from '../../errors.ts';
import { isArray, isKind, isObject } from '../../values/value.ts';
import type { Value } from '../../values/value.ts';
import { audienceOf } from '../access/access-caller.ts';
import { isBuiltinRole } from '../context/caller.ts';
import {
  checkData,
  checkName,
  eachOf,
  isLambda,
  isString,
  refuse,
  refuseMissing,
  refuseReference,
  refuseType,
  required,
  type Draft,
  type Kind,
} from './draft.ts';
import { checkPermissions } from './check-permissions.ts';
import { refuseMisspelt } from './misspelt.ts';
import type { Schema } from '../catalog/schema.ts';
import { NATIVE } from '../../values/native-kinds.ts';

export const FUNCTION: Kind = {
  refusesMisspelt: true,
  accepts: ['name', 'body', 'role', 'data', 'permissions'],
  order: ['name', 'body', 'role', 'data', 'permissions'],
  kept: ['name', 'body'],
  check(draft) {
    checkName(draft);
    required(draft, 'body', 'Lambda', isLambda);
    const role = draft.fields.get('role');
    const { schema, database } = draft.context;
    if (role !== undefined) checkRole(draft, role, ['role'], schema(database));
    checkData(draft);
    checkPermissions(draft, ['call']);
  },
};

/** A builtin role, the name of a role of `names`, or the ref of a role of this database. */
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

export const ACCESS_PROVIDER: Kind = {
  refusesMisspelt: true,
  accepts: ['name', 'issuer', 'jwks_uri', 'roles', 'data'],
  order: ['name', 'issuer', 'jwks_uri', 'audience', 'roles', 'data'],
  kept: ['name', 'issuer', 'jwks_uri', 'audience'],
  check(draft) {
    const { context, fields } = draft;
    checkName(draft);
    const issuer = required(draft, 'issuer', 'String', isString);
    const others = context.schema(context.database).all('access_providers');
    if (
      others.some((each) => each.ref.id !== draft.ref.id && each.fields.get('issuer') === issuer)
    ) {
      refuse(draft, ['issuer'], 'duplicate value', 'Another access provider has this issuer.');
    }
    const uri = required(draft, 'jwks_uri', 'String', isString);
    if (uri !== undefined && !/^https:\/\/[^/]/.test(uri) && !context.inputs.mayFetch?.(uri)) {
      refuse(draft, ['jwks_uri'], 'invalid uri', 'An https address is expected.');
    }
    checkProviderRoles(draft);
    checkData(draft);
    const audience = audienceOf(context);
    if (audience !== undefined) fields.set('audience', audience);
  },
  requirePossible(context, position) {
    if (audienceOf(context) !== undefined) return;
    const text = "The feature 'access providers' is not available for your plan.";
    fail('feature not available', position, text);
  },
};

function checkProviderRoles(draft: Draft): void {
  const roles = draft.fields.get('roles');
  if (roles === undefined) return;
  for (const [each, field] of eachOf(roles, ['roles'])) {
    if (!isObject(each)) {
      checkRoleRef(draft, each, field);
      continue;
    }
    refuseMisspelt(draft, each, ['role', 'predicate'], field);
    const role = each.get('role');
    if (role === undefined) refuseMissing(draft, [...field, 'role']);
    else checkRoleRef(draft, role, [...field, 'role']);
    const predicate = each.get('predicate');
    if (predicate !== undefined && !isLambda(predicate)) {
      refuseType(draft, [...field, 'predicate'], predicate, 'Lambda');
    }
  }
}

/** `role` of a key: as of a function, or several of a database's own roles. */
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
