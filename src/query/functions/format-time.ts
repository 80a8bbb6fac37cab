/** Parts of times and dates as `format` writes them: `%tF`, `%tT` and the rest, in English and UTC. Spec: functions 1.8. */
import { civilOfDay, dayOfTime, formatDate, formatTime, splitTime } from '../../values/time.ts';
import type { DateValue, Time } from '../../values/value.ts';
import { dayOfYear, secondOfDay, weekdayOf } from './time.ts';

const MONTHS = [
  'January',
  'February',
  'March',
  'April',
  'May',
  'June',
  'July',
  'August',
  'September',
  'October',
  'November',
  'December',
];
const WEEKDAYS = ['Monday', 'Tuesday', 'Wednesday', 'Thursday', 'Friday', 'Saturday', 'Sunday'];

const padded = (value: number, digits: number): string => String(value).padStart(digits, '0');

const monthOf = (day: number): string => MONTHS[civilOfDay(day).month - 1] ?? '';
const weekdayName = (day: number): string => WEEKDAYS[weekdayOf(day) - 1] ?? '';

/** Years before year 1 are counted backwards without a sign: year 0 becomes 1, year -1 becomes 2. */
function yearOfEra(day: number): number {
  const { year } = civilOfDay(day);
  return year > 0 ? year : 1 - year;
}

const DAY_FIELDS: Readonly<Record<string, (day: number) => string>> = {
  B: monthOf,
  b: (day) => monthOf(day).slice(0, 3),
  h: (day) => monthOf(day).slice(0, 3),
  A: weekdayName,
  a: (day) => weekdayName(day).slice(0, 3),
  C: (day) => padded(Math.floor(yearOfEra(day) / 100), 2),
  Y: (day) => padded(yearOfEra(day), 4),
  y: (day) => padded(yearOfEra(day) % 100, 2),
  j: (day) => padded(dayOfYear(day), 3),
  m: (day) => padded(civilOfDay(day).month, 2),
  d: (day) => padded(civilOfDay(day).day, 2),
  e: (day) => String(civilOfDay(day).day),
  D: (day) => dayFields('m/d/y', day),
  F: (day) => dayFields('Y-m-d', day),
};

const dayFields = (layout: string, day: number): string =>
  layout.replace(/[a-zA-Z]/g, (field) => DAY_FIELDS[field]?.(day) ?? field);

const hourOf = (time: Time): number => Math.floor(secondOfDay(time) / 3600);
const halfDayHourOf = (time: Time): number => ((hourOf(time) + 11) % 12) + 1;
const halfDayOf = (time: Time): string => (hourOf(time) < 12 ? 'am' : 'pm');

const CLOCK_FIELDS: Readonly<Record<string, (time: Time) => string>> = {
  H: (time) => padded(hourOf(time), 2),
  k: (time) => String(hourOf(time)),
  I: (time) => padded(halfDayHourOf(time), 2),
  l: (time) => String(halfDayHourOf(time)),
  M: (time) => padded(Math.floor(secondOfDay(time) / 60) % 60, 2),
  S: (time) => padded(secondOfDay(time) % 60, 2),
  L: (time) => padded(Math.floor(splitTime(time).nanos / 1_000_000), 3),
  N: (time) => padded(splitTime(time).nanos, 9),
  p: halfDayOf,
  z: () => '+0000',
  Z: () => 'Z',
  s: (time) => String(splitTime(time).seconds),
  Q: millisOf,
  R: (time) => timeFields('H:M', time),
  T: (time) => timeFields('H:M:S', time),
  r: (time) => `${timeFields('I:M:S', time)} ${halfDayOf(time).toUpperCase()}`,
  c: (time) => timeFields('a b d T Z Y', time),
};

function millisOf(time: Time): string {
  const { seconds, nanos } = splitTime(time);
  return String(seconds * 1000n + BigInt(Math.floor(nanos / 1_000_000)));
}

const timeFields = (layout: string, time: Time): string =>
  layout.replace(/[a-zA-Z]/g, (field) => timeField(field, time) ?? field);

/**
 * The text of one field. Undefined if the value does not have the field. An empty `field` means the whole value in ISO
 * 8601.
 */
export function timeField(field: string, value: Time | DateValue): string | undefined {
  if (value.kind === 'date') {
    return field === '' ? formatDate(value) : DAY_FIELDS[field]?.(value.day);
  }
  if (field === '') return formatTime(value);
  return CLOCK_FIELDS[field]?.(value) ?? DAY_FIELDS[field]?.(dayOfTime(value));
}
