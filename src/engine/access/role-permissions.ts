/**
 * Permissions from roles: those of keys and `@role` scopes, of functions, and of an identity by membership of its collection. Spec: auth 3.
 */
import { unreachable } from '../../errors.ts';
import { objectWithoutNulls } from '../../values/object-changes.ts';
import type { Lambda, Ref, Value } from '../../values/value.ts';
import type { Caller } from '../context/caller.ts';
import { rolesOf } from './caller-roles.ts';
import type { EngineContext } from '../context/context.ts';
import type { RoleDefinition } from '../catalog/definitions.ts';
import { isAny } from './permissions.ts';
import type { AccessRequest, Permissions } from '../context/access-request.ts';
import { decider, type Decide } from './predicates.ts';
import type { RoleAction } from '../../values/role-actions.ts';
import { resourceName, type ResourceName } from '../catalog/refs.ts';

type WriteRequest = Extract<
  AccessRequest,
  { readonly action: 'create' | 'create_with_id' | 'write' | 'history_write' }
>;
type CreateWithIdRequest = Extract<AccessRequest, { readonly action: 'create_with_id' }>;

/** Makes the argument of a predicate. For some actions it depends on the number of the predicate's parameters. */
type ArgumentFor = (arity: number) => Value;

/** `always`: allowed without a predicate. Otherwise allowed if one of the predicates returns true. */
type Policy = 'always' | readonly Lambda[];
type Policies = ReadonlyMap<ResourceName, ReadonlyMap<string, Policy>>;

const arityOf = ({ pattern }: Lambda): number => (typeof pattern === 'string' ? 1 : pattern.length);

export const rolePermissions = (
  context: EngineContext,
  caller: Caller,
  decide = decider(context),
): Permissions => new RolePermissions(context, caller, decide);

class RolePermissions implements Permissions {
  private readonly context: EngineContext;
  private readonly caller: Caller;
  private readonly decide: Decide;
  private known: Policies | undefined;

  constructor(context: EngineContext, caller: Caller, decide: Decide) {
    this.context = context;
    this.caller = caller;
    this.decide = decide;
  }

  may(request: AccessRequest): boolean {
    switch (request.action) {
      case 'read':
      case 'history_read':
      case 'delete':
        return this.grantsOfDocument(request.action, request.ref);
      case 'read_entry':
        return this.grantsOfDocument('read', request.ref);
      case 'read_index':
        return isAny(['unrestricted_read', 'read'] as const, (action) =>
          this.grants(action, request.index.ref, () => request.terms),
        );
      case 'read_all_of_index':
        return this.grants('unrestricted_read', request.index.ref, () => request.terms);
      case 'read_all_of_collection':
        return this.grants('unrestricted_read', request.collection, () => null);
      case 'call':
        return this.grants('call', request.function.ref, () => request.argument);
      case 'create':
      case 'create_with_id':
      case 'write':
      case 'history_write':
        return this.mayWrite(request);
      case 'set_any_password':
        return false;
      case 'has_rule':
        return this.ruleOf(request.rule, request.ref.collection) !== undefined;
      default:
        return unreachable(request);
    }
  }

  /** The answer stays valid for the whole query: a query's roles do not change while it runs. */
  readsAllBeside({ database, collection }: Ref): boolean {
    return database === this.context.database && this.ruleOf('read', collection) === 'always';
  }

  private mayWrite(request: WriteRequest): boolean {
    switch (request.action) {
      case 'create':
        return this.grants('create', request.collection, () => objectWithoutNulls(request.data));
      case 'create_with_id':
        return isAny(
          [() => this.grantsCreateWithId(request), () => this.grantsCreateAndHistory(request)],
          (grants) => grants(),
        );
      case 'write': {
        const { ref, old, new: changed } = request;
        return this.grantsOfDocument('write', ref, (arity) =>
          arity === 3 ? [old, changed, ref] : [old, changed],
        );
      }
      case 'history_write': {
        const { ref, ts, kind, data } = request;
        return this.grantsOfDocument('history_write', ref, () => [ref, ts, kind, data]);
      }
      default:
        return unreachable(request);
    }
  }

  private grantsCreateWithId({ ref, data }: CreateWithIdRequest): boolean {
    return this.grantsOfDocument('create_with_id', ref, (arity) => {
      const kept = objectWithoutNulls(data);
      return arity === 1 ? kept : [kept, ref];
    });
  }

  private grantsCreateAndHistory({ ref, data }: CreateWithIdRequest): boolean {
    const ts = this.context.commitTs;
    return (
      this.grantsOfDocument('create', ref, () => objectWithoutNulls(data)) &&
      this.grantsOfDocument('history_write', ref, () => [
        ref,
        ts,
        'create',
        objectWithoutNulls(data),
      ])
    );
  }

  private grantsOfDocument(
    action: RoleAction,
    ref: Ref,
    argument: ArgumentFor = () => ref,
  ): boolean {
    return ref.database === this.context.database && this.allows(action, ref.collection, argument);
  }

  private grants(action: RoleAction, resource: Ref, argument: ArgumentFor): boolean {
    const isOwn = resource.database === this.context.database;
    return isOwn && this.allows(action, resourceName(resource), argument);
  }

  private allows(action: RoleAction, name: ResourceName, argument: ArgumentFor): boolean {
    const policy = this.ruleOf(action, name);
    if (policy === undefined || policy === 'always') return policy === 'always';
    return isAny(policy, (predicate) => this.decide(predicate, argument(arityOf(predicate))));
  }

  private ruleOf(action: RoleAction, name: ResourceName): Policy | undefined {
    this.known ??= policiesOf(rolesOf(this.context, this.caller));
    return this.known.get(name)?.get(action);
  }
}

const policiesByRoles = new WeakMap<RoleDefinition, Policies>();

function policiesOf(roles: readonly RoleDefinition[]): Policies {
  const [only] = roles;
  if (!only) return NO_POLICIES;
  if (roles.length > 1) return joined(roles);
  const known = policiesByRoles.get(only) ?? joined(roles);
  policiesByRoles.set(only, known);
  return known;
}

const NO_POLICIES: Policies = new Map();

function joined(roles: readonly RoleDefinition[]): Policies {
  const policies = new Map<ResourceName, Map<string, Policy>>();
  for (const { ref, privileges } of roles) {
    for (const { resource, actions } of privileges) {
      if (resource.database !== ref.database) continue;
      const name = resourceName(resource);
      const own = policies.get(name) ?? new Map<string, Policy>();
      policies.set(name, own);
      for (const [action, given] of actions) {
        const before = own.get(action) ?? [];
        if (given === true || before === 'always') own.set(action, 'always');
        else if (given !== false) own.set(action, [...before, given]);
      }
    }
  }
  return policies;
}
