/** Points in time, their parts and their distances. Spec: functions 1.11, values 4. */
import { fail } from '../../errors.ts';
import {
  civilOfDay,
  DAY_MAX,
  DAY_MIN,
  dayOfCivil,
  dayOfTime,
  formatDate,
  formatTime,
  microsOfTime,
  NANOS_MAX,
  NANOS_MIN,
  parseDate,
  parseTime,
  splitTime,
  timeOfMicros,
} from '../../values/time.ts';
import { INT64_MAX, INT64_MIN } from '../../values/number.ts';
import { DateValue, integer as toInteger, Time } from '../../values/value.ts';
import {
  integer,
  param,
  refuseArgument,
  string,
  temporal,
  time as timeCast,
  unit,
} from '../casts.ts';
import type { TimeUnit } from '../../values/time-units.ts';
import { COVERED, reading } from '../costs.ts';
import { define, type PureContext } from '../define.ts';
import type { FunctionRow } from '../function-row.ts';
import { positionOf } from '../query-path.ts';
import { trimmed } from '../trim.ts';
import { refuseBound } from './bounds.ts';

// --- texts ----------------------------------------------------------------------------------------

/** Parses a time: ISO 8601 with an offset, or `now`. */
export function timeOfText(text: string, context: PureContext): Time {
  const instant = trimmed(text);
  if (instant === 'now') return timeOfMicros(context.session.snapshot);
  return parseTime(instant) ?? refuseText(text, 'time', context);
}

export const dateOfText = (text: string, context: PureContext): DateValue =>
  parseDate(trimmed(text)) ?? refuseText(text, 'date', context);

const refuseText = (text: string, type: string, context: PureContext): never =>
  fail('invalid argument', positionOf(context.path), `Cannot cast '${text}' to a ${type}.`);

const time = define(
  'pure',
  { time: param(string, 'String') },
  (args) => reading(args.time.length),
  (args, context) => timeOfText(args.time, context),
);

const date = define(
  'pure',
  { date: param(string, 'String') },
  (args) => reading(args.date.length),
  (args, context) => dateOfText(args.date, context),
);

// --- units ----------------------------------------------------------------------------------------

const NANOS_PER_UNIT = {
  nanosecond: 1n,
  microsecond: 1000n,
  millisecond: 1_000_000n,
  second: 1_000_000_000n,
  minute: 60_000_000_000n,
  hour: 3_600_000_000_000n,
  'half day': 43_200_000_000_000n,
  day: 86_400_000_000_000n,
} as const satisfies Record<TimeUnit, bigint>;

const TIME_RANGE = `between ${formatTime(new Time(NANOS_MIN))} and ${formatTime(new Time(NANOS_MAX))}`;
const DATE_RANGE = `between ${formatDate(new DateValue(DAY_MIN))} and ${formatDate(new DateValue(DAY_MAX))}`;

const isTimeNanos = (nanos: bigint): boolean => nanos >= NANOS_MIN && nanos <= NANOS_MAX;

const epoch = define(
  'pure',
  { epoch: param(integer, 'Integer'), unit: param(unit, 'Unit') },
  COVERED,
  (args, context) => {
    const nanos = BigInt(args.epoch) * NANOS_PER_UNIT[args.unit];
    return isTimeNanos(nanos) ? new Time(nanos) : refuseBound(context, 'epoch', TIME_RANGE);
  },
);

/** Refuses values beyond int64, because the distance between two times may be greater. */
function requireInteger(value: bigint, name: string, context: PureContext): number | bigint {
  return value >= INT64_MIN && value <= INT64_MAX
    ? toInteger(value)
    : refuseBound(context, name, `between ${INT64_MIN} and ${INT64_MAX}`);
}

const toMicros = define('pure', { to_micros: param(timeCast, 'Time') }, COVERED, (args, context) =>
  requireInteger(microsOfTime(args.to_micros), 'to_micros', context),
);

const toMillis = define(
  'pure',
  { to_millis: param(timeCast, 'Time') },
  COVERED,
  (args, context) => {
    const { seconds, nanos } = splitTime(args.to_millis);
    const millis = seconds * 1000n + BigInt(Math.floor(nanos / 1_000_000));
    return requireInteger(millis, 'to_millis', context);
  },
);

