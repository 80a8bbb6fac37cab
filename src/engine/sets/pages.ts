/** Pages and other readers of sets. Spec: sets 5; functions 1.4. */
import { LIMITS } from '../../limits.ts';
import { positionOf, type QueryPath } from '../../query/query-path.ts';
import type { PageOptions, ReadTime } from '../../query/session.ts';
import { equalValues } from '../../values/equal.ts';
import { isNativeCollectionRef } from '../../values/native-refs.ts';
import {
  asArray,
  isKind,
  type Micros,
  type Page,
  type Ref,
  type Value,
} from '../../values/value.ts';
import type { EngineContext } from '../context/context.ts';
import { boundOf, refuseUnresolved } from './cursors.ts';
import { failDenied } from '../documents/documents.ts';
import { IsolatedMeters } from '../context/meters.ts';
import { asStored } from './match-entries.ts';
import type { EventWindow } from '../documents/document-events.ts';
import { eventBoundOf, isBeforeEventBound, type EventBound } from './event-cursors.ts';
import { eventCursorOf, eventOf, historyOf, sourcesOfChange } from './set-history.ts';
import type { HistoryRequest } from './set-history.ts';
import type { Change } from './changes.ts';
import type { Access, SetShape } from './operation.ts';
import { SetReader } from './operations.ts';
import { takeTuples } from './set-cursor.ts';
import type { SetCursor, SetRequest, SetTarget } from './set-cursor.ts';
import { cursorOf, elementOf, tupleBytes, type Bound, type Tuple } from './tuple.ts';

/** @throws QueryFailure `permission denied` at `[paginate]`; faults of the cursor at its option */
export function paginate(
  context: EngineContext,
  target: SetTarget,
  options: PageOptions,
  path: QueryPath,
): Page {
  const sets = new SetReader(context, { path, key: 'paginate' });
  const sized = { ...options, size: Math.min(options.size, LIMITS.pageSizeMax) };
  const shape = sets.shapeOf(target);
  return options.events || shape.history
    ? eventsPage(sets, target, sized)
    : tuplesPage(sets, target, sized, shape);
}

function tuplesPage(
  sets: SetReader,
  target: SetTarget,
  options: PageOptions,
  { arities }: SetShape,
): Page {
  const { cursor, size } = options;
  const given = cursor && asArray(cursor.value);
  if (cursor && given) refuseUnresolved(given, positionOf(sets.reading.path, ...cursor.steps));
  const bound = given && boundOf(given, arities);
  const access = requireAccess(sets, target);
  if (size <= 0) return emptyPage(cursor?.side, given, size);
  const isBackward = cursor?.side === 'before';
  // Nothing is before the start of a set.
  if (isBackward && !bound) return emptyPage('before', given, -1);
  const found = takeTuples(
    openTuples(sets, access, {
      past: pastOf(sets.context, options.time),
      backward: isBackward,
      lower: bound && !isBackward ? [bound] : [],
      upper: bound && isBackward ? [bound] : [],
      first: size + 1,
      rows: size <= ROWS_PAGE_MAX && sets.showsRefs(access.target),
      sources: options.sources,
    }),
    size + 1,
  );
  countShown(sets, access, found);
  const tuples = found.slice(0, size);
  if (isBackward) tuples.reverse();
  const first = tuples[0];
  const next = found[size];
  return {
    kind: 'page',
    before: isBackward ? next && first && cursorOf(first, next) : given,
    after: isBackward ? given : next && cursorOf(next, tuples.at(-1)),
    data: tuples.map(options.sources ? sourcedElementOf : elementOf),
    cursors: () => tuples.map((tuple, i) => cursorOf(tuple, tuples[i - 1])),
  };
}

const sourcedElementOf = (tuple: Tuple): Value => ({
  kind: 'sourced',
  value: elementOf(tuple),
  sources: tuple.sources,
});

/** The documents of a larger page are not fetched with it, because few queries read all of them. */
const ROWS_PAGE_MAX = 1000;

