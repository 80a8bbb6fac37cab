/**
 * What a secret may do. One interface, and an implementation for each source of rights: builtin roles of keys here, baseline
 * of identities and `permissions` members in `legacy-permissions.ts`. Spec: auth 1.3, 3.2.
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

/** Native collections only an admin key may touch. */
const ADMIN_ONLY: ReadonlySet<CollectionId> = nativeNumbers((kind) => kind.isAdminOnly);

/** Whether it is a member of such a collection, or the collection as the set of its members. */
export const isAdminOnly = (ref: Ref): boolean => ADMIN_ONLY.has(collectionMeant(ref));

/** Rights of keys by their builtin role; `client` has none. */
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
        return reads && mayTouch(collectionMeant(request.ref)) && isInScope(request.ref);
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

/** Every right of any of them. */
export const anyOf = (sources: readonly Permissions[]): Permissions => new AnyOf(sources);

class AnyOf implements Permissions {
  private readonly sources: readonly Permissions[];
  /** A document of the collection last found to be open to all reads: a page asks for each of its documents. */
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

/** Whether the test is true for any item. Missing reads are thrown only if it is true for none of the others, and then all at once. */
export function isAny<T>(items: readonly T[], test: (item: T) => boolean): boolean {
  let needs: Need[] | undefined;
  // By index: a query asks for each document.
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

/** Collections an index names. */
export function sourcesOf(index: IndexDefinition): readonly CollectionId[] {
  return index.sources.flatMap(({ collections }) =>
    collections === 'all' ? [] : [...collections],
  );
}

/** The native ref `keys()` means its members, not the collection object. */
const collectionMeant = (ref: Ref): CollectionId =>
  isNativeCollectionRef(ref) ? Number(ref.id) : ref.collection;
