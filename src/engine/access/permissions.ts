/**
 * Permissions of callers. All sources implement one interface: builtin roles of keys here; the baseline of identities and the `permissions`
 * fields in `legacy-permissions.ts`; roles in `role-permissions.ts`. Spec: auth 1.3, 3.2.
 */
import { unreachable } from '../../errors.ts';
import { Suspended, type Need } from '../../store/reader.ts';
import type { CollectionId, Ref } from '../../values/value.ts';
import type { BuiltinRole } from '../context/caller.ts';
import type { EngineContext } from '../context/context.ts';
import type { AccessRequest, Permissions } from '../context/access-request.ts';
import { isWithin } from '../catalog/databases.ts';
import type { IndexDefinition } from '../catalog/definitions.ts';
import { nativeNumbers } from '../../values/native-kinds.ts';
import { isNativeCollectionRef } from '../../values/native-refs.ts';

/** Native collections that only admin keys may access. */
const ADMIN_ONLY: ReadonlySet<CollectionId> = nativeNumbers((kind) => kind.isAdminOnly);

/** Whether the ref is a member of an admin-only collection, or such a collection as the set of its members. */
export const isAdminOnly = (ref: Ref): boolean => ADMIN_ONLY.has(requestedCollection(ref));

/** Permissions of keys with a builtin role. `client` has none. */
export function builtinPermissions(context: EngineContext, role: BuiltinRole): Permissions {
  const mayTouch = (collection: CollectionId) => role === 'admin' || !ADMIN_ONLY.has(collection);
  const reads = role !== 'client';
  const writes = role === 'admin' || role === 'server';
  const isHere = (ref: Ref) => ref.database === context.database;
  const isInScope = (ref: Ref) => isWithin(context.reader, ref.database, context.database);
  const may = (request: AccessRequest): boolean => {
    switch (request.action) {
      case 'read':
      case 'read_entry':
      case 'history_read':
        return reads && mayTouch(requestedCollection(request.ref)) && isInScope(request.ref);
      case 'read_all_of_collection':
        return reads && mayTouch(Number(request.collection.id)) && isInScope(request.collection);
      case 'read_index':
        return reads && isInScope(request.index.ref);
      case 'read_all_of_index':
        return reads && sourcesOf(request.index).every(mayTouch) && isInScope(request.index.ref);
      case 'create':
        return writes && mayTouch(Number(request.collection.id)) && isHere(request.collection);
      case 'create_with_id':
      case 'write':
      case 'delete':
      case 'history_write':
        return writes && mayTouch(request.ref.collection) && isHere(request.ref);
      case 'set_any_password':
        return role === 'server';
      case 'has_rule':
        return false;
      case 'call':
        return writes && isInScope(request.function.ref);
      default:
        return unreachable(request);
    }
  };
  return { may };
}

/** Allows what at least one of the sources allows. */
export const anyOf = (sources: readonly Permissions[]): Permissions => new AnyOf(sources);

class AnyOf implements Permissions {
  private readonly sources: readonly Permissions[];
  /** A document of the collection that was last found to be readable as a whole: a page requests each of its documents. */
  private open: Ref | undefined = undefined;

  constructor(sources: readonly Permissions[]) {
    this.sources = sources;
  }

  may(request: AccessRequest): boolean {
    const { action } = request;
    if (action !== 'read' && action !== 'read_entry')
      return isAny(this.sources, (each) => each.may(request));
    const { ref } = request;
    if (this.open?.collection === ref.collection && this.open.database === ref.database)
      return true;
    return isAny(this.sources, (each) => {
      const isRead = each.may(request);
      if (isRead && each.readsAllBeside?.(ref) === true) this.open = ref;
      return isRead;
    });
  }
}

/** Whether the test is true for any item. If it is true for none and some need missing reads, throws all missing reads at once. */
export function isAny<T>(items: readonly T[], test: (item: T) => boolean): boolean {
  let needs: Need[] | undefined;
  // A loop by index because it runs for each document of a query.
  for (let at = 0; at < items.length; at += 1) {
    try {
      if (test(items[at] as T)) return true;
    } catch (thrown) {
      if (!(thrown instanceof Suspended)) throw thrown;
      needs ??= [];
      needs.push(...thrown.needs);
    }
  }
  if (needs) throw new Suspended(needs);
  return false;
}

/** The collections that an index names as sources. */
export function sourcesOf(index: IndexDefinition): readonly CollectionId[] {
  return index.sources.flatMap(({ collections }) =>
    collections === 'all' ? [] : [...collections],
  );
}

/** The collection that a request concerns. A native ref such as `keys()` stands for its members, not for the collection object. */
const requestedCollection = (ref: Ref): CollectionId =>
  isNativeCollectionRef(ref) ? Number(ref.id) : ref.collection;
