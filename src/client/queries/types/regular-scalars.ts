/** Made by `npm run docs` of src/query/functions and src/reference. */
import type { FaunaDate, FaunaTime } from '../values.ts';
import type { Arg, Unit } from './arguments.ts';
import type { Mode, Returns, Some } from './returns.ts';

export interface RegularScalars<M extends Mode> {
  /** Joins strings, with a separator between them if one is given. */
  Concat: (strings: Arg, separator?: Arg) => Returns<M, string>;
  /** Whether a string contains another. */
  ContainsStr: (text: Arg, search: Arg) => Returns<M, boolean>;
  /** Whether a string starts with another. */
  StartsWith: (text: Arg, search: Arg) => Returns<M, boolean>;
  /** Whether a string ends with another. */
  EndsWith: (text: Arg, search: Arg) => Returns<M, boolean>;
  /** The position at which a string first occurs in another, or -1. A `start` out of range counts as 0. */
  FindStr: (text: Arg, find: Arg, start?: Arg) => Returns<M, number>;
  /** The number of code points. */
  Length: (text: Arg) => Returns<M, number>;
  /** Converts to lower case. */
  LowerCase: (text: Arg) => Returns<M, string>;
  /** Converts to upper case. */
  UpperCase: (text: Arg) => Returns<M, string>;
  /** Capitalizes each word; all other letters become lower case. */
  TitleCase: (text: Arg) => Returns<M, string>;
  /** Removes white space at the start. */
  LTrim: (text: Arg) => Returns<M, string>;
  /** Removes white space at the end. */
  RTrim: (text: Arg) => Returns<M, string>;
  /** Removes white space at both ends. */
  Trim: (text: Arg) => Returns<M, string>;
  /** Repeats a string: twice by default, at most 1024 times. */
  Repeat: (text: Arg, number?: Arg) => Returns<M, string>;
  /** A string of this many spaces, at most 1024. */
  Space: (integer: Arg) => Returns<M, string>;
  /** Replaces every occurrence of a string. */
  ReplaceStr: (text: Arg, find: Arg, replace: Arg) => Returns<M, string>;
  /** A part of a string, given by start and length. A negative start counts from the end. */
  SubString: (text: Arg, start?: Arg, length?: Arg) => Returns<M, string>;
  /** All substrings of the given lengths, 1 and 2 by default; used to build search indexes. */
  NGram: (values: Arg, min?: Arg, max?: Arg) => Returns<M, string[]>;
  /** A pattern that matches exactly this text. */
  RegexEscape: (text: Arg) => Returns<M, string>;
  /** Whether a pattern matches anywhere in a string. */
  ContainsStrRegex: (text: Arg, pattern: Arg) => Returns<M, boolean>;
  /** Replaces every match of a pattern, or only the first; `$1` is the first group. */
  ReplaceStrRegex: (text: Arg, pattern: Arg, replace: Arg, first?: Arg) => Returns<M, string>;
  /** Normalizes a string for comparison: Unicode case folding and normalization, or normalization only. One value gives one result, several give an array. */
  Casefold: (values: Arg, normalizer?: Arg) => Returns<M, string>;
  /** Formats values by the rules of Java: `%d` for Integers, `%f` for Doubles, `%s` for any value, `%tY` for parts of times, `%^` for JSON. */
  Format: (text: Arg, ...values: Arg[]) => Returns<M, string>;
  /** The sum of all operands. */
  Add: <A extends readonly Arg[]>(...numbers: Some<A>) => Returns<M, number>;
  /** The first operand minus all others. */
  Subtract: <A extends readonly Arg[]>(...numbers: Some<A>) => Returns<M, number>;
  /** The product of all operands. */
  Multiply: <A extends readonly Arg[]>(...numbers: Some<A>) => Returns<M, number>;
  /** The first operand divided by each of the others. Division of Integers truncates toward zero. */
  Divide: <A extends readonly Arg[]>(...numbers: Some<A>) => Returns<M, number>;
  /** The remainder of a division. It has the sign of the first operand. */
  Modulo: <A extends readonly Arg[]>(...numbers: Some<A>) => Returns<M, number>;
  /** Bitwise AND of all operands. */
  BitAnd: <A extends readonly Arg[]>(...numbers: Some<A>) => Returns<M, number>;
  /** Bitwise OR of all operands. */
  BitOr: <A extends readonly Arg[]>(...numbers: Some<A>) => Returns<M, number>;
  /** Bitwise exclusive OR of all operands. */
  BitXor: <A extends readonly Arg[]>(...numbers: Some<A>) => Returns<M, number>;
  /** Bitwise NOT. */
  BitNot: (number: Arg) => Returns<M, number>;
  /** The absolute value. */
  Abs: (number: Arg) => Returns<M, number>;
  /** Rounds up to a whole number of the same type. */
  Ceil: (number: Arg) => Returns<M, number>;
  /** Rounds down to a whole number of the same type. */
  Floor: (number: Arg) => Returns<M, number>;
  /** Rounds to a number of decimal places, 2 by default; a negative precision rounds to tens, hundreds and so on. It adds one half and truncates, so negative numbers are not rounded to the nearest. */
  Round: (number: Arg, precision?: Arg) => Returns<M, number>;
  /** Truncates toward zero to a number of decimal places, 2 by default. */
  Trunc: (number: Arg, precision?: Arg) => Returns<M, number>;
  /** The sign: -1, 0 or 1. For the Double 0.0 it is 1, as in the original. */
  Sign: (number: Arg) => Returns<M, number>;
  /** The square root. */
  Sqrt: (number: Arg) => Returns<M, number>;
  /** Raises a number to a power, 2 by default. */
  Pow: (number: Arg, exponent?: Arg) => Returns<M, number>;
  /** The hypotenuse of a right triangle with these two sides. */
  Hypot: (number: Arg, other?: Arg) => Returns<M, number>;
  /** e raised to a power. */
  Exp: (number: Arg) => Returns<M, number>;
  /** The natural logarithm. */
  Ln: (number: Arg) => Returns<M, number>;
  /** The logarithm to base 10. */
  Log: (number: Arg) => Returns<M, number>;
  /** The sine of an angle in radians. */
  Sin: (number: Arg) => Returns<M, number>;
  /** The cosine of an angle in radians. */
  Cos: (number: Arg) => Returns<M, number>;
  /** The tangent of an angle in radians. */
  Tan: (number: Arg) => Returns<M, number>;
  /** The hyperbolic sine. */
  Sinh: (number: Arg) => Returns<M, number>;
  /** The hyperbolic cosine. */
  Cosh: (number: Arg) => Returns<M, number>;
  /** The hyperbolic tangent. */
  Tanh: (number: Arg) => Returns<M, number>;
  /** The arc sine, in radians. */
  Asin: (number: Arg) => Returns<M, number>;
  /** The arc cosine, in radians. */
  Acos: (number: Arg) => Returns<M, number>;
  /** The arc tangent, in radians. */
  Atan: (number: Arg) => Returns<M, number>;
  /** Converts an angle from radians to degrees. */
  Degrees: (number: Arg) => Returns<M, number>;
  /** Converts an angle from degrees to radians. */
  Radians: (number: Arg) => Returns<M, number>;
  /** Parses a time with its offset from UTC. `"now"` is the transaction time of the query. */
  Time: (text: Arg) => Returns<M, FaunaTime>;
  /** Parses a date. */
  Date: (text: Arg) => Returns<M, FaunaDate>;
  /** The time this many units after the start of 1970. */
  Epoch: (integer: Arg, unit: Unit) => Returns<M, FaunaTime>;
  /** Microseconds since 1970. */
  ToMicros: (time: Arg) => Returns<M, number>;
  /** Milliseconds since 1970, rounded down. */
  ToMillis: (time: Arg) => Returns<M, number>;
  /** Seconds since 1970, rounded down. */
  ToSeconds: (time: Arg) => Returns<M, number>;
  /** The second within its minute, from 0. */
  Second: (time: Arg) => Returns<M, number>;
  /** The minute within its hour, from 0. */
  Minute: (time: Arg) => Returns<M, number>;
  /** The hour of the day, from 0. */
  Hour: (time: Arg) => Returns<M, number>;
  /** The day of the month, from 1. */
  DayOfMonth: (time: Arg) => Returns<M, number>;
  /** The day of the week: Monday is 1, Sunday 7. */
  DayOfWeek: (time: Arg) => Returns<M, number>;
  /** The day of the year, from 1. */
  DayOfYear: (time: Arg) => Returns<M, number>;
  /** The month, from 1. */
  Month: (time: Arg) => Returns<M, number>;
  /** The year. */
  Year: (time: Arg) => Returns<M, number>;
  /** The number of whole units from the first to the second; negative if the second is earlier. */
  TimeDiff: (time: Arg, other: Arg, unit: Unit) => Returns<M, number>;
  /** Converts a scalar to a string. */
  ToString: (value: Arg) => Returns<M, string>;
  /** Parses the number at the start of a string: `"1,234.5 km"` is 1234.5. A whole number becomes an Integer. */
  ToNumber: (value: Arg) => Returns<M, number>;
  /** Converts a number, or the number at the start of a string, to a Double. */
  ToDouble: (value: Arg) => Returns<M, number>;
  /** Converts a number, or the number at the start of a string, to an Integer; truncates toward zero. */
  ToInteger: (value: Arg) => Returns<M, number>;
  /** Converts to a Time: a Date to its midnight in UTC, a string as `time` parses it, an Integer as milliseconds since 1970. */
  ToTime: (value: Arg) => Returns<M, FaunaTime>;
  /** Converts to a Date: a Time to its day in UTC, a string as `date` parses it. */
  ToDate: (value: Arg) => Returns<M, FaunaDate>;
  /** Whether the value is an Integer or a Double. */
  IsNumber: (value: Arg) => Returns<M, boolean>;
  /** Whether the value is a Double. */
  IsDouble: (value: Arg) => Returns<M, boolean>;
  /** Whether the value is an Integer. */
  IsInteger: (value: Arg) => Returns<M, boolean>;
  /** Whether the value is true or false. */
  IsBoolean: (value: Arg) => Returns<M, boolean>;
  /** Whether the value is null. */
  IsNull: (value: Arg) => Returns<M, boolean>;
  /** Whether the value is bytes. */
  IsBytes: (value: Arg) => Returns<M, boolean>;
  /** Whether the value is a Time. */
  IsTimestamp: (value: Arg) => Returns<M, boolean>;
  /** Whether the value is a Date. */
  IsDate: (value: Arg) => Returns<M, boolean>;
  /** Whether the value is a String, or the action of an event. */
  IsString: (value: Arg) => Returns<M, boolean>;
  /** Whether the value is an Array. */
  IsArray: (value: Arg) => Returns<M, boolean>;
  /** Whether the value is an object, page, document or event. */
  IsObject: (value: Arg) => Returns<M, boolean>;
  /** Whether the value is a ref, whether its target exists or not. */
  IsRef: (value: Arg) => Returns<M, boolean>;
  /** Whether the value is a set, or a native collection. */
  IsSet: (value: Arg) => Returns<M, boolean>;
  /** Whether the value is a document, or a ref to one. */
  IsDoc: (value: Arg) => Returns<M, boolean>;
  /** Whether the value is a lambda. */
  IsLambda: (value: Arg) => Returns<M, boolean>;
  /** Whether the value is a collection or its ref. */
  IsCollection: (value: Arg) => Returns<M, boolean>;
  /** Whether the value is a database or its ref. */
  IsDatabase: (value: Arg) => Returns<M, boolean>;
  /** Whether the value is an index or its ref. */
  IsIndex: (value: Arg) => Returns<M, boolean>;
  /** Whether the value is a function or its ref. */
  IsFunction: (value: Arg) => Returns<M, boolean>;
  /** Whether the value is a key or its ref. */
  IsKey: (value: Arg) => Returns<M, boolean>;
  /** Whether the value is a token or its ref. */
  IsToken: (value: Arg) => Returns<M, boolean>;
  /** Whether the value is credentials or a ref to them. */
  IsCredentials: (value: Arg) => Returns<M, boolean>;
  /** Whether the value is a role or its ref. */
  IsRole: (value: Arg) => Returns<M, boolean>;
}
