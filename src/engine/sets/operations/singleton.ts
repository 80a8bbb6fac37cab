/** `singleton`: the set of one document. Spec: sets 4, 6. */
import type { SetParts } from '../../../values/set-parts.ts';
import type { Ref, SetOf, Value } from '../../../values/value.ts';
import type { EngineContext } from '../../context/context.ts';
import { liveVersion, countDocumentRead } from '../../documents/documents.ts';
import { REFS, type SetOperation } from '../operation.ts';
import { within } from '../runs.ts';
import { EMPTY_CURSOR, sourcesOf, type SetCursor, type SetRequest } from '../set-cursor.ts';
import { changesOfDocument } from '../stored-versions.ts';
import { RefTuple } from '../tuple.ts';

export const parts = {
  ref: { kind: 'ref', wire: 'singleton' },
} as const satisfies SetParts;

export const singleton: SetOperation<SetOf<'singleton'>> = {
  shape: () => REFS,
  showsRefs: () => true,
  access: (set) => ({ target: set, filtered: false }),

  open(set, request, { context }) {
    return context.permissions.may({ action: 'read', ref: set.ref })
      ? openDocument(context, set.ref, sourcesOf(set, request), request)
      : EMPTY_CURSOR;
  },

  changes(set, request, { context }) {
    return context.permissions.may({ action: 'read', ref: set.ref })
      ? changesOfDocument(context, set.ref, sourcesOf(set, request))
      : [];
  },
};

/** A cursor over the set of one document. */
export function openDocument(
  context: EngineContext,
  ref: Ref,
  sources: readonly Value[],
  request: SetRequest,
): SetCursor {
  const accepts = within(request, [false]);
  let isRead = false;
  return {
    pull() {
      if (isRead) return [];
      isRead = true;
      const time = request.past ?? 'present';
      const live = liveVersion(context, ref, time);
      if (!live) return [];
      countDocumentRead(context, live, time);
      const tuple = new RefTuple(ref, sources);
      return accepts(tuple) ? [tuple] : [];
    },
    narrow: () => undefined,
  };
}
