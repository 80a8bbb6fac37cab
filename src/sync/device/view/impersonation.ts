/**
 * The identity of the hub at work on its copy. It reads all that is here: the hub sent nothing it may not read. What it writes is
 * judged by its roles as far as the copy lets them be; where a predicate needs what is not here, the hub will judge.
 */
import { Refusal } from '../../../errors.ts';
import { isBuiltinRole, type Caller } from '../../../engine/caller.ts';
import type { StandIn } from '../../../engine/attempt.ts';
import type { EngineContext } from '../../../engine/context.ts';
import { ROOT_DATABASE } from '../../../engine/databases.ts';
import { identityPermissions, memberPermissions } from '../../../engine/open-permissions.ts';
import { anyOf, builtinPermissions } from '../../../engine/permissions.ts';
import type { Deed, Permissions } from '../../../engine/deed.ts';
import { decider } from '../../../engine/predicates.ts';
import { rolePermissions } from '../../../engine/role-permissions.ts';
import { NATIVE, Ref } from '../../../values/value.ts';
import type { Actor } from '../../protocol/messages.ts';

/** Thrown where a query calls a function that runs with rights of its own: only the hub has them. */
export class HubOnly {
  readonly function: string;
  constructor(name: string) {
    this.function = name;
  }
}

/** Whether both are one person, or one key's holder, in one database; what they may do can differ. */
export const isSameIdentity = (one: Actor, other: Actor): boolean =>
  JSON.stringify([one.database, one.identity ?? null]) ===
  JSON.stringify([other.database, other.identity ?? null]);

export const standInFor = (actor: Actor): StandIn => ({
  caller: () => callerOf(actor),
  permissions: (context) => new ReplicaPermissions(context, actor),
});

const callerOf = ({ identity, role, roles }: Actor): Caller => ({
  label: { kind: 'token', id: '0' },
  database: ROOT_DATABASE,
  path: [],
  role,
  roles: roles.map((id) => new Ref(ROOT_DATABASE, NATIVE.roles, BigInt(id))),
  document: undefined,
  identity: identity && new Ref(ROOT_DATABASE, identity[0], BigInt(identity[1])),
  isToken: identity !== undefined,
});

class ReplicaPermissions implements Permissions {
  private readonly writes: Permissions;

  constructor(context: EngineContext, actor: Actor) {
    this.writes = writePermissions(context, actor);
  }

  may(deed: Deed): boolean {
    switch (deed.action) {
      case 'read':
      case 'read_entry':
      case 'read_all_of_collection':
      case 'read_index':
      case 'read_all_of_index':
        return true;
      case 'history_read':
        throw new Refusal('history_not_local', NO_HISTORY);
      case 'call':
        if (deed.function.role !== undefined) throw new HubOnly(deed.function.name);
        return true;
      default:
        return this.writes.may(deed);
    }
  }
}

const NO_HISTORY =
  'A copy has no history. Run the query at the hub: `sync.client.query(…, { at: "hub" })`.';

/** Membership was judged by the hub: its predicates may read what is not here. */
function writePermissions(context: EngineContext, actor: Actor): Permissions {
  const caller = callerOf(actor);
  const { identity } = caller;
  return anyOf([
    ...(isBuiltinRole(actor.role) ? [builtinPermissions(context, actor.role)] : []),
    ...(identity ? [identityPermissions(context, identity)] : []),
    memberPermissions(context, identity),
    // A predicate that fails here may succeed where everything is.
    rolePermissions(context, { ...caller, identity: undefined }, decider(context, {}, true)),
  ]);
}
