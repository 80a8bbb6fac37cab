/** Types of the builders for scalars: strings, numbers, times, type checks and conversions. */
import type { FaunaDate, FaunaTime } from '../values.ts';
import type { Arg, Evaluated, Unit } from './arguments.ts';
import type { ElementOf, Folded } from './collections.ts';
import type { Data } from './documents.ts';
import type { RegularScalars } from './regular-scalars.ts';
import type { Mode, Returns, Some } from './returns.ts';

type Truth<M extends Mode> = <A extends readonly Arg[]>(...values: Some<A>) => Returns<M, boolean>;

/** The greatest or least of several arguments, or of the elements of the only one. */
type Extreme<M extends Mode> = <T = never, A extends readonly Arg[] = readonly Arg[]>(
  ...values: Some<A>
) => Returns<M, [T] extends [never] ? OneOf<A> : T>;
type OneOf<A extends readonly unknown[]> = A extends readonly [infer Only]
  ? Folded<Only, ElementOf<Evaluated<Only>>>
  : Evaluated<A[number]>;

/** A Date stays a Date; of another base it is a Time. */
type Moved<M extends Mode> = <A extends Arg>(
  base: A,
  offset: Arg,
  unit: Unit,
) => Returns<M, Evaluated<A> extends FaunaDate ? FaunaDate : FaunaTime>;

type ObjectOf<T> = [T] extends [never]
  ? Data
  : T extends readonly (readonly [infer Name extends string, infer Member])[]
    ? Record<Name, Member>
    : T extends readonly unknown[]
      ? Data
      : T extends object
        ? T
        : Data;

type PairsOf<T> = [T] extends [never]
  ? [string, unknown][]
  : T extends readonly unknown[]
    ? T
    : T extends object
      ? { [K in keyof T]-?: [K, Exclude<T[K], undefined>] }[keyof T][]
      : [string, unknown][];

/** Builders whose types need more than the type of their result. */
interface Others<M extends Mode> {
  /** Whether all operands are the same value. 1 and 1.0 are equal, but not inside arrays and objects. Operands of any type are accepted. */
  Equals: Truth<M>;
  /** Whether each operand is less than the next, in the total order of values. */
  LT: Truth<M>;
  /** Whether each operand is less than or equal to the next. */
  LTE: Truth<M>;
  /** Whether each operand is greater than the next. */
  GT: Truth<M>;
  /** Whether each operand is greater than or equal to the next. */
  GTE: Truth<M>;
  /** True if all operands are true. Operands after the first false one are not evaluated. */
  And: Truth<M>;
  /** True if any operand is true. Operands after the first true one are not evaluated. */
  Or: Truth<M>;
  /** The matches of a pattern with their positions; `end` is the position of the last character of the match. */
  FindStrRegex: (
    value: Arg,
    pattern: Arg,
    start?: Arg,
    count?: Arg,
  ) => Returns<M, { start: number; end: number; data: string }[]>;
  /** Adds a number of units to a time. A Date accepts whole days only. */
  TimeAdd: Moved<M>;
  /** Subtracts a number of units from a time. A Date accepts whole days only. */
  TimeSubtract: Moved<M>;
  /** The transaction time of the query, the same everywhere in one query. */
  Now: () => Returns<M, FaunaTime>;
  /** The greatest element in the total order of values; the last one of equals. */
  Max: Extreme<M>;
  /** The least element in the total order of values; the last one of equals. */
  Min: Extreme<M>;
  /** The negation of a Boolean. */
  Not: (value: Arg) => Returns<M, boolean>;
  /** Makes an object from an array of `[name, value]` pairs, or from a document. */
  ToObject: <A extends Arg>(value: A) => Returns<M, ObjectOf<Evaluated<A>>>;
  /** The members of an object as `[name, value]` pairs. */
  ToArray: <A extends Arg>(value: A) => Returns<M, PairsOf<Evaluated<A>>>;
}

export type Scalars<M extends Mode> = RegularScalars<M> & Others<M>;
