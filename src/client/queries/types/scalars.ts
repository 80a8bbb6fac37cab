/** Scalars: strings, numbers, times, and what tells and changes types. */
import type { Expr, FaunaDate, FaunaTime } from '../values.ts';
import type { Arg } from './arguments.ts';
import type { Data } from './documents.ts';

type Nullary<R> = () => Expr<R>;
type Unary<R> = (value: Arg) => Expr<R>;
type Binary<R> = (first: Arg, second: Arg) => Expr<R>;
type Several<R> = (...values: [Arg, ...Arg[]]) => Expr<R>;

type TypeCheck =
  | 'IsNumber'
  | 'IsDouble'
  | 'IsInteger'
  | 'IsBoolean'
  | 'IsNull'
  | 'IsBytes'
  | 'IsTimestamp'
  | 'IsDate'
  | 'IsString'
  | 'IsArray'
  | 'IsObject'
  | 'IsRef'
  | 'IsSet'
  | 'IsDoc'
  | 'IsLambda'
  | 'IsCollection'
  | 'IsDatabase'
  | 'IsIndex'
  | 'IsFunction'
  | 'IsKey'
  | 'IsToken'
  | 'IsCredentials'
  | 'IsRole';

interface Strings {
  Concat: (strings: Arg, separator?: Arg) => Expr<string>;
  Casefold: (value: Arg, normalizer?: Arg) => Expr<string>;
  ContainsStr: Binary<boolean>;
  ContainsStrRegex: Binary<boolean>;
  StartsWith: Binary<boolean>;
  EndsWith: Binary<boolean>;
  FindStr: (value: Arg, find: Arg, start?: Arg) => Expr<number>;
  FindStrRegex: (
    value: Arg,
    pattern: Arg,
    start?: Arg,
    count?: Arg,
  ) => Expr<{ start: number; end: number; data: string }[]>;
  Length: Unary<number>;
  LowerCase: Unary<string>;
  LTrim: Unary<string>;
  NGram: (terms: Arg, min?: Arg, max?: Arg) => Expr<string[]>;
  Repeat: (value: Arg, count?: Arg) => Expr<string>;
  ReplaceStr: (value: Arg, find: Arg, replace: Arg) => Expr<string>;
  ReplaceStrRegex: (value: Arg, pattern: Arg, replace: Arg, first?: Arg) => Expr<string>;
  RegexEscape: Unary<string>;
  RTrim: Unary<string>;
  Space: Unary<string>;
  SubString: (value: Arg, start?: Arg, length?: Arg) => Expr<string>;
  TitleCase: Unary<string>;
  Trim: Unary<string>;
  UpperCase: Unary<string>;
  Format: (format: Arg, ...values: Arg[]) => Expr<string>;
}

type TimePart =
  | 'ToSeconds'
  | 'ToMillis'
  | 'ToMicros'
  | 'DayOfWeek'
  | 'DayOfYear'
  | 'DayOfMonth'
  | 'Hour'
  | 'Minute'
  | 'Second'
  | 'Month'
  | 'Year';

interface Times {
  Time: Unary<FaunaTime>;
  Epoch: Binary<FaunaTime>;
  TimeAdd: <T = FaunaTime>(base: Arg, offset: Arg, unit: Arg) => Expr<T>;
  TimeSubtract: <T = FaunaTime>(base: Arg, offset: Arg, unit: Arg) => Expr<T>;
  TimeDiff: (start: Arg, finish: Arg, unit: Arg) => Expr<number>;
  Date: Unary<FaunaDate>;
  Now: Nullary<FaunaTime>;
  ToTime: Unary<FaunaTime>;
  ToDate: Unary<FaunaDate>;
}

type NumberFunction =
  | 'Abs'
  | 'BitNot'
  | 'Ceil'
  | 'Floor'
  | 'Sign'
  | 'Sqrt'
  | 'Acos'
  | 'Asin'
  | 'Atan'
  | 'Cos'
  | 'Cosh'
  | 'Degrees'
  | 'Exp'
  | 'Ln'
  | 'Log'
  | 'Radians'
  | 'Sin'
  | 'Sinh'
  | 'Tan'
  | 'Tanh'
  | 'ToNumber'
  | 'ToDouble'
  | 'ToInteger';
type NumbersFunction =
  | 'Add'
  | 'BitAnd'
  | 'BitOr'
  | 'BitXor'
  | 'Divide'
  | 'Modulo'
  | 'Multiply'
  | 'Subtract';
type Comparison = 'Equals' | 'LT' | 'LTE' | 'GT' | 'GTE' | 'And' | 'Or';

interface Values {
  Max: <T = number>(...values: [Arg, ...Arg[]]) => Expr<T>;
  Min: <T = number>(...values: [Arg, ...Arg[]]) => Expr<T>;
  Round: (value: Arg, precision?: Arg) => Expr<number>;
  Trunc: (value: Arg, precision?: Arg) => Expr<number>;
  Hypot: (value: Arg, side?: Arg) => Expr<number>;
  Pow: (value: Arg, exponent?: Arg) => Expr<number>;
  Not: Unary<boolean>;
  ToString: Unary<string>;
  ToObject: Unary<Data>;
  ToArray: Unary<[string, unknown][]>;
}

export type Scalars = Record<TypeCheck, Unary<boolean>> &
  Strings &
  Record<TimePart, Unary<number>> &
  Times &
  Record<NumberFunction, Unary<number>> &
  Record<NumbersFunction, Several<number>> &
  Record<Comparison, Several<boolean>> &
  Values;
