/** Decides which documents a caller may read. The watched reader records what the decisions depend on. */
import { decodeDocumentKey, type Key } from '../../../codec/key.ts';
import { collectionRef, isSameRef } from '../../../engine/catalog.ts';
import { Ref, type CollectionId } from '../../../values/value.ts';
import { rolesInForce } from './caller-facts.ts';
import type { DeviceCaller } from './device-caller.ts';
import type { WatchedReader } from './watched-reader.ts';

const READING_ROLES: ReadonlySet<string> = new Set(['admin', 'server', 'server-readonly']);

export class ReadRights {
  private readonly device: DeviceCaller;
  private readonly watched: WatchedReader | undefined;
  private readonly byCollection = new Map<CollectionId, boolean>();

  /** @param watched the reader of `device` */
  constructor(device: DeviceCaller, watched?: WatchedReader) {
    this.device = device;
    this.watched = watched;
  }

  /** Whether the caller may read everything, regardless of roles and documents. */
  get areBuiltin(): boolean {
    return READING_ROLES.has(this.device.caller.role);
  }

  /** @throws Suspended */
  mayRead(key: Key): boolean {
    const { database, collection, id } = decodeDocumentKey(key);
    if (this.readsAll(collection)) return true;
    const ref = new Ref(database, collection, id);
    const decide = (): boolean => this.device.context.permissions.may({ action: 'read', ref });
    return this.watched ? this.watched.whileDeciding(key, decide) : decide();
  }

  /** Whether the caller may read every document of a collection, regardless of its contents. @throws Suspended */
  readsAll(collection: CollectionId): boolean {
    if (this.areBuiltin) return true;
    const known = this.byCollection.get(collection) ?? this.isAuthorized(collection, true);
    this.byCollection.set(collection, known);
    return known;
  }

  /** Whether some documents of a collection may be readable. @throws Suspended */
  mayReadOf(collection: CollectionId): boolean {
    if (this.areBuiltin) return true;
    const { context, caller } = this.device;
    if (caller.readsOwnDocument && caller.identity?.collection === collection) return true;
    const isOpen = context
      .schema(context.database)
      .collection(collection)
      ?.permissions?.has('read');
    return isOpen === true || this.isAuthorized(collection, false);
  }

  private isAuthorized(collection: CollectionId, always: boolean): boolean {
    const wanted = collectionRef(this.device.context.database, collection);
    return rolesInForce(this.device).some(({ privileges }) =>
      privileges.some(({ resource, actions }) => {
        const read = actions.get('read');
        if (!isSameRef(resource, wanted) || read === undefined || read === false) return false;
        return !always || read === true;
      }),
    );
  }
}
