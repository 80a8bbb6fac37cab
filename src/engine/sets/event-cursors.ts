/** Cursors of pages of events. Spec: sets 5.4. */
import { rawOf } from '../../codec/ordered-bytes.ts';
import { fail, type Step } from '../../errors.ts';
import { typeExpected } from '../../fault-texts.ts';
import { compareValues } from '../../values/compare.ts';
import { clamp, INT64_MAX, INT64_MIN } from '../../values/number.ts';
import { typeName } from '../../values/type-name.ts';
import {
  Action,
  Bytes,
  DateValue,
  integer,
  isArray,
  isInteger,
  isKind,
  isObject,
  Ref,
  Time,
} from '../../values/value.ts';
import type { ActionName, Event, ObjectValue, Value } from '../../values/value.ts';
import { refuseUnresolved } from './cursors.ts';
import { isSameRef } from '../catalog/refs.ts';
import { placeOf, rankOf, type Change } from './changes.ts';

/** A position between events: before all events that match the given members. */
export interface EventBound {
  /** The first values of a sort key; see `placeOf`. */
  readonly place: readonly Value[];
  /** The cursor as the page returns it. */
  readonly echo: Event;
}

const DAY_MICROS = 86_400_000_000n;

/** @throws QueryFailure `invalid argument`, `invalid ref` at `position` or below */
export function eventBoundOf(given: Value, position: readonly Step[]): EventBound {
  if (given === null) return startOf(INT64_MAX);
  if (isInteger(given)) return startOf(BigInt(given));
  if (given instanceof Time) return startOf(floorMicros(given.nanos));
  if (given instanceof DateValue) return startOf(BigInt(given.day) * DAY_MICROS);
  if (isKind(given, 'event')) {
    const { ts, action, document, data } = given;
    const members = new Map<string, Value>([
      ['ts', ts],
      ['action', new Action(action)],
    ]);
    if (document) members.set('document', document);
    if (document && data !== undefined && data !== null && isArray(data)) members.set('data', data);
    return boundOfMembers(members, position);
  }
  if (isObject(given)) return boundOfMembers(given, position);
  return wrongMember('Object, Integer, Time, or Date', given, position);
}

const floorMicros = (nanos: bigint): bigint =>
  (nanos - (((nanos % 1000n) + 1000n) % 1000n)) / 1000n;

/** The position before all events at a time. Times have a larger range than the Integers in events and cursors, so the time is limited. */
function startOf(micros: bigint): EventBound {
  const ts = clamp(micros, INT64_MIN, INT64_MAX);
  return { place: [integer(ts)], echo: echoOf(ts, 'add') };
}

const echoOf = (
  ts: bigint,
  action: ActionName,
  document?: Ref,
  data?: readonly Value[],
): Event => ({
  kind: 'event',
  ts: integer(ts),
  action,
  document,
  data,
});

/** Accepted combinations of members. */
const SHAPES: ReadonlySet<string> = new Set([
  'ts',
  'action,ts',
  ...['document', 'instance', 'resource'].map((ref) => `action,${ref},ts`),
  ...['document', 'instance'].map((ref) => ['action', 'data', ref, 'ts'].sort().join(',')),
  'action,resource,ts,values',
]);

const ACTIONS: ReadonlySet<Value> = new Set<ActionName>([
  'create',
  'update',
  'delete',
  'add',
  'remove',
]);

function boundOfMembers(members: ObjectValue, position: readonly Step[]): EventBound {
  const keys = [...members.keys()];
  if (!SHAPES.has(keys.toSorted().join(','))) {
    fail('invalid argument', position, `Cannot create event cursor with keys ${keys.join(', ')}.`);
  }
  const given = members.get('ts') ?? null;
  if (!isInteger(given)) return wrongMember('Integer', given, [...position, 'ts']);
  const ts = BigInt(given);
  if (!members.has('action')) return startOf(ts);
  const action = actionOf(members.get('action') ?? null, [...position, 'action']);
  const place: Value[] = [given, rankOf(action)];
  const ref = members.get('document') ?? members.get('instance') ?? members.get('resource');
  if (ref === undefined) return { place, echo: echoOf(ts, action) };
  const values = members.get('data') ?? members.get('values');
  refuseUnresolved([ref], position);
  if (!(ref instanceof Ref)) return wrongMember('Ref', ref, position);
  // Events of a document's own history have an object or null as `data`; those of sets have an array.
  const isOfSet =
    action === 'add' || action === 'remove' || (values !== undefined && isArray(values));
  place.push(ref, isOfSet ? 1 : 0);
  if (values === undefined) return { place, echo: echoOf(ts, action, ref) };
  const list = isArray(values) ? values : [values];
  const [repeated, rest] = list.slice(-2);
  // The form that `eventCursorOf` uses when the values alone do not distinguish two events.
  const isExact = rest instanceof Bytes && repeated instanceof Ref && isSameRef(repeated, ref);
  if (isExact) place.push(list.slice(0, -2), rawOf(rest.bytes));
  else place.push(list);
  return { place, echo: echoOf(ts, action, ref, list) };
}

function actionOf(given: Value, position: readonly Step[]): ActionName {
  const name = isKind(given, 'action') ? given.name : given;
  if (typeof name !== 'string') return wrongMember('String', given, position);
  if (ACTIONS.has(name)) return name as ActionName;
  return fail('invalid argument', position, `'${name}' is not an action of an event.`);
}

const wrongMember = (expected: string, given: Value, position: readonly Step[]): never =>
  fail('invalid argument', position, typeExpected(expected, typeName(given)));

export function isBeforeEventBound(change: Change, { place: bound }: EventBound): boolean {
  const place = placeOf(change);
  const isSame = (at: number): boolean =>
    compareValues(place[at] ?? null, bound[at] ?? place[at] ?? null) === 0;
  // The history of one document has at most one event at each time.
  const isOwn = change.data !== undefined && !bound[3] && isSame(0) && isSame(2);
  return !isOwn && compareValues(place, bound) < 0;
}
