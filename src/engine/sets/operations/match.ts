/** `match`: the entries of an index with exactly these terms. Spec: sets 3, 4, 6. */
import { decodeHistoryEntry } from '../../../codec/key.ts';
import { prefixRange } from '../../../codec/ranges.ts';
import { positionOf } from '../../../query/query-path.ts';
import type { Entry } from '../../../store/port.ts';
import type { SetParts } from '../../../values/set-parts.ts';
import type { Micros, Ref, SetOf } from '../../../values/value.ts';
import { addedAt } from '../../catalog/added-at.ts';
import type { IndexDefinition, IndexField } from '../../catalog/definitions.ts';
import { failUndefined } from '../../catalog/fail-undefined.ts';
import type { EngineContext } from '../../context/context.ts';
import { requireRetained } from '../../documents/documents.ts';
import { changeAt, type Change } from '../changes.ts';
import { filterCursor } from '../filtered.ts';
import { MatchEntries } from '../match-entries.ts';
import { mergeOrdered } from '../merge-ordered.ts';
import { shapeOfIndex, type SetOperation, type Sets } from '../operation.ts';
import { RangeScan, type ScanRange } from '../range-scan.ts';
import { EMPTY_CURSOR, withRows, type SetCursor, type SetRequest } from '../set-cursor.ts';
import { readAll, readableChanges } from '../stored-versions.ts';
import type { Tuple } from '../tuple.ts';

export const parts = {
  index: { kind: 'index', wire: 'match' },
  terms: { kind: 'terms', wire: 'terms' },
} as const satisfies SetParts;

type MatchSet = SetOf<'match'>;

export const match: SetOperation<MatchSet> = {
  shape: ({ index }, sets) => shapeOfIndex(sets, index),

  showsRefs({ index: ref }, { schema }) {
    const values = schema(ref.database).index(ref)?.values ?? [];
    const isRef = ({ binding, path }: IndexField) => !binding && path?.join() === 'ref';
    return values.length === 0 || values.some(isRef);
  },

  access(set, sets) {
    const { permissions } = sets.context;
    const index = indexOf(set.index, sets);
    const { terms } = set;
    if (!permissions.may({ action: 'read_index', index, terms })) return undefined;
    const isOpen = permissions.may({ action: 'read_all_of_index', index, terms });
    return { target: set, filtered: !isOpen };
  },

  open(set, request, sets) {
    const { context } = sets;
    const { permissions } = context;
    const index = indexOf(set.index, sets);
    const { terms } = set;
    if (!permissions.may({ action: 'read_index', index, terms })) return EMPTY_CURSOR;
    if (request.past !== undefined) requireIndexRetained(context, index, request.past);
    const isOpen =
      !request.filtered && permissions.may({ action: 'read_all_of_index', index, terms });
    if (isOpen) return openEntries(context, index, set, request);
    const cursor = openEntries(context, index, set, withRows(request));
    return filterCursor(cursor, request.first, ({ ref }) =>
      permissions.may({ action: 'read_entry', ref, index }),
    );
  },

  changes(set, { sources, filtered }, sets) {
    const { permissions } = sets.context;
    const { terms } = set;
    const index = indexOf(set.index, sets);
    if (!permissions.may({ action: 'read_index', index, terms })) return [];
    const changes = changesOfEntries(sets.context, index, set, sources);
    const isOpen = permissions.may({ action: 'read_all_of_index', index, terms });
    if (isOpen && !filtered) return changes;
    return readableChanges(changes, (ref) => permissions.may({ action: 'read_entry', ref, index }));
  },
};

/** The index of the set. Fails if it no longer exists: a stored set may outlive its index. */
const indexOf = (ref: Ref, { schema, reading }: Sets): IndexDefinition =>
  schema(ref.database).index(ref) ??
  failUndefined({ schema }, 'indexes', ref, positionOf(reading.path, reading.key));

/** A page of an index at a past time is complete only if the history of all its collections reaches back that far. */
function requireIndexRetained(context: EngineContext, index: IndexDefinition, past: Micros): void {
  const schema = context.schema(index.ref.database);
  for (const { collections } of index.sources) {
    const covered =
      collections === 'all'
        ? schema.all('collections')
        : [...collections].map((id) => schema.collection(id));
    for (const each of covered) if (each) requireRetained(context, each, past);
  }
}

/** @throws Refusal `bad request` for terms that are too large for an index entry */
function openEntries(
  context: EngineContext,
  index: IndexDefinition,
  set: MatchSet,
  request: SetRequest,
): SetCursor {
  if (set.terms.length !== index.terms.length) return EMPTY_CURSOR;
  const entries = new MatchEntries(context, index, set, request.sources);
  const range = { by: 'entry', ...prefixRange(entries.prefix) } as const;
  const source = { reader: context.reader, meters: context.meters, partitions: index.partitions };
  const scan = (
    scanRange: Pick<ScanRange, 'space' | 'rows' | 'prefetch'>,
    decode: (entry: Entry) => Tuple | undefined,
  ) =>
    new RangeScan(
      source,
      { ...range, ...scanRange },
      request,
      (bound) => entries.keyOf(bound),
      decode,
    );
  const { past } = request;
  if (past === undefined) {
    return scan({ space: 'documents', rows: request.rows, prefetch: true }, ({ entry }) =>
      entries.tupleOf(entry),
    );
  }
  const lasting = scan({ space: 'documents', rows: true }, (found) =>
    addedAt(found) <= past ? entries.tupleOf(found.entry) : undefined,
  );
  const ended = scan({ space: 'history', rows: false }, (found) => {
    const { entry, added, removed } = decodeHistoryEntry(found.entry);
    return added <= past && past < removed ? entries.tupleOf(entry) : undefined;
  });
  return mergeOrdered([lasting, ended], request);
}

function changesOfEntries(
  context: EngineContext,
  index: IndexDefinition,
  set: MatchSet,
  sources: boolean,
): readonly Change[] {
  if (set.terms.length !== index.terms.length) return [];
  const entries = new MatchEntries(context, index, set, sources);
  const range = { by: 'entry', ...prefixRange(entries.prefix) } as const;
  const changes: Change[] = [];
  readAll(context, { ...range, space: 'documents', rows: true }, index.partitions, (found) => {
    const added = addedAt(found);
    const tuple = entries.tupleAddedAt(added, found.entry);
    if (tuple) changes.push(changeAt(added, 'add', tuple));
  });
  readAll(context, { ...range, space: 'history', rows: false }, 1, (found) => {
    const { entry, added, removed } = decodeHistoryEntry(found.entry);
    const tuple = entries.tupleAddedAt(added, entry);
    if (!tuple) return;
    changes.push(changeAt(added, 'add', tuple), changeAt(removed, 'remove', tuple));
  });
  return changes;
}
