/** Types of the builders for scalars: strings, numbers, times, type checks and conversions. */
import type { Expr, FaunaTime } from '../values.ts';
import type { TimeUnit } from '../../../values/time-units.ts';
import type { Arg } from './arguments.ts';
import type { Data } from './documents.ts';
import type { RegularScalars } from './regular-scalars.ts';

type Truth = (...values: [Arg, ...Arg[]]) => Expr<boolean>;

type Unit = TimeUnit | `${TimeUnit}s` | Expr;

/** Builders whose types need more than the type of their result. */
interface Others {
  /** Whether all operands are the same value. 1 and 1.0 are equal, but not inside arrays and objects. Operands of any type are accepted. */
  Equals: Truth;
  /** Whether each operand is less than the next, in the total order of values. */
  LT: Truth;
  /** Whether each operand is less than or equal to the next. */
  LTE: Truth;
  /** Whether each operand is greater than the next. */
  GT: Truth;
  /** Whether each operand is greater than or equal to the next. */
  GTE: Truth;
  /** True if all operands are true. Operands after the first false one are not evaluated. */
  And: Truth;
  /** True if any operand is true. Operands after the first true one are not evaluated. */
  Or: Truth;
  /** The matches of a pattern with their positions; `end` is the position of the last character of the match. */
  FindStrRegex: (
    value: Arg,
    pattern: Arg,
    start?: Arg,
    count?: Arg,
  ) => Expr<{ start: number; end: number; data: string }[]>;
  /** Adds a number of units to a time. A Date accepts whole days only. */
  TimeAdd: <T = FaunaTime>(base: Arg, offset: Arg, unit: Unit) => Expr<T>;
  /** Subtracts a number of units from a time. A Date accepts whole days only. */
  TimeSubtract: <T = FaunaTime>(base: Arg, offset: Arg, unit: Unit) => Expr<T>;
  /** The transaction time of the query, the same everywhere in one query. */
  Now: () => Expr<FaunaTime>;
  /** The greatest element in the total order of values; the last one of equals. */
  Max: <T = number>(...values: [Arg, ...Arg[]]) => Expr<T>;
  /** The least element in the total order of values; the last one of equals. */
  Min: <T = number>(...values: [Arg, ...Arg[]]) => Expr<T>;
  /** The negation of a Boolean. */
  Not: (value: Arg) => Expr<boolean>;
  /** Makes an object from an array of `[name, value]` pairs, or from a document. */
  ToObject: (value: Arg) => Expr<Data>;
  /** The members of an object as `[name, value]` pairs. */
  ToArray: (value: Arg) => Expr<[string, unknown][]>;
}

export type Scalars = RegularScalars & Others;
