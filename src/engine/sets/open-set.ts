/** Opens any set for reading. Spec: sets 4. */
import { fail, Refusal, unreachable } from '../../errors.ts';
import { typeExpected, undefinedRef } from '../../fault-texts.ts';
import { LIMITS } from '../../limits.ts';
import { positionOf, type QueryPath } from '../../query/query-path.ts';
import { typeName } from '../../values/type-name.ts';
import { isKind, Ref, type Lambda, type SetValue, type Value } from '../../values/value.ts';
import type { EngineContext } from '../context/context.ts';
import { boundAfter, boundOf } from './cursors.ts';
import type { IndexDefinition } from '../catalog/definitions.ts';
import { requireRetained } from '../documents/documents.ts';
import { openDifference, openDistinct, openIntersection, openUnion } from './algebra.ts';
import { openDocument, openDocuments } from './collection-set.ts';
import { filterCursor } from './filtered.ts';
import { openMatch, type MatchSet } from './index-set.ts';
import { openJoin } from './join.ts';
import {
  EMPTY_CURSOR,
  type OpenSet,
  type SetCursor,
  type SetRequest,
  type SetTarget,
} from './set-cursor.ts';
import { aritiesOf, shapeOf } from './shape.ts';
import { elementOf, otherSide, reverseTuple, type Tuple } from './tuple.ts';
import { isNativeCollectionRef } from '../../values/native-refs.ts';

/** The form that reads, and the key its set is given under: where faults of reading are reported. */
export interface Reading {
  readonly path: QueryPath;
  readonly key: string;
}

/** Opens sets without events. Members a caller may not read are empty here: see `access.ts`. */
export function openerOf(context: EngineContext, reading: Reading): OpenSet {
  const open: OpenSet = (target, request) => {
    requireWidth(context);
    if (target.kind === 'ref') {
      return isNativeCollectionRef(target)
        ? openAllOf(context, target, target, request)
        : openDocument(context, target, sourceOf(target, request), request);
    }
    switch (target.op) {
      case 'match':
        return openIndex(context, reading, target, request);
      case 'documents':
        return openAllOf(context, target.collection, target, request);
      case 'singleton':
        return context.permissions.may({ action: 'read', ref: target.ref })
          ? openDocument(context, target.ref, sourceOf(target, request), request)
          : EMPTY_CURSOR;
      case 'union':
      case 'intersection':
      case 'difference':
        return ALGEBRA[target.op](target.sets, reversedOf(target), request, open);
      case 'distinct':
        return openDistinct(target.set, reversedOf(target), request, open);
      case 'reverse':
        return openReverse(target.set, request, open);
      case 'range':
        return open(target.set, requestBetween(context, target, request));
      case 'filter':
        return openFilter(context, reading, target, request, open);
      case 'join':
        return openJoin(
          target.set,
          targetOf(context, reading, target.with),
          reversedOf(target),
          request,
          open,
        );
      case 'events':
        return fail(
          'invalid argument',
          positionOf(reading.path, reading.key),
          'Sets are not compatible.',
        );
      default:
        return unreachable(target);
    }
  };
  const reversedOf = (set: SetValue) => shapeOf(context, set).reversed;
  return open;
}

/** Sets may share members: one can be much larger than its text. */
function requireWidth({ meters }: EngineContext): void {
  meters.work.openedSets += 1;
  if (meters.work.openedSets <= LIMITS.setsMax) return;
  throw new Refusal(
    'bad request',
    `The query opens more than the limit of ${LIMITS.setsMax} sets.`,
  );
}

const ALGEBRA = {
  union: openUnion,
  intersection: openIntersection,
  difference: openDifference,
} as const;

function requestBetween(
  context: EngineContext,
  set: Extract<SetValue, { readonly op: 'range' }>,
  request: SetRequest,
): SetRequest {
  const arities = aritiesOf(context, set.set);
  const from = boundOf(set.from, arities);
  const to = boundAfter(set.to, arities);
  return {
    ...request,
    lower: from ? [...request.lower, from] : request.lower,
    upper: to ? [...request.upper, to] : request.upper,
  };
}

const sourceOf = (set: SetTarget, { sources }: SetRequest): readonly Value[] =>
  sources ? [set] : [];