function eventsPage(
  sets: SetReader,
  target: SetTarget,
  { cursor, size, time, sources }: PageOptions,
): Page {
  const bound =
    cursor && eventBoundOf(cursor.value, positionOf(sets.reading.path, ...cursor.steps));
  const access = requireAccess(sets, target);
  const past = pastOf(sets.context, time);
  const isBackward = cursor?.side === 'before';
  const window = isOwnHistory(target) ? windowOf(bound, isBackward, size, past) : undefined;
  const changes = openHistory(sets, access, { past, sources, window });
  if (size <= 0) return emptyPage(cursor?.side, bound?.echo, size);
  const found = bound ? changes.findIndex((change) => !isBeforeEventBound(change, bound)) : 0;
  const at = found < 0 ? changes.length : found;
  const start = isBackward ? Math.max(0, at - size) : at;
  const page = changes.slice(start, isBackward ? at : at + size);
  countShown(
    sets,
    access,
    page.map(({ tuple }) => tuple),
  );
  const [first] = page;
  const previous = changes[start - 1];
  const next = changes[at + size];
  return {
    kind: 'page',
    before: isBackward ? previous && first && eventCursorOf(first, previous) : bound?.echo,
    after: isBackward ? bound?.echo : next && eventCursorOf(next, page.at(-1)),
    data: page.map(sources ? sourcedEventOf : eventOf),
    cursors: () => page.map((change, i) => eventCursorOf(change, page[i - 1])),
  };
}

/** Whether the target is the history of one document. Its versions are ordered by time, so a page need not read all of them. */
function isOwnHistory(target: SetTarget): boolean {
  const of = isKind(target, 'set') && target.op === 'events' ? target.of : target;
  return isKind(of, 'ref') && !isNativeCollectionRef(of);
}

/** The window of a page: the events of the page, one before it, one after it, and one at the time of its cursor. */
function windowOf(
  bound: EventBound | undefined,
  isBackward: boolean,
  size: number,
  past = Infinity,
): EventWindow {
  const at = bound ? Number(bound.place[0]) : -Infinity;
  const ts = Math.min(at, isBackward ? past : Infinity, Number.MAX_SAFE_INTEGER - 1);
  return { side: isBackward ? 'to' : 'from', ts, count: Math.max(0, size) + 2 };
}

const sourcedEventOf = (change: Change): Value => ({
  kind: 'sourced',
  value: eventOf(change),
  sources: sourcesOfChange(change),
});

/**
 * A page without elements. With size 0 it has the cursor on both sides, with a negative size only on the side where other pages have it.
 */
function emptyPage(
  side: 'before' | 'after' | undefined,
  echo: Value | undefined,
  size: number,
): Page {
  const isBoth = size === 0;
  return {
    kind: 'page',
    before: isBoth || side === 'after' ? echo : undefined,
    after: isBoth || side === 'before' ? echo : undefined,
    data: [],
    cursors: undefined,
  };
}

/** Size of the first batch of a fold. */
const ELEMENTS_FIRST = 64;

/**
 * All elements of a set in order, read in batches of growing size.
 * @throws QueryFailure `permission denied` at `[key]`
 */
export function* elements(
  context: EngineContext,
  target: SetTarget,
  time: ReadTime,
  path: QueryPath,
  key: string,
): Generator<Value, void, undefined> {
  const sets = new SetReader(context, { path, key });
  const past = pastOf(context, time);
  const access = requireAccess(sets, target);
  if (sets.shapeOf(target).history) {
    const changes = openHistory(sets, access, { past, sources: false });
    const note = shownMeter(sets, access);
    for (const change of changes) {
      note?.(change.tuple);
      yield eventOf(change);
    }
    return;
  }
  const cursor = openTuples(sets, access, {
    past,
    backward: false,
    lower: [],
    upper: [],
    first: ELEMENTS_FIRST,
    rows: false,
    sources: false,
  });
  const note = shownMeter(sets, access);
  for (let batch = cursor.pull(); batch.length > 0; batch = cursor.pull()) {
    for (const tuple of batch) {
      note?.(tuple);
      yield elementOf(tuple);
    }
  }
}

/**
 * The document of the first tuple of a set. Undefined when the set is empty.
 * @throws QueryFailure `permission denied` at `[key]`
 */
