/** The roles of a caller: those of its secret, and those that it is a member of. Spec: auth 3.3. */
import { eachElement } from '../../query/collect-needs.ts';
import type { Ref } from '../../values/value.ts';
import type { AccessGrant, Caller } from '../context/caller.ts';
import type { EngineContext } from '../context/context.ts';
import type { RoleDefinition } from '../catalog/definitions.ts';
import { isAny } from './permissions.ts';
import { decider } from './predicates.ts';
import { collectionOfDocument, isSameRef } from '../catalog/refs.ts';
import { schemasOver } from '../catalog/schema.ts';

/** @throws Suspended */
export function rolesOf(context: EngineContext, caller: Caller): readonly RoleDefinition[] {
  const { roles, identity, grant } = caller;
  const { database } = context;
  const given = rolesAt(context, grant ? [...roles, ...rolesOfGrant(context, grant)] : roles);
  if (identity?.database !== database) return given;
  return [...given, ...rolesOfMember(context, identity)];
}

/** Whether the caller is authorized: a token of an identity provider is valid only if at least one role applies to it. @throws Suspended */
export const isAuthorized = (context: EngineContext, caller: Caller): boolean =>
  !caller.grant || rolesOf(context, caller).length > 0;

/** The existing roles of this database among `refs`, without duplicates. */
function rolesAt(context: EngineContext, refs: readonly Ref[]): readonly RoleDefinition[] {
  const { database } = context;
  const found = refs
    .filter((ref) => ref.database === database)
    .map((ref) => context.schema(database).byId('roles', ref.id))
    .filter((role) => role !== undefined);
  return [...new Set(found)];
}

/** The conditional roles of a token whose predicates return true. Like membership, decided over the state before the query. */
function rolesOfGrant(
  context: EngineContext,
  { claims, conditional }: AccessGrant,
): readonly Ref[] {
  const decide = decider(context, contextBefore(context));
  const applies = eachElement(conditional, ({ predicate }) => decide(predicate, claims));
  return conditional.filter((_, i) => applies[i]).map(({ role }) => role);
}

/** The roles that the identity is a member of. Decided over the state before the query, so a query cannot make its caller a member. */
function rolesOfMember(context: EngineContext, identity: Ref): readonly RoleDefinition[] {
  const before = contextBefore(context);
  const decide = decider(context, before);
  const collection = collectionOfDocument(identity);
  const roles = before.schema(context.database).all('roles');
  const isMember = eachElement(roles, ({ membership }) => {
    const own = membership.filter(({ resource }) => isSameRef(resource, collection));
    return isAny(own, ({ predicate }) => predicate === undefined || decide(predicate, identity));
  });
  return roles.filter((_, i) => isMember[i]);
}

function contextBefore({ reader, writer }: EngineContext) {
  const base = writer?.base ?? reader;
  return { reader: base, schema: schemasOver(base, base) };
}
