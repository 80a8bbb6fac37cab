/** Time of the query, `abort`, comparisons and new ids. Spec: functions 1.1. */
import { fail, QueryFailure } from '../../errors.ts';
import { compareValues } from '../../values/compare.ts';
import { equalValues } from '../../values/equal.ts';
import { timeOfMicros } from '../../values/time.ts';
import { UnresolvedRef, type Value } from '../../values/value.ts';
import {
  any,
  argumentAt,
  boolean,
  nothing,
  param,
  positionAt,
  refuseOddSet,
  someOf,
  string,
  unresolvedFault,
} from '../casts.ts';
import { COVERED, walkingAll } from '../costs.ts';
import { define, type PureContext } from '../define.ts';
import type { FunctionRow } from '../function-row.ts';
import { positionOf } from '../query-path.ts';
import { isAtLeast } from '../session.ts';

const now = define('pure', { now: param(nothing, 'Null') }, COVERED, (_, context) =>
  timeOfMicros(context.session.snapshot),
);

const abort = define('pure', { abort: param(string, 'String') }, COVERED, (args, context) =>
  fail('transaction aborted', positionOf(context.path), args.abort),
);

const equals = define(
  'pure',
  { equals: param(someOf(any), 'Any+') },
  (args, context) => walkingAll(args.equals, context),
  (args, context) => {
    const actions = isAtLeast(context.apiVersion, '5') ? 'exact' : 'loose';
    return everyPair(args.equals, (a, b) => equalValues(a, b, actions));
  },
);

const everyPair = (values: readonly Value[], holds: (a: Value, b: Value) => boolean): boolean =>
  values.every((value, index) => {
    const next = values[index + 1];
    return next === undefined || holds(value, next);
  });

/** Whether `holds` is true for the comparison of every adjacent pair. */
function ordered(
  key: string,
  values: readonly Value[],
  context: PureContext,
  holds: (order: number) => boolean,
): boolean {
  const where = argumentAt(context.path, key);
  const unresolved = values.filter((value) => value instanceof UnresolvedRef);
  if (unresolved.length > 0) {
    throw new QueryFailure(unresolved.map((ref) => unresolvedFault(ref, positionAt(where))));
  }
  for (const value of values) refuseOddSet(value, where);
  return everyPair(values, (a, b) => holds(compareValues(a, b)));
}

const comparison = (key: string, holds: (order: number) => boolean): FunctionRow =>
  define(
    'pure',
    { [key]: param(someOf(any), 'Any+') },
    (args, context) => walkingAll(args[key] ?? [], context),
    (args, context) => ordered(key, args[key] ?? [], context, holds),
  );

const not = define('pure', { not: param(boolean, 'Boolean') }, COVERED, (args) => !args.not);

/** `next_id` is the deprecated name of `new_id`. */
const newId = (key: 'new_id' | 'next_id'): FunctionRow =>
  define('write', { [key]: param(nothing, 'Null') }, COVERED, (_, context) =>
    context.session.newId(),
  );

export const basicRows: readonly FunctionRow[] = [
  now,
  abort,
  equals,
  comparison('lt', (order) => order < 0),
  comparison('lte', (order) => order <= 0),
  comparison('gt', (order) => order > 0),
  comparison('gte', (order) => order >= 0),
  not,
  newId('new_id'),
  newId('next_id'),
];