export function firstRef(
  context: EngineContext,
  target: SetTarget,
  time: ReadTime,
  path: QueryPath,
  key: string,
): Ref | undefined {
  const sets = new SetReader(context, { path, key });
  const past = pastOf(context, time);
  const access = requireAccess(sets, target);
  if (sets.shapeOf(target).history) {
    const [first] = openHistory(sets, access, { past, sources: false });
    countShown(sets, access, first ? [first.tuple] : []);
    return first?.tuple.ref;
  }
  const request = { past, backward: false, lower: [], upper: [], rows: true, sources: false };
  const found = takeTuples(openTuples(sets, access, { ...request, first: 1 }), 1);
  countShown(sets, access, found);
  return found[0]?.ref;
}

/**
 * Whether the set contains `value` as a whole element: looks up the element at `value` as a cursor. Spec: functions 1.1, `contains_value`.
 * @throws QueryFailure `permission denied` at `[in]`
 */
export function setContains(
  context: EngineContext,
  target: SetTarget,
  given: Value,
  time: ReadTime,
  path: QueryPath,
): boolean {
  const sets = new SetReader(context, { path, key: 'in' });
  const value = asStored(context, given);
  const { arities, history } = sets.shapeOf(target);
  if (history) {
    for (const each of elements(context, target, time, path, 'in')) {
      if (equalValues(each, value)) return true;
    }
    return false;
  }
  const access = requireAccess(sets, target);
  const values = asArray(value);
  const boundAt = (side: Bound['side']): readonly Bound[] =>
    values.length === 0 ? [] : [{ values, ref: undefined, side }];
  const past = pastOf(context, time);
  const [lower, upper] = [boundAt('low'), boundAt('high')];
  const isAt = (backward: boolean): boolean => {
    const request = { past, backward, lower, upper, first: 1, rows: false, sources: false };
    const found = takeTuples(openTuples(sets, access, request), 1);
    countShown(sets, access, found);
    const [first] = found;
    return first !== undefined && equalValues(elementOf(first), value);
  };
  // Of the tuples that start with `values`, the shortest is the first, or, in some reversed sets, the last.
  return isAt(false) || (arities.length !== 1 && isAt(true));
}

function requireAccess(sets: SetReader, target: SetTarget): Access {
  const { path, key } = sets.reading;
  return sets.accessTo(target) ?? failDenied(positionOf(path, key));
}

const openTuples = (
  sets: SetReader,
  { target, filtered }: Access,
  request: Omit<SetRequest, 'filtered' | 'tupleWork'>,
): SetCursor =>
  (filtered ? uncounted(sets) : sets).open(target, { ...request, filtered, tupleWork: 0 });

const openHistory = (
  sets: SetReader,
  { target, filtered }: Access,
  request: Omit<HistoryRequest, 'filtered'>,
): readonly Change[] =>
  historyOf(filtered ? uncounted(sets) : sets, target, { ...request, filtered });

/** A reader that does not count reads: the metrics of a filtered set would reveal how much of it is hidden. */
const uncounted = ({ context, reading }: SetReader): SetReader => {
  const { budget, work } = context.meters;
  return new SetReader({ ...context, meters: new IsolatedMeters(budget, work) }, reading);
};

/**
 * For filtered sets, returns a function that counts a shown tuple as read. Undefined: nothing is filtered, and reads are counted as they
 * happen.
 */
function shownMeter(
  { context: { meters } }: SetReader,
  { filtered }: Access,
): ((tuple: Tuple) => void) | undefined {
  if (!filtered) return undefined;
  const note = meters.openShown();
  return (tuple) => note(tupleBytes(tuple));
}

function countShown(sets: SetReader, access: Access, tuples: readonly Tuple[]): void {
  const note = shownMeter(sets, access);
  if (note) for (const tuple of tuples) note(tuple);
}

/** The past time to read at. Undefined: the present. */
const pastOf = ({ snapshot }: EngineContext, time: ReadTime): Micros | undefined =>
  time === 'present' || time >= snapshot ? undefined : time;
