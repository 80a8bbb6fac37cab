/**
 * Permissions without a role: what an identity may always do with its own tokens and credentials, and what the `permissions`
 * members of collections, documents, indexes and functions allow. Spec: auth 2.3, 3.7; decisions.
 */
import { unreachable } from '../../errors.ts';
import { isKind } from '../../values/value.ts';
import type { ObjectValue, Ref } from '../../values/value.ts';
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
 * Read one's own credentials and tokens, delete one's own tokens; read one's own document, as the programs of the original
 * expect (`readsOwnDocument`).
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

/** What `permissions` members allow: to every caller, to a document's tokens, or to those of a collection. */
export function memberPermissions(context: EngineContext, identity: Ref | undefined): Permissions {
  const letsIn = (permissions: LegacyPermissions | undefined, action: string): boolean => {
    const guest = permissions?.get(action);
    if (guest === undefined) return false;
    return guest === 'public' || (identity !== undefined && isGuest(guest, identity));
  };
  const schema = (): Schema => context.schema(context.database);
  const isOpen = (resource: Ref): boolean =>
    resource.database === context.database && !isGoverned(schema(), resource);
  const isOfOpenCollection = ({ database, collection }: Ref): boolean =>
    database === context.database && !governed(schema()).has(collection);
  const byCollection = (ref: Ref, action: string): boolean =>
    letsIn(schema().collection(ref.collection)?.permissions, action);
  const byDocument = (fields: ObjectValue | undefined, action: string): boolean =>
    fields !== undefined && letsIn(permissionsAt(fields), action);
  const mayTouch = (ref: Ref, action: 'read' | 'write', old?: ObjectValue): boolean =>
    !isNative(ref.collection) &&
    isOfOpenCollection(ref) &&
    (byCollection(ref, action) || byDocument(old ?? storedFields(context, ref), action));
  const mayReadIndex = (index: IndexDefinition): boolean =>
    isOpen(index.ref) && letsIn(index.permissions, 'read');
  const mayCreate = (collection: Ref): boolean =>
    isOpen(collection) && letsIn(schema().collection(Number(collection.id))?.permissions, 'create');

  const may = (request: AccessRequest): boolean => {
    switch (request.action) {
      case 'read':
        return mayTouch(request.ref, 'read');
      case 'delete':
        return mayTouch(request.ref, 'write');
      case 'write':
        return mayTouch(request.ref, 'write', request.old);
      case 'create':
      case 'create_with_id':
        return mayCreate(request.collection);
      case 'read_index':
        return mayReadIndex(request.index);
      case 'read_all_of_index':
        return mayReadIndex(request.index) && !sourcesAreGoverned(schema(), request.index);
      case 'read_entry':
        if (mayReadIndex(request.index) && isOfOpenCollection(request.ref)) return true;
        return mayTouch(request.ref, 'read');
      case 'read_all_of_collection':
        return (
          isOpen(request.collection) &&
          letsIn(schema().collection(Number(request.collection.id))?.permissions, 'read')
        );
      case 'call':
        return isOpen(request.function.ref) && letsIn(request.function.permissions, 'call');
      case 'history_read':
      case 'history_write':
      case 'set_any_password':
      case 'has_rule':
        return false;
      default:
        return unreachable(request);
    }
  };
  return { may };
}

const isGuest = (guest: Ref, identity: Ref): boolean =>
  guest.collection === NATIVE.collections
    ? Number(guest.id) === identity.collection
    : isSameRef(guest, identity);

/** A resource named in some role is governed by roles alone. */
const isGoverned = (schema: Schema, resource: Ref): boolean =>
  resource.database === schema.database && governed(schema).has(resourceName(resource));

/** Names of all resources that roles name. */
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
