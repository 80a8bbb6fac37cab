/** Mapping, filtering and slicing of arrays and pages. Spec: functions 1.2, sets-and-pages 5.5. */
import { fault, QueryFailure, type Fault } from '../../errors.ts';
import { typeExpected } from '../../fault-texts.ts';
import { typeName } from '../../values/type-name.ts';
import { isArray } from '../../values/value.ts';
import type { Page, SetValue, Value } from '../../values/value.ts';
import { arrayWeight } from '../../values/weight.ts';
import {
  any,
  argumentAt,
  array,
  arrayOrPage,
  inPlace,
  integer,
  iterable,
  manyOf,
  param,
  refuseEffect,
} from '../casts.ts';
import { COVERED, elements, slicing } from '../costs.ts';
import { define, type Applicable, type PureContext } from '../define.ts';
import type { FunctionRow } from '../function-row.ts';
import { EFFECT_RANK } from '../effect.ts';
import { positionOf } from '../query-path.ts';

const map = define(
  'pure',
  { map: inPlace, collection: param(arrayOrPage, 'Array or Page') },
  COVERED,
  (args, context) => {
    const { map: lambda, collection } = args;
    const data = isArray(collection) ? collection : collection.data;
    const results = context.each(data, (element) => context.apply(lambda, element));
    return isArray(collection) ? results : { ...collection, data: results };
  },
);

const foreach = define(
  'pure',
  { foreach: inPlace, collection: param(arrayOrPage, 'Array or Page') },
  COVERED,
  ({ foreach: lambda, collection }, context) => {
    const data = isArray(collection) ? collection : collection.data;
    context.each(data, (element) => context.apply(lambda, element));
    return collection;
  },
);

const filter = define(
  'pure',
  { filter: inPlace, collection: param(iterable, 'Iterable') },
  COVERED,
  ({ filter: lambda, collection }, context) => {
    if (isArray(collection)) {
      const keeps = keptElements(lambda, collection, context);
      return collection.filter((_, index) => keeps[index]);
    }
    if (collection.kind === 'set') return filterSet(lambda, collection, context);
    const keeps = keptElements(lambda, collection.data, context);
    return pageOf(collection, (each) => each.filter((_, index) => keeps[index]));
  },
);

/**
 * Applies the lambda to all elements. An element whose result is not a Boolean is reported at its index, relative to
 * the form.
 */
function keptElements(
  lambda: Applicable,
  elements: readonly Value[],
  context: PureContext,
): readonly boolean[] {
  const faults: Fault[] = [];
  const keeps = context.each(elements, (element, index) => {
    try {
      const keep = context.apply(lambda, element);
      if (typeof keep === 'boolean') return keep;
      const position = positionOf(context.path, index);
      faults.push(fault('invalid argument', position, typeExpected('Boolean', typeName(keep))));
    } catch (failure) {
      if (!(failure instanceof QueryFailure)) throw failure;
      for (const each of failure.faults) faults.push(each);
    }
    return false;
  });
  if (faults.length > 0) throw new QueryFailure(faults);
  return keeps;
}

/** Makes a set that is filtered when it is read. */
function filterSet(lambda: Applicable, set: SetValue, context: PureContext): SetValue {
  if (EFFECT_RANK[lambda.node.effect] > EFFECT_RANK.read) {
    refuseEffect('read', argumentAt(context.path, 'filter'));
  }
  return { kind: 'set', op: 'filter', set, lambda: context.close(lambda) };
}

/** Changes the elements of a page, by selection or order, and their cursors in the same way. */
export const pageOf = (
  page: Page,
  change: (elements: readonly Value[]) => readonly Value[],
): Page => {
  const { data, cursors } = page;
  let made: readonly Value[] | undefined;
  // Computed only once: pages may be derived from pages a thousand levels deep.
  const makeCursors = cursors && (() => (made ??= change(cursors())));
  return { ...page, data: change(data), cursors: makeCursors };
};

const take = define(
  'pure',
  { take: param(integer, 'Integer'), collection: param(arrayOrPage, 'Array or Page') },
  ({ collection }) => slicing(collection),
  ({ take: given, collection }) => {
    const count = Math.max(Number(given), 0);
    return isArray(collection) ? collection.slice(0, count) : takePage(Number(given), collection);
  },
);

function takePage(count: number, page: Page): Page {
  if (count < 0) return { ...page, after: page.before, data: [], cursors: undefined };
  if (count >= page.data.length) return page;
  const after = page.cursors?.()[count] ?? page.after;
  return pageOf({ ...page, after }, (each) => each.slice(0, count));
}

const drop = define(
  'pure',
  { drop: param(integer, 'Integer'), collection: param(arrayOrPage, 'Array or Page') },
  ({ collection }) => slicing(collection),
  ({ drop: given, collection }) => {
    const count = Math.max(Number(given), 0);
    return isArray(collection) ? collection.slice(count) : dropPage(Number(given), collection);
  },
);

function dropPage(count: number, page: Page): Page {
  if (count < 0) return page;
  const before = count < page.data.length ? (page.cursors?.()[count] ?? page.before) : page.after;
  return pageOf({ ...page, before }, (each) => each.slice(count));
}

function joined(
  first: readonly Value[],
  second: readonly Value[],
  context: PureContext,
): readonly Value[] {
  context.session.memory.ask(arrayWeight(first.length + second.length));
  return first.concat(second);
}

const prepend = define(
  'pure',
  { prepend: param(manyOf(any), 'Any*'), collection: param(array, 'Array') },
  (args) => elements(args.prepend.length + args.collection.length),
  (args, context) => joined(args.prepend, args.collection, context),
);

const append = define(
  'pure',
  { append: param(manyOf(any), 'Any*'), collection: param(array, 'Array') },
  (args) => elements(args.append.length + args.collection.length),
  (args, context) => joined(args.collection, args.append, context),
);

export const arrayRows: readonly FunctionRow[] = [
  map,
  foreach,
  filter,
  take,
  drop,
  prepend,
  append,
];
