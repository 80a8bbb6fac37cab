/** Text formats and arithmetic of Time and Date values. Spec: values 4. */
import { DateValue, Time } from './value.ts';

export const DAY_MICROS = 86_400 * 1_000_000;
const NANOS_PER_SECOND = 1_000_000_000n;
const SECONDS_PER_DAY = 86_400;
const YEAR_LIMIT = 1_000_000_000;

export interface CivilDay {
  readonly year: number;
  readonly month: number;
  readonly day: number;
}

const isLeapYear = (year: number): boolean =>
  year % 4 === 0 && (year % 100 !== 0 || year % 400 === 0);

const MONTH_DAYS = [31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31] as const;

/** 28 to 31. 0 if `month` is not 1 to 12. */
const daysInMonth = (year: number, month: number): number =>
  month === 2 && isLeapYear(year) ? 29 : (MONTH_DAYS[month - 1] ?? 0);

/** Days since 1970-01-01 in the proleptic Gregorian calendar. */
export function dayOfCivil({ year, month, day }: CivilDay): number {
  // Counting years from March puts the leap day at the end of the year. 400 years are one era of 146097 days.
  const marchYear = month <= 2 ? year - 1 : year;
  const era = Math.floor(marchYear / 400);
  const yearOfEra = marchYear - era * 400;
  const dayOfYear = Math.floor((153 * (month > 2 ? month - 3 : month + 9) + 2) / 5) + day - 1;
  const dayOfEra =
    yearOfEra * 365 + Math.floor(yearOfEra / 4) - Math.floor(yearOfEra / 100) + dayOfYear;
  return era * 146_097 + dayOfEra - 719_468;
}

export function civilOfDay(epochDay: number): CivilDay {
  const shifted = epochDay + 719_468;
  const era = Math.floor(shifted / 146_097);
  const dayOfEra = shifted - era * 146_097;
  const yearOfEra = Math.floor(
    (dayOfEra -
      Math.floor(dayOfEra / 1460) +
      Math.floor(dayOfEra / 36_524) -
      Math.floor(dayOfEra / 146_096)) /
      365,
  );
  const dayOfYear =
    dayOfEra - (365 * yearOfEra + Math.floor(yearOfEra / 4) - Math.floor(yearOfEra / 100));
  const marchMonth = Math.floor((5 * dayOfYear + 2) / 153);
  const month = marchMonth < 10 ? marchMonth + 3 : marchMonth - 9;
  return {
    year: yearOfEra + era * 400 + (month <= 2 ? 1 : 0),
    month,
    day: dayOfYear - Math.floor((153 * marchMonth + 2) / 5) + 1,
  };
}

export const DAY_MIN = dayOfCivil({ year: -YEAR_LIMIT, month: 1, day: 1 });
export const DAY_MAX = dayOfCivil({ year: YEAR_LIMIT, month: 12, day: 31 });
export const NANOS_MIN = BigInt(DAY_MIN) * BigInt(SECONDS_PER_DAY) * NANOS_PER_SECOND;
export const NANOS_MAX = (BigInt(DAY_MAX) + 1n) * BigInt(SECONDS_PER_DAY) * NANOS_PER_SECOND - 1n;

const floorDivide = (value: bigint, divisor: bigint): bigint => {
  const quotient = value / divisor;
  return value % divisor < 0n ? quotient - 1n : quotient;
};

export const timeOfMicros = (micros: number | bigint): Time => new Time(BigInt(micros) * 1000n);

/** Rounds down. The result may be outside of int64, because the range of Time is wider. */
export const microsOfTime = (time: Time): bigint => floorDivide(time.nanos, 1000n);

/** Whole seconds since the epoch, rounded down, and the remaining nanoseconds. */
export function splitTime(time: Time): { readonly seconds: bigint; readonly nanos: number } {
  const seconds = floorDivide(time.nanos, NANOS_PER_SECOND);
  return { seconds, nanos: Number(time.nanos - seconds * NANOS_PER_SECOND) };
}

export const timeOfParts = (seconds: bigint, nanos: number): Time =>
  new Time(seconds * NANOS_PER_SECOND + BigInt(nanos));

export const dayOfTime = (time: Time): number =>
  Number(floorDivide(splitTime(time).seconds, BigInt(SECONDS_PER_DAY)));

/** Midnight UTC at the start of the date. */
export const timeOfDate = (date: DateValue): Time =>
  timeOfParts(BigInt(date.day) * BigInt(SECONDS_PER_DAY), 0);

const two = (value: number): string => (value < 10 ? `0${value}` : `${value}`);

