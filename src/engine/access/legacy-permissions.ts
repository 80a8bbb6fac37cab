/**
 * Permissions that do not come from roles: what an identity may always do with its own tokens and credentials, and what the `permissions`
 * fields of collections, documents, indexes and functions allow. Spec: auth 2.3, 3.7; decisions.
 */
import { unreachable } from '../../errors.ts';
import { isKind } from '../../values/value.ts';
import type { CollectionId, ObjectValue, Ref } from '../../values/value.ts';
import type { EngineContext } from '../context/context.ts';
import { permissionsAt } from '../catalog/definitions.ts';
import type { IndexDefinition, LegacyPermissions, RoleDefinition } from '../catalog/definitions.ts';
import { storedFields } from '../documents/documents.ts';
import { sourcesOf } from './permissions.ts';
import type { AccessRequest, Permissions } from '../context/access-request.ts';
import { isSameRef, resourceName, type ResourceName } from '../catalog/refs.ts';
import type { Schema } from '../catalog/schema.ts';
import { NATIVE, isNative } from '../../values/native-kinds.ts';

/**
 * An identity may read its own credentials and tokens, and delete its own tokens. With `readsOwnDocument` it may also read its own
 * document, as programs written for the original expect.
 */
export function identityPermissions(
  context: EngineContext,
  identity: Ref,
  readsOwnDocument: boolean,
): Permissions {
  const isOwn = (ref: Ref): boolean => {
    const instance = storedFields(context, ref)?.get('instance');
    return isKind(instance, 'ref') && isSameRef(instance, identity);
  };
  const may = (request: AccessRequest): boolean => {
    switch (request.action) {
      case 'read':
      case 'read_entry':
        if (isTokenOrCredentials(request.ref)) return isOwn(request.ref);
        return readsOwnDocument && isSameRef(request.ref, identity);
      case 'delete':
        return request.ref.collection === NATIVE.tokens && isOwn(request.ref);
      default:
        return false;
    }
  };
  return { may };
}

const isTokenOrCredentials = ({ collection }: Ref): boolean =>
  collection === NATIVE.tokens || collection === NATIVE.credentials;

/**
 * What `permissions` fields allow: to all callers (`public`), to the tokens of one document, or to the tokens of a collection's documents.
 */
export const memberPermissions = (context: EngineContext, identity: Ref | undefined): Permissions =>
  new MemberPermissions(context, identity);

class MemberPermissions implements Permissions {
  private readonly context: EngineContext;
  private readonly identity: Ref | undefined;

  constructor(context: EngineContext, identity: Ref | undefined) {
    this.context = context;
    this.identity = identity;
  }

  may(request: AccessRequest): boolean {
    switch (request.action) {
      case 'read':
        return this.mayTouch(request.ref, 'read');
      case 'delete':
        return this.mayTouch(request.ref, 'write');
      case 'write':
        return this.mayTouch(request.ref, 'write', request.old);
      case 'create':
      case 'create_with_id':
        return this.isOpenFor(request.collection, 'create');
      case 'read_index':
        return this.mayReadIndex(request.index);
      case 'read_all_of_index':
        return this.mayReadIndex(request.index) && !sourcesAreGoverned(this.schema, request.index);
      case 'read_entry':
        if (this.mayReadIndex(request.index) && this.isOfOpenCollection(request.ref)) return true;
        return this.mayTouch(request.ref, 'read');
      case 'read_all_of_collection':
        return this.isOpenFor(request.collection, 'read');
      case 'call': {
        const { ref, permissions } = request.function;
        return this.isOpen(ref) && this.letsIn(permissions, 'call');
      }
      case 'history_read':
      case 'history_write':
      case 'set_any_password':
      case 'has_rule':
        return false;
      default:
        return unreachable(request);
    }
  }

  private get schema(): Schema {
    return this.context.schema(this.context.database);
  }

  private letsIn(permissions: LegacyPermissions | undefined, action: string): boolean {
    const guest = permissions?.get(action);
    if (guest === undefined) return false;
    return guest === 'public' || (this.identity !== undefined && isGuest(guest, this.identity));
  }

  private isOpen(resource: Ref): boolean {
    return resource.database === this.context.database && !isGoverned(this.schema, resource);
  }

  private isOfOpenCollection({ database, collection }: Ref): boolean {
    return database === this.context.database && !governed(this.schema).has(collection);
  }

  private isOpenFor(collection: Ref, action: 'create' | 'read'): boolean {
    return this.isOpen(collection) && this.letsInto(Number(collection.id), action);
  }

  private letsInto(collection: CollectionId, action: string): boolean {
    return this.letsIn(this.schema.collection(collection)?.permissions, action);
  }

  private mayReadIndex({ ref, permissions }: IndexDefinition): boolean {
    return this.isOpen(ref) && this.letsIn(permissions, 'read');
  }

  private mayTouch(ref: Ref, action: 'read' | 'write', old?: ObjectValue): boolean {
    if (isNative(ref.collection) || !this.isOfOpenCollection(ref)) return false;
    if (this.letsInto(ref.collection, action)) return true;
    const fields = old ?? storedFields(this.context, ref);
    return fields !== undefined && this.letsIn(permissionsAt(fields), action);
  }
}

const isGuest = (guest: Ref, identity: Ref): boolean =>
  guest.collection === NATIVE.collections
    ? Number(guest.id) === identity.collection
    : isSameRef(guest, identity);

/** Whether some role names the resource. If so, only roles decide about it. */
const isGoverned = (schema: Schema, resource: Ref): boolean =>
  resource.database === schema.database && governed(schema).has(resourceName(resource));

/** The names of all resources that roles name. */
function governed(schema: Schema): ReadonlySet<ResourceName> {
  const roles = schema.all('roles');
  let names = governedByRoles.get(roles);
  if (!names) {
    const resources = roles.flatMap(({ privileges }) => privileges.map((each) => each.resource));
    const own = resources.filter(({ database }) => database === schema.database);
    governedByRoles.set(roles, (names = new Set(own.map(resourceName))));
  }
  return names;
}

const governedByRoles = new WeakMap<readonly RoleDefinition[], ReadonlySet<ResourceName>>();

function sourcesAreGoverned(schema: Schema, index: IndexDefinition): boolean {
  if (index.sources.some((each) => each.collections === 'all')) {
    return schema.all('collections').some((each) => isGoverned(schema, each.ref));
  }
  return sourcesOf(index).some((id) => {
    const collection = schema.collection(id);
    return collection !== undefined && isGoverned(schema, collection.ref);
  });
}