const toSeconds = define('pure', { to_seconds: param(timeCast, 'Time') }, COVERED, (args) =>
  toInteger(splitTime(args.to_seconds).seconds),
);

// --- parts ----------------------------------------------------------------------------------------

const SECONDS_PER_DAY = 86_400n;

/** Seconds since midnight UTC. */
export const secondOfDay = (value: Time): number => {
  const { seconds } = splitTime(value);
  return Number(seconds - BigInt(dayOfTime(value)) * SECONDS_PER_DAY);
};

/** The day of the week: Monday is 1, Sunday 7. */
export const weekdayOf = (day: number): number => ((((day + 3) % 7) + 7) % 7) + 1;

/** The day of the year: January 1 is 1. */
export const dayOfYear = (day: number): number =>
  day - dayOfCivil({ year: civilOfDay(day).year, month: 1, day: 1 }) + 1;

const PARTS: Readonly<Record<string, (value: Time) => number>> = {
  second: (value) => secondOfDay(value) % 60,
  minute: (value) => Math.floor(secondOfDay(value) / 60) % 60,
  hour: (value) => Math.floor(secondOfDay(value) / 3600),
  day_of_month: (value) => civilOfDay(dayOfTime(value)).day,
  day_of_week: (value) => weekdayOf(dayOfTime(value)),
  day_of_year: (value) => dayOfYear(dayOfTime(value)),
  month: (value) => civilOfDay(dayOfTime(value)).month,
  year: (value) => civilOfDay(dayOfTime(value)).year,
};

const EPOCH = new Time(0n);
const partRows = Object.entries(PARTS).map(([name, part]) =>
  define('pure', { [name]: param(timeCast, 'Time') }, COVERED, (args) => part(args[name] ?? EPOCH)),
);

// --- arithmetic -----------------------------------------------------------------------------------

const refuseUnit = (context: PureContext, name: TimeUnit): never =>
  refuseArgument(context, 'unit', `Invalid time unit '${name}'.`);

function shift(
  from: Time | DateValue,
  distance: bigint,
  by: TimeUnit,
  context: PureContext,
): Time | DateValue {
  if (from.kind === 'date') {
    if (by !== 'day') refuseUnit(context, by);
    const day = BigInt(from.day) + distance;
    const isDay = day >= BigInt(DAY_MIN) && day <= BigInt(DAY_MAX);
    return isDay ? new DateValue(Number(day)) : refuseOffset(context, DATE_RANGE);
  }
  const nanos = from.nanos + distance * NANOS_PER_UNIT[by];
  return isTimeNanos(nanos) ? new Time(nanos) : refuseOffset(context, TIME_RANGE);
}

const refuseOffset = (context: PureContext, range: string): never =>
  refuseArgument(context, 'offset', `time after the offset must be ${range}`);

const start = param(temporal, 'Temporal');
const offset = { offset: param(integer, 'Integer'), unit: param(unit, 'Unit') } as const;

const timeAdd = define('pure', { time_add: start, ...offset }, COVERED, (args, context) =>
  shift(args.time_add, BigInt(args.offset), args.unit, context),
);

const timeSubtract = define('pure', { time_subtract: start, ...offset }, COVERED, (args, context) =>
  shift(args.time_subtract, -BigInt(args.offset), args.unit, context),
);

/** Whole units from the first to the second time, truncated toward zero. */
const timeDiff = define(
  'pure',
  { time_diff: start, other: param(temporal, 'Temporal'), unit: param(unit, 'Unit') },
  COVERED,
  ({ time_diff: from, other: to, unit: by }, context) => {
    if (from.kind === 'time' && to.kind === 'time')
      return requireInteger((to.nanos - from.nanos) / NANOS_PER_UNIT[by], 'time_diff', context);
    if (from.kind === 'date' && to.kind === 'date')
      return by === 'day' ? to.day - from.day : refuseUnit(context, by);
    return refuseArgument(context, 'time_diff', 'Incompatible time arguments.');
  },
);

export const timeRows: readonly FunctionRow[] = [
  time,
  date,
  epoch,
  toMicros,
  toMillis,
  toSeconds,
  ...partRows,
  timeAdd,
  timeSubtract,
  timeDiff,
];
