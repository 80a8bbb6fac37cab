/** `select` and `contains_*`. Spec: functions 1.1. */
import { fail } from '../../errors.ts';
import { typeExpected } from '../../fault-texts.ts';
import { equalValues } from '../../values/equal.ts';
import { collectionRefOf, eventMembers } from '../../values/object-view.ts';
import { isArray, isKinded, isObject, UnresolvedRef } from '../../values/value.ts';
import type { Document, Kinded, Page, Ref, Value } from '../../values/value.ts';
import {
  any,
  argumentAt,
  boolean,
  lazy,
  optional,
  param,
  path,
  refuseArgument,
  refuseUnresolved,
  string,
  wrongType,
} from '../casts.ts';
import { BY_PARTS, comparing, COVERED } from '../costs.ts';
import { define, type PureContext, type ReadContext } from '../define.ts';
import type { Cast, FunctionRow } from '../function-row.ts';
import { databaseOf, idOf, valueAt, valuesAt, type PathStep } from '../navigate.ts';
import { positionOf } from '../query-path.ts';
import { isAtLeast } from '../session.ts';

interface Source {
  readonly from: Value;
  readonly default: (() => Value) | undefined;
}

/** An unresolved ref has no parts, so nothing can be selected from it. */
function refuseUnresolvedFrom(value: Value, key: string, context: PureContext): void {
  if (value instanceof UnresolvedRef) refuseUnresolved(value, argumentAt(context.path, key));
}

function selectOne(steps: readonly PathStep[], source: Source, context: PureContext): Value {
  const otherwise = eager(source.default, context);
  if (steps.length > 0) refuseUnresolvedFrom(source.from, 'from', context);
  const found = valueAt(source.from, steps, context.session);
  if (found !== undefined) return found;
  if (otherwise) return otherwise();
  return fail(
    'value not found',
    positionOf(context.path, 'from'),
    `Value not found at path [${steps.join(',')}].`,
  );
}

function selectEvery(steps: readonly PathStep[], source: Source, context: PureContext): Value {
  const otherwise = eager(source.default, context);
  refuseUnresolvedFrom(source.from, 'from', context);
  return valuesAt(source.from, steps, context.session) ?? otherwise?.() ?? [];
}

/** Before version 3 the default was always evaluated, even if it was not needed. */
function eager(
  otherwise: (() => Value) | undefined,
  context: PureContext,
): (() => Value) | undefined {
  if (!otherwise || isAtLeast(context.apiVersion, '3')) return otherwise;
  const value = otherwise();
  return () => value;
}

const pathParam = param(path, 'Path');
const source = { from: param(any, 'Any'), default: lazy } as const;

const select = define(
  'pure',
  { select: pathParam, ...source, all: optional(boolean, 'Boolean') },
  BY_PARTS,
  (args, context) => (args.all === true ? selectEvery : selectOne)(args.select, args, context),
);

const selectAll = define('pure', { select_all: pathParam, ...source }, BY_PARTS, (args, context) =>
  selectEvery(args.select_all, args, context),
);

/** The old name of `select_all`. */
const selectAsIndex = define(
  'pure',
  { select_as_index: pathParam, ...source },
  BY_PARTS,
  (args, context) => selectEvery(args.select_as_index, args, context),
);

function containsAt(path: readonly PathStep[], value: Value, context: PureContext): boolean {
  if (path.length > 0) refuseUnresolvedFrom(value, 'in', context);
  return valueAt(value, path, context.session) !== undefined;
}

/** The deprecated name of `contains_path`. */
const contains = define(
  'pure',
  { contains: pathParam, in: param(any, 'Any') },
  COVERED,
  (args, context) => containsAt(args.contains, args.in, context),
);

const containsPath = define(
  'pure',
  { contains_path: pathParam, in: param(any, 'Any') },
  COVERED,
  (args, context) => containsAt(args.contains_path, args.in, context),
  { since: '3' },
);

const noArray: Cast<Value> = (value, where) =>
  isArray(value) ? wrongType('Object', value, where) : value;

const containsField = define(
  'pure',
  { contains_field: param(string, 'String'), in: param(noArray, 'Any') },
  COVERED,
  (args, context) => containsAt([args.contains_field], args.in, context),
  { since: '3' },
);

const containsValue = define(
  'read',
  { contains_value: param(any, 'Any'), in: param(any, 'Any') },
  (args, context) => comparing(args.contains_value, args.in, context),
  (args, context) => isIn(args.contains_value, args.in, context),
  { since: '3' },
);

function isIn(value: Value, container: Value, context: ReadContext): boolean {
  if (isArray(container)) return holds(container, value);
  if (isObject(container)) return holds(container.values(), value);
  return isKinded(container) ? isInKinded(value, container, context) : refuseScalar(context);
}

/** Compares with the equality of array elements: 1 and 1.0 differ. */
function holds(values: Iterable<Value | undefined>, value: Value): boolean {
  for (const each of values) {
    if (each !== undefined && equalValues([each], [value])) return true;
  }
  return false;
}

function isInKinded(value: Value, container: Kinded, context: ReadContext): boolean {
  const { session, time, path } = context;
  switch (container.kind) {
    case 'document':
      return holds(documentParts(container), value);
    case 'event':
      return holds(eventMembers(container).values(), value);
    case 'sourced':
      return holds([container.value, container.sources], value);
    case 'page':
      return holds(pageParts(container), value);
    case 'ref':
      return holds(refParts(container, context), value);
    case 'set':
      return session.setContains(container, value, time, path);
    case 'unresolved':
      return refuseUnresolved(container, argumentAt(path, 'in'));
    default:
      return refuseScalar(context);
  }
}

const documentParts = ({ ref, ts, fields }: Document): readonly Value[] => [
  ref,
  collectionRefOf(ref),
  ts,
  ...fields.values(),
];

const pageParts = ({ data, before, after }: Page): readonly (Value | undefined)[] => [
  data,
  before,
  after,
];

const refParts = (ref: Ref, { session }: ReadContext): readonly (Value | undefined)[] => [
  idOf(ref, session),
  collectionRefOf(ref),
  databaseOf(ref, session),
];

const refuseScalar = (context: ReadContext): never =>
  refuseArgument(context, 'in', typeExpected('Object, Array, Page, Set, or Ref', 'Scalar'));

export const selectRows: readonly FunctionRow[] = [
  select,
  selectAll,
  selectAsIndex,
  contains,
  containsPath,
  containsField,
  containsValue,
];
