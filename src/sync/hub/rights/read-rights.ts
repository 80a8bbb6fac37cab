/** What a caller may read of documents, asked one document at a time, and noted what that rests on. */
import { decodeDocumentKey, type Key } from '../../../codec/key.ts';
import { collectionRef } from '../../../engine/definitions.ts';
import { isSameRef } from '../../../engine/refs.ts';
import { Ref, type CollectionId } from '../../../values/value.ts';
import { rolesInForce, type Asker } from './device-caller.ts';
import type { WatchedReader } from './watched-reader.ts';

const READING_ROLES: ReadonlySet<string> = new Set(['admin', 'server', 'server-readonly']);

export class Rights {
  private readonly asker: Asker;
  private readonly watched: WatchedReader | undefined;
  private readonly all = new Map<CollectionId, boolean>();

  /** @param watched what `asker` reads through */
  constructor(asker: Asker, watched?: WatchedReader) {
    this.asker = asker;
    this.watched = watched;
  }

  /** Rights that no role and no document has a say in. */
  get areBuiltin(): boolean {
    return READING_ROLES.has(this.asker.caller.role);
  }

  /** @throws Suspended */
  mayRead(key: Key): boolean {
    const { database, collection, id } = decodeDocumentKey(key);
    if (this.readsAll(collection)) return true;
    const ref = new Ref(database, collection, id);
    const ask = (): boolean => this.asker.context.permissions.may({ action: 'read', ref });
    return this.watched ? this.watched.about(key, ask) : ask();
  }

  /** Whether every document of a collection, whatever is in it. @throws Suspended */
  readsAll(collection: CollectionId): boolean {
    if (this.areBuiltin) return true;
    const known = this.all.get(collection) ?? this.isGranted(collection, true);
    this.all.set(collection, known);
    return known;
  }

  /** Whether any document of a collection could be readable. @throws Suspended */
  mayReadOf(collection: CollectionId): boolean {
    if (this.areBuiltin) return true;
    const { context } = this.asker;
    const isOpen = context
      .schema(context.database)
      .collection(collection)
      ?.permissions?.has('read');
    return isOpen === true || this.isGranted(collection, false);
  }

  private isGranted(collection: CollectionId, always: boolean): boolean {
    const wanted = collectionRef(this.asker.context.database, collection);
    return rolesInForce(this.asker).some(({ privileges }) =>
      privileges.some(({ resource, actions }) => {
        const read = actions.get('read');
        if (!isSameRef(resource, wanted) || read === undefined || read === false) return false;
        return !always || read === true;
      }),
    );
  }
}
