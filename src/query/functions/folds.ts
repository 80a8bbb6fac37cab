/** Folds over arrays, pages and sets, and other functions that read all elements. Spec: functions 1.2. */
import { QueryFailure, type Fault } from '../../errors.ts';
import { compareValues } from '../../values/compare.ts';
import { addIntegers, toDouble } from '../../values/number.ts';
import { double, isArray, isInteger, isKind, isNumber, UnresolvedRef } from '../../values/value.ts';
import type { Page, SetValue, Value } from '../../values/value.ts';
import {
  any,
  argumentAt,
  inPlace,
  iterable,
  param,
  positionAt,
  refuseArgument,
  refuseEmpty,
  refuseOddSet,
  setOrArray,
  unresolvedFault,
  wrongType,
} from '../casts.ts';
import { BY_PARTS, COVERED, slicing, walking } from '../costs.ts';
import { define, type ReadContext } from '../define.ts';
import type { FunctionRow } from '../function-row.ts';
import { pageOf } from './arrays.ts';
import { failWhenFull } from '../parsed.ts';
import { Multiset } from './multiset.ts';

type Collection = readonly Value[] | Page | SetValue;

const elementsOf = (collection: Collection, key: string, context: ReadContext): Iterable<Value> => {
  if (isArray(collection)) return collection;
  return collection.kind === 'page'
    ? collection.data
    : context.session.elements(collection, context.time, context.path, key);
};

/** The result for a page is a page with this single element. */
const inShape = (collection: Collection, result: Value): Value =>
  isArray(collection) || collection.kind === 'set'
    ? result
    : { ...collection, data: [result], cursors: undefined };

/** Units of work for each element of an array or page. Elements of a set are charged while the set is read. */
const ELEMENT_WORK = 80;

const folding = (collection: Collection = []): number => {
  if (isArray(collection)) return collection.length * ELEMENT_WORK;
  return collection.kind === 'page' ? collection.data.length * ELEMENT_WORK : COVERED;
};

/** The elements for a fold without a lambda. Elements of sets and pages are charged one step each. */
const counted = (collection: Collection, key: string, context: ReadContext): Iterable<Value> =>
  isArray(collection) ? collection : charged(elementsOf(collection, key, context), context);

function* charged(elements: Iterable<Value>, context: ReadContext): Generator<Value, void> {
  for (const element of elements) {
    context.session.charge(1);
    yield element;
  }
}

const reduce = define(
  'read',
  { reduce: inPlace, initial: param(any, 'Any'), collection: param(iterable, 'Iterable') },
  COVERED,
  (args, context) => {
    const elements = elementsOf(args.collection, 'collection', context);
    return inShape(args.collection, context.fold(args.reduce, args.initial, elements));
  },
);

/** Makes a row that computes one value from all elements. */
const foldOf = (
  key: string,
  fold: (elements: Iterable<Value>, context: ReadContext) => Value,
): FunctionRow => {
  return define(
    'read',
    { [key]: param(iterable, 'Iterable') },
    (args) => folding(args[key]),
    (args, context) => {
      const collection = args[key] ?? [];
      return inShape(collection, fold(counted(collection, key, context), context));
    },
  );
};

const count = foldOf('count', (elements) => {
  let found = 0;
  for (const _ of elements) found += 1;
  return found;
});

/** The sum is an Integer until the first Double. */
const sum = foldOf('sum', (elements, context) => {
  let whole: number | bigint = 0;
  let real: number | undefined;
  for (const element of elements) {
    if (!isNumber(element)) return wrongType('Number', element, argumentAt(context.path, 'sum'));
    if (real !== undefined) real += toDouble(element);
    else if (isInteger(element)) whole = addIntegers(whole, element);
    else real = toDouble(whole) + toDouble(element);
  }
  return real === undefined ? whole : double(real);
});

const mean = foldOf('mean', (elements, context) => {
  const where = argumentAt(context.path, 'mean');
  let total = 0;
  let found = 0;
  for (const element of elements) {
    if (!isNumber(element)) return wrongType('Number', element, where);
    total += toDouble(element);
    found += 1;
  }
  return found === 0 ? refuseEmpty(where) : double(total / found);
});

/** Looks at all elements, because a later one that is not a Boolean must still fail. */
const truthOf = (key: 'any' | 'all'): FunctionRow =>
  foldOf(key, (elements, context) => {
    let result = key === 'all';
    for (const element of elements) {
      if (typeof element !== 'boolean') {
        return wrongType('Boolean', element, argumentAt(context.path, key));
      }
      result = key === 'all' ? result && element : result || element;
    }
    return result;
  });

