/** Rights from roles: of keys and `@role` scopes, of functions, and by membership of the identity's collection. Spec: auth 3. */
import { unreachable } from '../errors.ts';
import { NATIVE } from '../values/value.ts';
import type { CollectionId, Lambda, Micros, ObjectValue, Ref, Value } from '../values/value.ts';
import type { Caller } from './authenticate.ts';
import { rolesOf } from './caller-roles.ts';
import type { EngineContext } from './context.ts';
import type { RoleDefinition } from './definitions.ts';
import { isAny, type Deed, type Permissions } from './permissions.ts';
import { decider } from './predicates.ts';

type Action =
  | 'read'
  | 'unrestricted_read'
  | 'write'
  | 'create'
  | 'create_with_id'
  | 'delete'
  | 'history_read'
  | 'history_write'
  | 'call';

/** What a predicate is applied to: some actions look at how many arguments it takes. */
type ArgumentFor = (arity: number) => Value;

/** Any of these predicates, or no predicate at all. */
type Policy = 'always' | readonly Lambda[];
type Policies = ReadonlyMap<ResourceName, ReadonlyMap<string, Policy>>;

/** Collections are asked for once a document: they go by their number. */
type ResourceName = string | CollectionId;
const nameOf = ({ collection, id }: Ref): ResourceName =>
  collection === NATIVE.collections ? Number(id) : `${collection}/${id}`;

const arityOf = ({ pattern }: Lambda): number => (typeof pattern === 'string' ? 1 : pattern.length);

export function rolePermissions(context: EngineContext, caller: Caller): Permissions {
  const { database } = context;
  const decide = decider(context);
  let known: Policies | undefined;
  const policies = (): Policies => (known ??= policiesOf(rolesOf(context, caller)));

  const allows = (action: Action, name: ResourceName, argument: ArgumentFor): boolean => {
    const policy = policies().get(name)?.get(action);
    if (policy === undefined || policy === 'always') return policy === 'always';
    return isAny(policy, (predicate) => decide(predicate, argument(arityOf(predicate))));
  };
  const grants = (action: Action, resource: Ref, argument: ArgumentFor): boolean =>
    resource.database === database && allows(action, nameOf(resource), argument);
  const grantsOfDocument = (action: Action, ref: Ref, argument: ArgumentFor = () => ref): boolean =>
    ref.database === database && allows(action, ref.collection, argument);
  const grantsHistoryWrite = (ref: Ref, ts: Micros, kind: string, data: ObjectValue): boolean =>
    grantsOfDocument('history_write', ref, () => [ref, ts, kind, data]);
  const grantsCreate = (collection: Ref, data: ObjectValue): boolean =>
    grants('create', collection, () => data);

  const may = (deed: Deed): boolean => {
    switch (deed.action) {
      case 'read':
      case 'history_read':
      case 'delete':
        return grantsOfDocument(deed.action, deed.ref);
      case 'read_entry':
        return grantsOfDocument('read', deed.ref);
      case 'read_index':
        return isAny(['unrestricted_read', 'read'] as const, (action) =>
          grants(action, deed.index.ref, () => deed.terms),
        );
      case 'read_all_of_index':
        return grants('unrestricted_read', deed.index.ref, () => deed.terms);
      case 'read_all_of_collection':
        return grants('unrestricted_read', deed.collection, () => null);
      case 'create':
        return grantsCreate(deed.collection, deed.data);
      case 'create_with_id': {
        const { collection, data, ref } = deed;
        const isGranted = [
          () => grants('create_with_id', collection, (arity) => (arity === 1 ? data : [data, ref])),
          () =>
            grantsCreate(collection, data) &&
            grantsHistoryWrite(ref, context.commitTs, 'create', data),
        ];
        return isAny(isGranted, (each) => each());
      }
      case 'write': {
        const { ref, old, new: changed } = deed;
        return grantsOfDocument('write', ref, (arity) =>
          arity === 3 ? [old, changed, ref] : [old, changed],
        );
      }
      case 'history_write':
        return grantsHistoryWrite(deed.ref, deed.ts, deed.kind, deed.data);
      case 'call':
        return grants('call', deed.function.ref, () => deed.argument);
      case 'set_any_password':
        return false;
      default:
        return unreachable(deed);
    }
  };
  return { may };
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
      const name = nameOf(resource);
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
