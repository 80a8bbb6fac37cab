/** Refs that are read as sets: a native collection is the set of its members, a document the set of itself. Spec: sets 1.3, 1.7. */
import type { Ref } from '../../values/value.ts';
import { isNativeCollectionRef } from '../../values/native-refs.ts';
import { documentEvents } from '../documents/document-events.ts';
import { REFS, type SetOperation } from './operation.ts';
import { sourcesOf } from './set-cursor.ts';
import { RefTuple } from './tuple.ts';
import { changesOfCollection, openCollection } from './operations/documents.ts';
import { openDocument } from './operations/singleton.ts';

export const refAsSet: SetOperation<Ref> = {
  shape: () => REFS,
  showsRefs: () => true,

  access(ref, { context: { permissions } }) {
    if (!isNativeCollectionRef(ref)) {
      const isAllowed = permissions.may({ action: 'history_read', ref });
      return isAllowed ? { target: ref, filtered: false } : undefined;
    }
    if (!permissions.may({ action: 'read', ref })) return undefined;
    const isOpen = permissions.may({ action: 'read_all_of_collection', collection: ref });
    return { target: ref, filtered: !isOpen };
  },

  open(ref, request, sets) {
    return isNativeCollectionRef(ref)
      ? openCollection(ref, ref, request, sets)
      : openDocument(sets.context, ref, sourcesOf(ref, request), request);
  },

  /** For a document, its own history with the changed fields. */
  changes(ref, request, sets) {
    if (isNativeCollectionRef(ref)) return changesOfCollection(ref, ref, request, sets);
    const { context } = sets;
    if (!context.permissions.may({ action: 'history_read', ref })) return [];
    const tuple = new RefTuple(ref, sourcesOf(ref, request));
    return documentEvents(context, ref, request.window).map((event) => ({ ...event, tuple }));
  },
};
