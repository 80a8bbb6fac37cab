/** Types of the builders for scalars: strings, numbers, times, type checks and conversions. */
import type { Expr, FaunaTime } from '../values.ts';
import type { TimeUnit } from '../../../values/time-units.ts';
import type { Arg } from './arguments.ts';
import type { Data } from './documents.ts';
import type { RegularScalars } from './regular-scalars.ts';

type Comparison = 'Equals' | 'LT' | 'LTE' | 'GT' | 'GTE' | 'And' | 'Or';

type Unit = TimeUnit | `${TimeUnit}s` | Expr;

/** Builders whose types need more than the type of their result. */
interface Others {
  FindStrRegex: (
    value: Arg,
    pattern: Arg,
    start?: Arg,
    count?: Arg,
  ) => Expr<{ start: number; end: number; data: string }[]>;
  TimeAdd: <T = FaunaTime>(base: Arg, offset: Arg, unit: Unit) => Expr<T>;
  TimeSubtract: <T = FaunaTime>(base: Arg, offset: Arg, unit: Unit) => Expr<T>;
  Now: () => Expr<FaunaTime>;
  Max: <T = number>(...values: [Arg, ...Arg[]]) => Expr<T>;
  Min: <T = number>(...values: [Arg, ...Arg[]]) => Expr<T>;
  Not: (value: Arg) => Expr<boolean>;
  ToObject: (value: Arg) => Expr<Data>;
  ToArray: (value: Arg) => Expr<[string, unknown][]>;
}

export type Scalars = RegularScalars &
  Record<Comparison, (...values: [Arg, ...Arg[]]) => Expr<boolean>> &
  Others;
