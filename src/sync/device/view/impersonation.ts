/**
 * Runs queries on the copy with the identity that the hub has authenticated. The identity may read everything here, because the hub sends
 * only what it may read. Its writes are checked by its roles as far as possible; if a predicate needs data that is not here, the hub
 * decides later.
 */
import {
  type EngineContext,
  isBuiltinRole,
  type Caller,
  type AccessRequest,
  type Permissions,
} from '../../../engine/context.ts';
import type { Impersonation } from '../../../engine/session.ts';
import { ROOT_DATABASE } from '../../../engine/catalog.ts';
import {
  identityPermissions,
  memberPermissions,
  anyOf,
  builtinPermissions,
  decider,
  rolePermissions,
} from '../../../engine/access.ts';
import { Ref } from '../../../values/value.ts';
import { NATIVE } from '../../../values/native-kinds.ts';
import type { Actor, Owner } from '../../protocol/messages.ts';
import { noHistory } from './tracked-reads.ts';

/** Thrown when a query calls a function with a role of its own, because only the hub can grant that role. */
export class HubOnlyFunction {
  readonly name: string;
  constructor(name: string) {
    this.name = name;
  }
}

/** Whether both are the same user, or holder of the same key, in the same database. Their rights may differ. */
export const isSameIdentity = (one: Owner, other: Owner): boolean =>
  identityOf(one) === identityOf(other) && isSameDatabase(one, other);

const identityOf = ({ identity, subject }: Owner): string => JSON.stringify([identity, subject]);

/** The database may have been renamed, or replaced by one of the same name, for example from an export. */
const isSameDatabase = (one: Owner, other: Owner): boolean =>
  (one.globalId !== undefined && one.globalId === other.globalId) ||
  JSON.stringify(one.database) === JSON.stringify(other.database);

export const impersonate = (actor: Actor): Impersonation => ({
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

  may(request: AccessRequest): boolean {
    switch (request.action) {
      case 'read':
      case 'read_entry':
      case 'read_all_of_collection':
      case 'read_index':
      case 'read_all_of_index':
        return true;
      case 'history_read':
        throw noHistory();
      case 'call':
        if (request.function.role !== undefined) throw new HubOnlyFunction(request.function.name);
        return true;
      default:
        return this.writes.may(request);
    }
  }
}

/** Memberships are those that the hub has evaluated: their predicates may read data that is not here. */
function writePermissions(context: EngineContext, actor: Actor): Permissions {
  const caller = callerOf(actor);
  const { identity } = caller;
  return anyOf([
    ...(isBuiltinRole(actor.role) ? [builtinPermissions(context, actor.role)] : []),
    ...(identity ? [identityPermissions(context, identity, false)] : []),
    memberPermissions(context, identity),
    // A predicate that fails here allows the write, because it may succeed at the hub, which has all data.
    rolePermissions(context, { ...caller, identity: undefined }, decider(context, {}, true)),
  ]);
}