/** The index of a set; sets that were kept may outlive it. */
export function indexOfSet(
  context: EngineContext,
  ref: Ref,
  { path, key }: Reading,
): IndexDefinition {
  return (
    context.schema(ref.database).index(ref) ??
    fail('invalid ref', positionOf(path, key), undefinedRef('index', String(ref.id)))
  );
}

function openIndex(
  context: EngineContext,
  reading: Reading,
  set: MatchSet,
  request: SetRequest,
): SetCursor {
  const index = indexOfSet(context, set.index, reading);
  const { permissions } = context;
  if (!permissions.may({ action: 'read_index', index, terms: set.terms })) return EMPTY_CURSOR;
  if (request.past !== undefined) requireIndexRetained(context, index, request.past);
  const isOpen =
    !request.filtered && permissions.may({ action: 'read_all_of_index', index, terms: set.terms });
  if (isOpen) return openMatch(context, index, set, request);
  return filterCursor(openMatch(context, index, set, withRows(request)), request.first, ({ ref }) =>
    permissions.may({ action: 'read_entry', ref, index }),
  );
}

/** A page of an index is whole only as far back as the history of every collection it covers. */
function requireIndexRetained(context: EngineContext, index: IndexDefinition, past: number): void {
  const schema = context.schema(index.ref.database);
  for (const { collections } of index.sources) {
    const covered =
      collections === 'all'
        ? schema.all('collections')
        : [...collections].map((id) => schema.collection(id));
    for (const each of covered) if (each) requireRetained(context, each, past);
  }
}

function openAllOf(
  context: EngineContext,
  collection: Ref,
  set: SetTarget,
  request: SetRequest,
): SetCursor {
  const definition = context.schema(collection.database).collection(Number(collection.id));
  if (!definition) return EMPTY_CURSOR;
  if (request.past !== undefined) requireRetained(context, definition, request.past);
  const { permissions } = context;
  const sources = sourceOf(set, request);
  const isOpen =
    !request.filtered && permissions.may({ action: 'read_all_of_collection', collection });
  if (isOpen) return openDocuments(context, collection, sources, request);
  const cursor = openDocuments(context, collection, sources, withRows(request));
  return filterCursor(cursor, request.first, ({ ref }) => permissions.may({ action: 'read', ref }));
}

/** Whoever asks whether a document may be read is likely to look at it. */
const withRows = (request: SetRequest): SetRequest => ({ ...request, rows: true });

function openReverse(set: SetTarget, request: SetRequest, open: OpenSet): SetCursor {
  const cursor = open(set, {
    ...request,
    backward: !request.backward,
    lower: request.upper.map(otherSide),
    upper: request.lower.map(otherSide),
  });
  return {
    pull: () => cursor.pull().map(reverseTuple),
    narrow: (bound) => cursor.narrow(otherSide(bound)),
  };
}

function openFilter(
  context: EngineContext,
  { path, key }: Reading,
  { set, lambda }: Extract<SetValue, { readonly op: 'filter' }>,
  request: SetRequest,
  open: OpenSet,
): SetCursor {
  const { lambdas } = context;
  const rows = request.rows || lambdas.effectOf(lambda) !== 'pure';
  const time = request.past ?? 'present';
  return filterCursor(open(set, { ...request, rows }), request.first, (tuple) => {
    const verdict = lambdas.apply(lambda, elementOf(tuple), 'read', time);
    if (typeof verdict === 'boolean') return verdict;
    const text = typeExpected('Boolean', typeName(verdict));
    return fail('invalid argument', positionOf(path, key, 'filter'), text);
  });
}

/** The set that a join puts in the place of an element. */
export function targetOf(
  context: EngineContext,
  { path, key }: Reading,
  target: Lambda | Ref,
): (element: Tuple) => SetValue {
  if (target.kind === 'ref') {
    return ({ values, ref }) => ({
      kind: 'set',
      op: 'match',
      index: target,
      terms: values ?? [ref],
    });
  }
  return (element) => {
    const set = context.lambdas.apply(target, elementOf(element), 'pure');
    if (isKind(set, 'set')) return set;
    if (set instanceof Ref && isNativeCollectionRef(set)) {
      return { kind: 'set', op: 'documents', collection: set };
    }
    const text = typeExpected('Set', typeName(set));
    return fail('invalid argument', positionOf(path, key, 'with'), text);
  };
}
