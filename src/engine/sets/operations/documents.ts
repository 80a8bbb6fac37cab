/** `documents`: the documents of a collection, as a set of refs. Spec: sets 1.7, 4, 6. */
import type { SetParts } from '../../../values/set-parts.ts';
import type { Ref, SetOf } from '../../../values/value.ts';
import { requireRetained } from '../../documents/documents.ts';
import type { Change } from '../changes.ts';
import { openDocuments } from '../collection-scan.ts';
import { filterCursor } from '../filtered.ts';
import { REFS, type ChangesRequest, type SetOperation, type Sets } from '../operation.ts';
import {
  EMPTY_CURSOR,
  sourcesOf,
  withRows,
  type SetCursor,
  type SetRequest,
  type SetTarget,
} from '../set-cursor.ts';
import { changesOfDocuments, readableChanges } from '../stored-versions.ts';

export const parts = {
  collection: { kind: 'collection', wire: 'documents' },
} as const satisfies SetParts;

export const documents: SetOperation<SetOf<'documents'>> = {
  shape: () => REFS,
  showsRefs: () => true,

  access(set, sets) {
    const { collection, native = false } = set;
    const { permissions } = sets.context;
    if (native && !permissions.may({ action: 'read', ref: collection })) return undefined;
    const isOpen = permissions.may({ action: 'read_all_of_collection', collection });
    return { target: set, filtered: !isOpen };
  },

  open: (set, request, sets) => openCollection(set.collection, set, request, sets),
  changes: (set, request, sets) => changesOfCollection(set.collection, set, request, sets),
};

/** @param set the set or ref that denotes the collection: recorded as the source of its documents */
export function openCollection(
  collection: Ref,
  set: SetTarget,
  request: SetRequest,
  { context }: Sets,
): SetCursor {
  const definition = context.schema(collection.database).collection(Number(collection.id));
  if (!definition) return EMPTY_CURSOR;
  if (request.past !== undefined) requireRetained(context, definition, request.past);
  const { permissions } = context;
  const sources = sourcesOf(set, request);
  const isOpen =
    !request.filtered && permissions.may({ action: 'read_all_of_collection', collection });
  if (isOpen) return openDocuments(context, collection, sources, request);
  const cursor = openDocuments(context, collection, sources, withRows(request));
  return filterCursor(cursor, request.first, ({ ref }) => permissions.may({ action: 'read', ref }));
}

export function changesOfCollection(
  collection: Ref,
  set: SetTarget,
  request: ChangesRequest,
  { context }: Sets,
): readonly Change[] {
  const { permissions } = context;
  const changes = changesOfDocuments(context, collection, sourcesOf(set, request));
  const isOpen = permissions.may({ action: 'read_all_of_collection', collection });
  if (isOpen && !request.filtered) return changes;
  return readableChanges(changes, (ref) => permissions.may({ action: 'read', ref }));
}
