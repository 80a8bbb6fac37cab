/** Made by `npm run docs` of src/query/functions and src/reference. */
import type { Expr, FaunaDate, FaunaTime } from '../values.ts';
import type { Arg } from './arguments.ts';

export interface RegularScalars {
  /** Joins strings, with a separator between them if one is given. */
  Concat: (value: Arg, separator?: Arg) => Expr<string>;
  /** Whether a string contains another. */
  ContainsStr: (value: Arg, search: Arg) => Expr<boolean>;
  /** Whether a string starts with another. */
  StartsWith: (value: Arg, search: Arg) => Expr<boolean>;
  /** Whether a string ends with another. */
  EndsWith: (value: Arg, search: Arg) => Expr<boolean>;
  /** The position at which a string first occurs in another, or -1. A `start` out of range counts as 0. */
  FindStr: (value: Arg, find: Arg, start?: Arg) => Expr<number>;
  /** The number of code points. */
  Length: (value: Arg) => Expr<number>;
  /** Converts to lower case. */
  LowerCase: (value: Arg) => Expr<string>;
  /** Converts to upper case. */
  UpperCase: (value: Arg) => Expr<string>;
  /** Capitalizes each word; all other letters become lower case. */
  TitleCase: (value: Arg) => Expr<string>;
  /** Removes white space at the start. */
  LTrim: (value: Arg) => Expr<string>;
  /** Removes white space at the end. */
  RTrim: (value: Arg) => Expr<string>;
  /** Removes white space at both ends. */
  Trim: (value: Arg) => Expr<string>;
  /** Repeats a string: twice by default, at most 1024 times. */
  Repeat: (value: Arg, number?: Arg) => Expr<string>;
  /** A string of this many spaces, at most 1024. */
  Space: (value: Arg) => Expr<string>;
  /** Replaces every occurrence of a string. */
  ReplaceStr: (value: Arg, find: Arg, replace: Arg) => Expr<string>;
  /** A part of a string, given by start and length. A negative start counts from the end. */
  SubString: (value: Arg, start?: Arg, length?: Arg) => Expr<string>;
  /** All substrings of the given lengths, 1 and 2 by default; used to build search indexes. */
  NGram: (value: Arg, min?: Arg, max?: Arg) => Expr<string[]>;
  /** A pattern that matches exactly this text. */
  RegexEscape: (value: Arg) => Expr<string>;
  /** Whether a pattern matches anywhere in a string. */
  ContainsStrRegex: (value: Arg, pattern: Arg) => Expr<boolean>;
  /** Replaces every match of a pattern, or only the first; `$1` is the first group. */
  ReplaceStrRegex: (value: Arg, pattern: Arg, replace: Arg, first?: Arg) => Expr<string>;
  /** Normalizes a string for comparison: Unicode case folding and normalization, or normalization only. One value gives one result, several give an array. */
  Casefold: (value: Arg, normalizer?: Arg) => Expr<string>;
  /** Formats values by the rules of Java: `%d` for Integers, `%f` for Doubles, `%s` for any value, `%tY` for parts of times, `%^` for JSON. */
  Format: (value: Arg, ...valuess: [Arg, ...Arg[]]) => Expr<string>;
  /** The sum of all operands. */
  Add: (...values: [Arg, ...Arg[]]) => Expr<number>;
  /** The first operand minus all others. */
  Subtract: (...values: [Arg, ...Arg[]]) => Expr<number>;
  /** The product of all operands. */
  Multiply: (...values: [Arg, ...Arg[]]) => Expr<number>;
  /** The first operand divided by each of the others. Division of Integers truncates toward zero. */
  Divide: (...values: [Arg, ...Arg[]]) => Expr<number>;
  /** The remainder of a division. It has the sign of the first operand. */
  Modulo: (...values: [Arg, ...Arg[]]) => Expr<number>;
  /** Bitwise AND of all operands. */
  BitAnd: (...values: [Arg, ...Arg[]]) => Expr<number>;
  /** Bitwise OR of all operands. */
  BitOr: (...values: [Arg, ...Arg[]]) => Expr<number>;
  /** Bitwise exclusive OR of all operands. */
  BitXor: (...values: [Arg, ...Arg[]]) => Expr<number>;
  /** Bitwise NOT. */
  BitNot: (value: Arg) => Expr<number>;
  /** The absolute value. */
  Abs: (value: Arg) => Expr<number>;
  /** Rounds up to a whole number of the same type. */
  Ceil: (value: Arg) => Expr<number>;
  /** Rounds down to a whole number of the same type. */
  Floor: (value: Arg) => Expr<number>;
  /** Rounds to a number of decimal places, 2 by default; a negative precision rounds to tens, hundreds and so on. It adds one half and truncates, so negative numbers are not rounded to the nearest. */
  Round: (value: Arg, precision?: Arg) => Expr<number>;
  /** Truncates toward zero to a number of decimal places, 2 by default. */
  Trunc: (value: Arg, precision?: Arg) => Expr<number>;
  /** The sign: -1, 0 or 1. For the Double 0.0 it is 1, as in the original. */
  Sign: (value: Arg) => Expr<number>;
  /** The square root. */
  Sqrt: (value: Arg) => Expr<number>;
  /** Raises a number to a power, 2 by default. */
  Pow: (value: Arg, exp?: Arg) => Expr<number>;
  /** The hypotenuse of a right triangle with these two sides. */
  Hypot: (value: Arg, b?: Arg) => Expr<number>;
  /** e raised to a power. */
  Exp: (value: Arg) => Expr<number>;
  /** The natural logarithm. */
  Ln: (value: Arg) => Expr<number>;
  /** The logarithm to base 10. */
  Log: (value: Arg) => Expr<number>;
  /** The sine of an angle in radians. */
  Sin: (value: Arg) => Expr<number>;
  /** The cosine of an angle in radians. */
  Cos: (value: Arg) => Expr<number>;
  /** The tangent of an angle in radians. */
  Tan: (value: Arg) => Expr<number>;
  /** The hyperbolic sine. */
  Sinh: (value: Arg) => Expr<number>;
  /** The hyperbolic cosine. */
  Cosh: (value: Arg) => Expr<number>;
  /** The hyperbolic tangent. */
  Tanh: (value: Arg) => Expr<number>;
  /** The arc sine, in radians. */
  Asin: (value: Arg) => Expr<number>;
  /** The arc cosine, in radians. */
  Acos: (value: Arg) => Expr<number>;
  /** The arc tangent, in radians. */
  Atan: (value: Arg) => Expr<number>;
  /** Converts an angle from radians to degrees. */
  Degrees: (value: Arg) => Expr<number>;
  /** Converts an angle from degrees to radians. */
  Radians: (value: Arg) => Expr<number>;
  /** Parses a time with its offset from UTC. `"now"` is the transaction time of the query. */
  Time: (value: Arg) => Expr<FaunaTime>;
  /** Parses a date. */
  Date: (value: Arg) => Expr<FaunaDate>;
  /** The time this many units after the start of 1970. */
  Epoch: (value: Arg, unit: Arg) => Expr<FaunaTime>;
  /** Microseconds since 1970. */
  ToMicros: (value: Arg) => Expr<number>;
  /** Milliseconds since 1970, rounded down. */
  ToMillis: (value: Arg) => Expr<number>;
  /** Seconds since 1970, rounded down. */
  ToSeconds: (value: Arg) => Expr<number>;
  /** The second within its minute, from 0. */
  Second: (value: Arg) => Expr<number>;
  /** The minute within its hour, from 0. */
  Minute: (value: Arg) => Expr<number>;
  /** The hour of the day, from 0. */
  Hour: (value: Arg) => Expr<number>;
  /** The day of the month, from 1. */
  DayOfMonth: (value: Arg) => Expr<number>;
  /** The day of the week: Monday is 1, Sunday 7. */
  DayOfWeek: (value: Arg) => Expr<number>;
  /** The day of the year, from 1. */
  DayOfYear: (value: Arg) => Expr<number>;
  /** The month, from 1. */
  Month: (value: Arg) => Expr<number>;
  /** The year. */
  Year: (value: Arg) => Expr<number>;
  /** The number of whole units from the first to the second; negative if the second is earlier. */
  TimeDiff: (value: Arg, other: Arg, unit: Arg) => Expr<number>;
  /** Converts a scalar to a string. */
  ToString: (value: Arg) => Expr<string>;
  /** Parses the number at the start of a string: `"1,234.5 km"` is 1234.5. A whole number becomes an Integer. */
  ToNumber: (value: Arg) => Expr<number>;
  /** Converts a number, or the number at the start of a string, to a Double. */
  ToDouble: (value: Arg) => Expr<number>;
  /** Converts a number, or the number at the start of a string, to an Integer; truncates toward zero. */
  ToInteger: (value: Arg) => Expr<number>;
  /** Converts to a Time: a Date to its midnight in UTC, a string as `time` parses it, an Integer as milliseconds since 1970. */
  ToTime: (value: Arg) => Expr<FaunaTime>;
  /** Converts to a Date: a Time to its day in UTC, a string as `date` parses it. */
  ToDate: (value: Arg) => Expr<FaunaDate>;
  /** Whether the value is an Integer or a Double. */
  IsNumber: (value: Arg) => Expr<boolean>;
  /** Whether the value is a Double. */
  IsDouble: (value: Arg) => Expr<boolean>;
  /** Whether the value is an Integer. */
  IsInteger: (value: Arg) => Expr<boolean>;
  /** Whether the value is true or false. */
  IsBoolean: (value: Arg) => Expr<boolean>;
  /** Whether the value is null. */
  IsNull: (value: Arg) => Expr<boolean>;
  /** Whether the value is bytes. */
  IsBytes: (value: Arg) => Expr<boolean>;
  /** Whether the value is a Time. */
  IsTimestamp: (value: Arg) => Expr<boolean>;
  /** Whether the value is a Date. */
  IsDate: (value: Arg) => Expr<boolean>;
  /** Whether the value is a String, or the action of an event. */
  IsString: (value: Arg) => Expr<boolean>;
  /** Whether the value is an Array. */
  IsArray: (value: Arg) => Expr<boolean>;
  /** Whether the value is an object, page, document or event. */
  IsObject: (value: Arg) => Expr<boolean>;
  /** Whether the value is a ref, whether its target exists or not. */
  IsRef: (value: Arg) => Expr<boolean>;
  /** Whether the value is a set, or a native collection. */
  IsSet: (value: Arg) => Expr<boolean>;
  /** Whether the value is a document, or a ref to one. */
  IsDoc: (value: Arg) => Expr<boolean>;
  /** Whether the value is a lambda. */
  IsLambda: (value: Arg) => Expr<boolean>;
  /** Whether the value is a collection or its ref. */
  IsCollection: (value: Arg) => Expr<boolean>;
  /** Whether the value is a database or its ref. */
  IsDatabase: (value: Arg) => Expr<boolean>;
  /** Whether the value is an index or its ref. */
  IsIndex: (value: Arg) => Expr<boolean>;
  /** Whether the value is a function or its ref. */
  IsFunction: (value: Arg) => Expr<boolean>;
  /** Whether the value is a key or its ref. */
  IsKey: (value: Arg) => Expr<boolean>;
  /** Whether the value is a token or its ref. */
  IsToken: (value: Arg) => Expr<boolean>;
  /** Whether the value is credentials or a ref to them. */
  IsCredentials: (value: Arg) => Expr<boolean>;
  /** Whether the value is a role or its ref. */
  IsRole: (value: Arg) => Expr<boolean>;
}
