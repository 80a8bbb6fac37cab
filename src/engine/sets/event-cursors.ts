/** Cursors of pages of events. Spec: sets 5.4. */
import { fail, type Step } from '../../errors.ts';
import { typeExpected } from '../../fault-texts.ts';
import { compareRefs, compareValues } from '../../values/compare.ts';
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
import { coveredBy, isEnd, typesOf, type Change } from './changes.ts';
import type { Tuple } from './tuple.ts';

/** A position between events: before all events that match the given members. */
export interface EventBound {
  readonly ts: bigint;
  readonly action?: ActionName;
  readonly document?: Ref;
  readonly values?: readonly Value[];
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

/** Before all events at a time. Times reach further than the Integers that events and cursors have. */
function startOf(micros: bigint): EventBound {
  const ts = clamp(micros, INT64_MIN, INT64_MAX);
  return { ts, echo: echoOf(ts, 'add') };
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
  const ref = members.get('document') ?? members.get('instance') ?? members.get('resource');
  if (ref === undefined) return { ts, action, echo: echoOf(ts, action) };
  const values = members.get('data') ?? members.get('values');
  refuseUnresolved([ref], position);
  if (!(ref instanceof Ref)) return wrongMember('Ref', ref, position);
  const bound = { ts, action, document: ref };
  if (values === undefined) return { ...bound, echo: echoOf(ts, action, ref) };
  const list = isArray(values) ? values : [values];
  return { ...bound, values: list, echo: echoOf(ts, action, ref, list) };
}

function actionOf(given: Value, position: readonly Step[]): ActionName {
  const name = isKind(given, 'action') ? given.name : given;
  if (typeof name !== 'string') return wrongMember('String', given, position);
  if (ACTIONS.has(name)) return name as ActionName;
  return fail('invalid argument', position, `'${name}' is not an action of an event.`);
}

const wrongMember = (expected: string, given: Value, position: readonly Step[]): never =>
  fail('invalid argument', position, typeExpected(expected, typeName(given)));

/** Whether a change is before the bound: in the order of `compareChanges`. */
export function isBeforeEventBound(change: Change, bound: EventBound): boolean {
  const ts = BigInt(change.ts);
  if (ts !== bound.ts) return ts < bound.ts;
  const { action, document, values } = bound;
  if (action === undefined) return false;
  const isOwn = change.data !== undefined;
  const order = document ? compareRefs(change.tuple.ref, document) : 0;
  // The history of one document has one position at each time.
  if (isOwn && order === 0 && !(document && SET_ACTIONS.has(action))) return false;
  const rank = Number(isEnd({ action })) - Number(isEnd(change));
  if (rank !== 0 || !document) return rank < 0;
  if (order !== 0) return order < 0;
  return isOwn || (values !== undefined && isBeforeValues(change.tuple, values));
}

/** @param given ends in the types of the values if the cursor had to tell two events apart */
function isBeforeValues(tuple: Tuple, given: readonly Value[]): boolean {
  const own = coveredBy(tuple);
  const types = given.at(-1);
  return types instanceof Bytes && given.length === own.length + 1
    ? compareValues([own, typesOf(tuple)], [given.slice(0, -1), types]) < 0
    : compareValues(own, given) < 0;
}

const SET_ACTIONS: ReadonlySet<ActionName> = new Set(['add', 'remove']);