function yearText(year: number): string {
  const digits = String(Math.abs(year)).padStart(4, '0');
  if (year < 0) return `-${digits}`;
  return year > 9999 ? `+${digits}` : digits;
}

const dayText = (day: number): string => {
  const civil = civilOfDay(day);
  return `${yearText(civil.year)}-${two(civil.month)}-${two(civil.day)}`;
};

export const formatDate = (date: DateValue): string => dayText(date.day);

/** Such as `2020-01-01T00:00:00.123Z`: always with seconds; the fraction has 0, 3, 6 or 9 digits. */
export function formatTime(time: Time): string {
  const { seconds, nanos } = splitTime(time);
  const day = Number(floorDivide(seconds, BigInt(SECONDS_PER_DAY)));
  const rest = Number(seconds - BigInt(day) * BigInt(SECONDS_PER_DAY));
  const clock = `${two(Math.floor(rest / 3600))}:${two(Math.floor(rest / 60) % 60)}:${two(rest % 60)}`;
  return `${dayText(day)}T${clock}${fractionText(nanos)}Z`;
}

function fractionText(nanos: number): string {
  if (nanos === 0) return '';
  const digits = String(nanos).padStart(9, '0');
  if (digits.endsWith('000000')) return `.${digits.slice(0, 3)}`;
  return digits.endsWith('000') ? `.${digits.slice(0, 6)}` : `.${digits}`;
}

const YEAR = String.raw`(\d{4}|-\d{4,10}|\+\d{5,10})`;
const DATE = new RegExp(String.raw`^${YEAR}-(\d\d)-(\d\d)$`);
const TIME = new RegExp(
  String.raw`^${YEAR}-(\d\d)-(\d\d)T(\d\d):(\d\d)(?::(\d\d)(?:\.(\d{0,9}))?)?(?:(Z)|([+-])(\d\d)(?::(\d\d)(?::(\d\d))?|(\d\d)))$`,
  'i',
);

const isYear = (text: string, year: number): boolean =>
  Math.abs(year) <= YEAR_LIMIT && !(year === 0 && text.startsWith('-'));

/** Parses a strict ISO date. Undefined if the text is not one. */
export function parseDate(text: string): DateValue | undefined {
  const match = DATE.exec(text);
  if (!match) return undefined;
  const [, yearDigits = '', monthDigits, dayDigits] = match;
  const [year, month, day] = [Number(yearDigits), Number(monthDigits), Number(dayDigits)];
  if (!isYear(yearDigits, year) || day < 1 || day > daysInMonth(year, month)) return undefined;
  return new DateValue(dayOfCivil({ year, month, day }));
}

/**
 * Parses an ISO date-time with offset and normalises it to UTC. Undefined if the text is not one. A day up to 31 that the month does
 * not have becomes its last day; 24:00:00 is the start of the next day.
 */
export function parseTime(text: string): Time | undefined {
  const match = TIME.exec(text);
  if (!match) return undefined;
  const [, yearDigits = '', monthDigits, dayDigits] = match;
  const [year, month, day] = [Number(yearDigits), Number(monthDigits), Number(dayDigits)];
  const monthEnd = daysInMonth(year, month);
  if (!isYear(yearDigits, year) || monthEnd === 0 || day < 1 || day > 31) return undefined;
  const nanos = Number((match[7] ?? '').padEnd(9, '0'));
  const clock = clockSeconds(Number(match[4]), Number(match[5]), Number(match[6] ?? 0), nanos);
  const offset = offsetSeconds(match);
  if (clock === undefined || offset === undefined) return undefined;
  const epochDay = dayOfCivil({ year, month, day: Math.min(day, monthEnd) });
  const time = timeOfParts(
    BigInt(epochDay) * BigInt(SECONDS_PER_DAY) + BigInt(clock - offset),
    nanos,
  );
  return time.nanos >= NANOS_MIN && time.nanos <= NANOS_MAX ? time : undefined;
}

function clockSeconds(
  hour: number,
  minute: number,
  second: number,
  nanos: number,
): number | undefined {
  const isEndOfDay = hour === 24 && minute === 0 && second === 0 && nanos === 0;
  if ((hour > 23 && !isEndOfDay) || minute > 59 || second > 59) return undefined;
  return hour * 3600 + minute * 60 + second;
}

const OFFSET_MAX = 18 * 3600;

function offsetSeconds(match: RegExpExecArray): number | undefined {
  if (match[8]) return 0;
  const [minute, second] = [Number(match[11] ?? match[13]), Number(match[12] ?? 0)];
  const total = Number(match[10]) * 3600 + minute * 60 + second;
  if (minute > 59 || second > 59 || total > OFFSET_MAX) return undefined;
  return match[9] === '-' ? -total : total;
}
