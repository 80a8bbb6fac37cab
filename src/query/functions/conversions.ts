/** Conversions between scalar types. Spec: functions 1.12. */
import { fail } from '../../errors.ts';
import { cannotCast } from '../../fault-texts.ts';
import { doubleText } from '../../codec/number-text.ts';
import { typeName } from '../../values/type-name.ts';
import { asDouble, toDouble, truncateToInteger, type NumberValue } from '../../values/number.ts';
import { dayOfTime, formatDate, formatTime, timeOfDate } from '../../values/time.ts';
import {
  DateValue,
  isDouble,
  isInteger,
  isKinded,
  isNumber,
  Time,
  type Value,
} from '../../values/value.ts';
import { any, param, refuseArgument } from '../casts.ts';
import { COVERED, parsing } from '../costs.ts';
import { define, type PureContext } from '../define.ts';
import type { FunctionRow } from '../function-row.ts';
import { positionOf } from '../query-path.ts';
import { parseLocaleNumber } from './locale-number.ts';
import { dateOfText, timeOfText } from './time.ts';

const refuse = (context: PureContext, value: Value, type: string): never =>
  fail('invalid argument', positionOf(context.path), cannotCast(typeName(value), type));

/** The text of a scalar. Undefined for values that have none. */
export function scalarText(value: Value): string | undefined {
  if (typeof value === 'string') return value;
  if (value === null || typeof value === 'boolean' || isInteger(value)) return String(value);
  if (isDouble(value)) return doubleText(toDouble(value));
  if (!isKinded(value)) return undefined;
  switch (value.kind) {
    case 'time':
      return formatTime(value);
    case 'date':
      return formatDate(value);
    case 'uuid':
      return value.text;
    case 'action':
      return value.name;
    default:
      return undefined;
  }
}

const toText = define(
  'pure',
  { to_string: param(any, 'Any') },
  COVERED,
  ({ to_string: value }, context) => scalarText(value) ?? refuse(context, value, 'String'),
);

// --- numbers --------------------------------------------------------------------------------------

function numberOf(value: Value): NumberValue | undefined {
  if (isNumber(value)) return value;
  return typeof value === 'string' ? parseLocaleNumber(value) : undefined;
}

const toNumber = define(
  'pure',
  { to_number: param(any, 'Any') },
  (args) => parsing(args.to_number),
  ({ to_number: value }, context) => numberOf(value) ?? refuse(context, value, 'Number'),
);

const requireNumber = (
  value: Value,
  type: string,
  context: PureContext,
  key: string,
): NumberValue =>
  numberOf(value) ?? refuseArgument(context, key, cannotCast(typeName(value), type));

const toDoubleRow = define(
  'pure',
  { to_double: param(any, 'Any') },
  (args) => parsing(args.to_double),
  (args, context) => asDouble(requireNumber(args.to_double, 'Double', context, 'to_double')),
);

const toInteger = define(
  'pure',
  { to_integer: param(any, 'Any') },
  (args) => parsing(args.to_integer),
  (args, context) =>
    truncateToInteger(requireNumber(args.to_integer, 'Integer', context, 'to_integer')),
);

// --- time -----------------------------------------------------------------------------------------

const NANOS_PER_MILLI = 1_000_000n;

const toTime = define(
  'pure',
  { to_time: param(any, 'Any') },
  (args) => parsing(args.to_time),
  ({ to_time: value }, context) => {
    if (value instanceof Time) return value;
    if (value instanceof DateValue) return timeOfDate(value);
    if (isInteger(value)) return new Time(BigInt(value) * NANOS_PER_MILLI);
    return typeof value === 'string' ? timeOfText(value, context) : refuse(context, value, 'Time');
  },
);

const toDate = define(
  'pure',
  { to_date: param(any, 'Any') },
  (args) => parsing(args.to_date),
  ({ to_date: value }, context) => {
    if (value instanceof DateValue) return value;
    if (value instanceof Time) return new DateValue(dayOfTime(value));
    return typeof value === 'string' ? dateOfText(value, context) : refuse(context, value, 'Date');
  },
);

export const conversionRows: readonly FunctionRow[] = [
  toText,
  toNumber,
  toDoubleRow,
  toInteger,
  toTime,
  toDate,
];
