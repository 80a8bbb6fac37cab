/** Validation of roles. Spec: auth 3.1. */
import { oneOrMany } from '../catalog/definitions.ts';
import { requireRoleUnused } from './role-uses.ts';
import { isArray, isKind, isObject } from '../../values/value.ts';
import type { Lambda, ObjectValue, Ref, Value } from '../../values/value.ts';
import type { Step } from '../../errors.ts';
import {
  checkData,
  checkName,
  eachOf,
  refuse,
  refuseMissing,
  refuseReference,
  refuseType,
  type Draft,
  type Kind,
} from './draft.ts';
import { isThere, storedOriginal } from './written-back-refs.ts';
import { refuseMisspelt } from './misspelt.ts';
import { warnOfUnappliedPermissions } from './unapplied-permissions.ts';
import { isRoleAction, ROLE_ACTIONS } from '../../values/role-actions.ts';
import { NATIVE } from '../../values/native-kinds.ts';

const RESERVED = ['events', 'sets', 'self', 'documents', '_'];

export const ROLE: Kind = {
  refusesMisspelt: true,
  accepts: ['name', 'privileges', 'membership', 'data'],
  order: ['name', 'privileges', 'membership', 'data'],
  kept: ['name'],
  check(draft) {
    checkName(draft, RESERVED);
    checkData(draft);
    replaceEach(draft, 'privileges', checkPrivilege);
    replaceEach(draft, 'membership', checkMembership);
    checkMembershipCount(draft);
  },
  afterWrite: warnOfUnappliedPermissions,
  beforeDelete: requireRoleUnused,
};

/** Function names that users write instead of the action. */
const ACTION_SYNONYMS: ReadonlyMap<string, string> = new Map([
  ['get', 'read'],
  ['update', 'write'],
  ['replace', 'write'],
  ['remove', 'delete'],
]);

type Check = (
  draft: Draft,
  value: ObjectValue,
  field: readonly Step[],
  checksArity: boolean,
) => ObjectValue;

function replaceEach(draft: Draft, name: string, check: Check): void {
  const given = draft.fields.get(name);
  if (given === undefined) return;
  const stored = oneOrMany(draft.previous?.get(name));
  const checked = eachOf(given, [name]).map(([each, field]): Value => {
    const kept = storedOriginal(draft.context, each, stored);
    if (kept !== undefined) return kept;
    if (isObject(each)) return check(draft, each, field, !isArray(given));
    refuseType(draft, field, each, 'Map');
    return each;
  });
  draft.fields.set(name, isArray(given) ? checked : (checked[0] ?? null));
}

function checkPrivilege(
  draft: Draft,
  value: ObjectValue,
  field: readonly Step[],
  checksArity: boolean,
): ObjectValue {
  refuseMisspelt(draft, value, ['resource', 'actions'], field);
  const resource = checkResource(draft, value, field, isProtectable);
  const kept = new Map<string, Value>();
  if (resource !== undefined) kept.set('resource', resource);
  const actions = value.get('actions');
  if (actions === undefined) return kept;
  if (!isObject(actions)) {
    refuseType(draft, [...field, 'actions'], actions, 'Map');
    return kept;
  }
  refuseMisspelt(draft, actions, Object.keys(ROLE_ACTIONS), [...field, 'actions'], ACTION_SYNONYMS);
  const known = new Map<string, Value>();
  for (const [action, policy] of actions) {
    if (!isRoleAction(action)) continue;
    known.set(action, policy);
    const path = [...field, 'actions', action];
    if (isKind(policy, 'lambda')) {
      if (checksArity) checkArity(draft, policy, ROLE_ACTIONS[action], path);
    } else if (typeof policy !== 'boolean') refuseType(draft, path, policy, 'Boolean or Lambda');
  }
  return kept.set('actions', known);
}

function checkMembership(
  draft: Draft,
  value: ObjectValue,
  field: readonly Step[],
  checksArity: boolean,
): ObjectValue {
  const kept = new Map<string, Value>();
  refuseMisspelt(draft, value, ['resource', 'predicate'], field);
  const resource = checkResource(draft, value, field, isUserCollection);
  if (resource !== undefined) kept.set('resource', resource);
  const predicate = value.get('predicate');
  if (predicate === undefined) return kept;
  const path = [...field, 'predicate'];
  if (!isKind(predicate, 'lambda')) refuseType(draft, path, predicate, 'Lambda');
  else if (checksArity) checkArity(draft, predicate, 1, path);
  return kept.set('predicate', predicate);
}

function checkResource(
  draft: Draft,
  value: ObjectValue,
  field: readonly Step[],
  isAllowed: (ref: Ref) => boolean,
): Value | undefined {
  const resource = value.get('resource');
  const path = [...field, 'resource'];
  if (resource === undefined) refuseMissing(draft, path);
  else if (!isKind(resource, 'ref') || !isAllowed(resource)) {
    refuseType(draft, path, resource, 'Ref');
  } else if (!isThere(draft.context, resource)) refuseReference(draft, path);
  return resource;
}

const isProtectable = ({ collection }: Ref): boolean =>
  collection === NATIVE.collections ||
  collection === NATIVE.indexes ||
  collection === NATIVE.functions;

const isUserCollection = ({ collection }: Ref): boolean => collection === NATIVE.collections;

/** Requires the number of parameters that the action's predicates have. The single pattern `_` accepts any number. */
function checkArity(
  draft: Draft,
  { pattern }: Lambda,
  arity: number,
  field: readonly Step[],
): void {
  if (pattern === '_') return;
  const takes = typeof pattern === 'string' ? 1 : pattern.length;
  if (takes === arity) return;
  refuse(
    draft,
    field,
    'invalid arity',
    `Function with ${arity} arguments expected, ${takes} provided.`,
  );
}

const ROLES_PER_COLLECTION_MAX = 64;

function checkMembershipCount(draft: Draft): void {
  const { context, fields, ref } = draft;
  const others = context
    .schema(context.database)
    .all('roles')
    .filter((role) => role.ref.id !== ref.id);
  const collections = new Set<bigint>();
  for (const [each] of eachOf(fields.get('membership') ?? [], [])) {
    const resource = isObject(each) ? each.get('resource') : undefined;
    if (isKind(resource, 'ref')) collections.add(resource.id);
  }
  for (const id of collections) {
    const count = others.filter((role) => role.membership.some((each) => each.resource.id === id));
    if (count.length < ROLES_PER_COLLECTION_MAX) continue;
    refuse(
      draft,
      ['membership'],
      'resources exceeded',
      `A collection can be member of ${ROLES_PER_COLLECTION_MAX} roles at most.`,
    );
  }
}
