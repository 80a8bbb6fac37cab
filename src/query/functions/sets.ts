/** Functions that make sets. Data is read only when a set is read. Spec: functions 1.3, sets-and-pages 4. */
import { fail, QueryFailure, type Fault } from '../../errors.ts';
import { asArray, isArray, isKind, UnresolvedRef } from '../../values/value.ts';
import type { Lambda, Ref, SetValue, Value } from '../../values/value.ts';
import {
  any,
  argumentAt,
  collectionRef,
  indexRef,
  inPlaceOr,
  manyOf,
  nameOrIndexRef,
  optional,
  param,
  positionAt,
  ref,
  refOrSet,
  refuseEffect,
  set,
  setOrArray,
  someOf,
  term,
  unresolvedFault,
} from '../casts.ts';
import { areCompatible } from '../compatible-sets.ts';
import { COVERED, shaping } from '../costs.ts';
import { define, type Applicable, type PureContext } from '../define.ts';
import type { Cast, FunctionRow } from '../function-row.ts';
import { effectOf } from '../lambda-value.ts';
import { positionOf } from '../query-path.ts';
import { Multiset, multisetOf } from './multiset.ts';

const singleton = define('pure', { singleton: param(ref, 'Ref') }, COVERED, (args) => ({
  kind: 'set',
  op: 'singleton',
  ref: args.singleton,
}));

const events = define('pure', { events: param(refOrSet, 'RefOrSet') }, COVERED, (args, context) => {
  const of = args.events;
  return isKind(of, 'set') && of.op === 'events'
    ? failNoHistory(context)
    : { kind: 'set', op: 'events', of };
});

const failNoHistory = (context: PureContext): never =>
  fail('invalid argument', positionOf(context.path), 'Set does not support events history.');

const documents = define(
  'pure',
  { documents: param(collectionRef, 'Collection Ref') },
  COVERED,
  (args) => ({
    kind: 'set',
    op: 'documents',
    collection: args.documents,
  }),
);

const terms = manyOf(term);

const matchSet = (
  index: string | Ref,
  values: readonly Value[],
  { session, path }: PureContext,
): SetValue => ({
  kind: 'set',
  op: 'match',
  index: session.requireIndex(index, path),
  terms: values,
});

const match = define(
  'pure',
  { match: param(nameOrIndexRef, 'String or Index Ref'), terms: optional(terms, 'Term*') },
  COVERED,
  (args, context) => matchSet(args.match, args.terms ?? [], context),
);

/** The older form of `match`, with the terms first. */
const matchByTerms = define(
  'pure',
  { match: param(terms, 'Term*'), index: param(nameOrIndexRef, 'String or Index Ref') },
  COVERED,
  (args, context) => matchSet(args.index, args.match, context),
);

type OfArrays = (
  left: readonly Value[],
  right: readonly Value[],
  context: PureContext,
) => readonly Value[];

type Algebra = Extract<SetValue, { readonly sets: readonly SetValue[] }>['op'];

const algebraOf = (op: Algebra, ofArrays: OfArrays): FunctionRow =>
  define(
    'pure',
    { [op]: param(someOf(setOrArray), 'SetOrArray+') } as const,
    (args, context) => shaping(args[op] ?? [], context),
    (args: Readonly<Record<string, readonly (readonly Value[] | SetValue)[]>>, context) => {
      const operands = args[op] ?? [];
      const arrays = operands.filter((operand) => isArray(operand));
      if (arrays.length === operands.length)
        return arrays.reduce((left, right) => ofArrays(left, right, context));
      if (arrays.length > 0) {
        const types = 'Arguments cannot be of different types, expected Set or Array.';
        return fail('invalid argument', positionOf(context.path, op), types);
      }
      const sets = operands.filter((operand) => isKind(operand, 'set'));
      refuseIncompatible(op, sets, context);
      return { kind: 'set', op, sets };
    },
  );

function refuseIncompatible(op: Algebra, sets: readonly SetValue[], context: PureContext): void {
  const shapes = context.each(sets, (each) => context.session.shapeOf(each));
  if (!areCompatible(shapes)) {
    fail('invalid argument', positionOf(context.path, op), 'Sets are not compatible.');
  }
}

/** Union of arrays. Each value occurs as often as in the array that has it more often. Equal values are adjacent. */
const unionOfArrays: OfArrays = (left, right, context) => {
  const [ofLeft, ofRight] = [multisetOf(left, context), multisetOf(right, context)];
  const seen = new Multiset(context);
  return [...left, ...right].flatMap((value) => {
    if (seen.add(value) > 1) return [];
    const count = Math.max(ofLeft.countOf(value), ofRight.countOf(value));
    return Array.from({ length: count }, () => value);
  });
};

/** Intersection keeps as many occurrences of each value as the right array has too. Difference keeps the others. */
const taking =
  (isInRight: boolean): OfArrays =>
  (left, right, context) => {
    const rest = multisetOf(right, context);
    return left.filter((value) => rest.take(value) === isInRight);
  };

const lambdaOrIndex: Cast<Lambda | Ref> = (value, where) =>
  isKind(value, 'lambda') ? value : indexRef(value, where);

const join = define(
  'pure',
  { join: param(set, 'Set'), with: inPlaceOr(lambdaOrIndex, 'Lambda or Index Ref') },
  COVERED,
  (args, context) => ({
    kind: 'set',
    op: 'join',
    set: args.join,
    with: joinTarget(args.with, context),
  }),
);

function joinTarget(target: Applicable | Lambda | Ref, context: PureContext): Lambda | Ref {
  if ('kind' in target && target.kind === 'ref') return target;
  const lambda = 'node' in target ? context.close(target) : target;
  return effectOf(lambda) === 'pure'
    ? lambda
    : refuseEffect('pure', argumentAt(context.path, 'with'));
}

const range = define(
  'pure',
  { range: param(set, 'Set'), from: param(any, 'Any'), to: param(any, 'Any') },
  (args, context) => shaping([args.range], context),
  (args, context) => {
    const faults: Fault[] = [];
    const from = bound(args.from, 'from', context, faults);
    const to = bound(args.to, 'to', context, faults);
    if (faults.length > 0) throw new QueryFailure(faults);
    if (context.session.shapeOf(args.range).history) failNoHistory(context);
    return { kind: 'set', op: 'range', set: args.range, from, to };
  },
);

/** A bound of a range: a prefix of the values. The faults of both bounds are reported. */
function bound(value: Value, key: string, context: PureContext, faults: Fault[]): readonly Value[] {
  const values = asArray(value);
  const position = positionAt(argumentAt(context.path, key));
  for (const each of values) {
    if (each instanceof UnresolvedRef) faults.push(unresolvedFault(each, position));
  }
  return values;
}

export const setRows: readonly FunctionRow[] = [
  singleton,
  events,
  documents,
  match,
  matchByTerms,
  algebraOf('union', unionOfArrays),
  algebraOf('intersection', taking(true)),
  algebraOf('difference', taking(false)),
  join,
  range,
];