/** Of equal elements the last one wins. `isBetter` receives the comparison of the next element with the best so far. */
const extremeOf = (key: 'max' | 'min', isBetter: (order: number) => boolean): FunctionRow =>
  define(
    'read',
    { [key]: param(iterable, 'Iterable') },
    (args) => 2 * folding(args[key]),
    (args, context) => {
      const where = argumentAt(context.path, key);
      const collection = unwrapped(args[key] ?? []);
      let best: Value | undefined;
      const faults: Fault[] = [];
      for (const element of counted(collection, key, context)) {
        if (element instanceof UnresolvedRef) {
          faults.push(unresolvedFault(element, positionAt(where)));
          failWhenFull(faults);
        }
        // After the first undefined ref, the remaining elements are only checked for more of them: all are reported.
        if (element instanceof UnresolvedRef || faults.length > 0) continue;
        refuseOddSet(element, where);
        const units = walking(element, context);
        if (units !== COVERED) context.session.spend(units);
        if (best === undefined || isBetter(compareValues(element, best))) best = element;
      }
      if (faults.length > 0) throw new QueryFailure(faults);
      return best === undefined ? refuseEmpty(where) : inShape(collection, best);
    },
  );

/** An array whose only element is a collection means that collection. */
function unwrapped(collection: Collection): Collection {
  if (!isArray(collection) || collection.length !== 1) return collection;
  const [only] = collection;
  if (only === undefined) return collection;
  return isArray(only) || isKind(only, 'set') || isKind(only, 'page') ? only : collection;
}

const distinct = define(
  'pure',
  { distinct: param(iterable, 'Iterable') },
  BY_PARTS,
  ({ distinct: collection }, context) => {
    const seen = new Multiset(context);
    const isFirst = (value: Value): boolean => seen.add(value) === 1;
    if (isArray(collection)) return collection.filter(isFirst);
    if (collection.kind === 'set') return { kind: 'set', op: 'distinct', set: collection };
    const firsts = collection.data.map(isFirst);
    return pageOf(collection, (each) => each.filter((_, index) => firsts[index]));
  },
);

const reverse = define(
  'pure',
  { reverse: param(iterable, 'Iterable') },
  ({ reverse: collection }) => (isKind(collection, 'set') ? COVERED : slicing(collection)),
  ({ reverse: collection }) => {
    if (isArray(collection)) return collection.toReversed();
    if (collection.kind === 'set') return { kind: 'set', op: 'reverse', set: collection };
    return pageOf(collection, (each) => each.toReversed());
  },
);

const isEmpty = define(
  'pure-reads',
  { is_empty: param(iterable, 'Iterable') },
  COVERED,
  (args, context) => !hasElements(args.is_empty, context),
);
const isNonempty = define(
  'pure-reads',
  { is_nonempty: param(iterable, 'Iterable') },
  COVERED,
  (args, context) => hasElements(args.is_nonempty, context),
);

function hasElements(collection: Collection, context: ReadContext): boolean {
  if (isArray(collection)) return collection.length > 0;
  return collection.kind === 'page'
    ? collection.data.length > 0
    : context.session.exists(collection, context.time, context.path);
}

const first = define(
  'read',
  { first: param(setOrArray, 'SetOrArray') },
  COVERED,
  (args, context) => firstOf(args.first, 'first', context),
  { since: '4' },
);

const last = define(
  'read',
  { last: param(setOrArray, 'SetOrArray') },
  COVERED,
  ({ last: collection }, context) => {
    if (isArray(collection)) return firstOf(collection.slice(-1), 'last', context);
    const { history } = context.session.shapeOf(collection);
    if (!history) return firstOf({ kind: 'set', op: 'reverse', set: collection }, 'last', context);
    // A reversed set has no history, so all events are read.
    const event = [...elementsOf(collection, 'last', context)].at(-1);
    return event ?? firstOf(collection, 'last', context);
  },
  { since: '4' },
);

function firstOf(
  collection: readonly Value[] | SetValue,
  key: string,
  context: ReadContext,
): Value {
  for (const element of elementsOf(collection, key, context)) return element;
  const what = isArray(collection) ? 'array' : 'set';
  return refuseArgument(context, key, `Non-empty ${what} expected.`);
}

export const foldRows: readonly FunctionRow[] = [
  reduce,
  count,
  sum,
  mean,
  truthOf('any'),
  truthOf('all'),
  extremeOf('max', (order) => order >= 0),
  extremeOf('min', (order) => order <= 0),
  distinct,
  reverse,
  isEmpty,
  isNonempty,
  first,
  last,
];
