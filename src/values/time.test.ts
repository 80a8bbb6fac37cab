import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { anyDate, anyTime } from './arbitrary.ts';
import {
  civilOfDay,
  DAY_MAX,
  DAY_MIN,
  dayOfCivil,
  dayOfTime,
  formatDate,
  formatTime,
  microsOfTime,
  parseDate,
  parseTime,
  splitTime,
  timeOfDate,
  timeOfMicros,
  timeOfParts,
} from './time.ts';
import { DateValue, Time } from './value.ts';

const utc = (text: string): string | undefined => {
  const time = parseTime(text);
  return time && formatTime(time);
};

test('parseTime() accepts the same texts as Fauna, and converts to UTC', () => {
  const cases: readonly (readonly [string, string])[] = [
    ['1970-01-01T00:00:00Z', '1970-01-01T00:00:00Z'],
    ['1970-01-01t00:00z', '1970-01-01T00:00:00Z'],
    ['2020-01-01T00:00:00.Z', '2020-01-01T00:00:00Z'],
    ['2020-01-01T00:00:00.1Z', '2020-01-01T00:00:00.100Z'],
    ['2020-01-01T00:00:00.1234Z', '2020-01-01T00:00:00.123400Z'],
    ['2020-01-01T00:00:00.123456789Z', '2020-01-01T00:00:00.123456789Z'],
    ['2020-01-01T00:00:00.000000001Z', '2020-01-01T00:00:00.000000001Z'],
    ['2020-01-01T00:00:00+01:30', '2019-12-31T22:30:00Z'],
    ['2020-01-01T00:00:00-0130', '2020-01-01T01:30:00Z'],
    ['2020-01-01T00:00:00+01:30:15', '2019-12-31T22:29:45Z'],
    ['2020-01-01T00:00:00+18:00', '2019-12-31T06:00:00Z'],
    ['2019-02-29T10:00:00Z', '2019-02-28T10:00:00Z'],
    ['2020-02-31T10:00:00Z', '2020-02-29T10:00:00Z'],
    ['2019-12-31T24:00:00Z', '2020-01-01T00:00:00Z'],
    ['2019-12-31T24:00Z', '2020-01-01T00:00:00Z'],
    ['0000-01-01T00:00:00Z', '0000-01-01T00:00:00Z'],
    ['-0001-12-31T23:59:59Z', '-0001-12-31T23:59:59Z'],
    ['+12345-01-01T00:00:00Z', '+12345-01-01T00:00:00Z'],
    ['-1000000000-01-01T00:00:00Z', '-1000000000-01-01T00:00:00Z'],
    ['+1000000000-12-31T23:59:59.999999999Z', '+1000000000-12-31T23:59:59.999999999Z'],
  ];
  for (const [given, text] of cases) expect(utc(given)).toBe(text);
});

test('parseTime() refuses the same texts as Fauna', () => {
  for (const text of [
    '',
    '2020-01-01',
    '2020-01-01T00:00:00',
    '2020-01-01T00:00:00+01',
    '2020-01-01T00:00:00+0130:15',
    '2020-01-01T00:00:00+18:01',
    '2020-01-01T00:00:00+01:60',
    '2020-01-01T00:00:60Z',
    '2020-01-01T00:60:00Z',
    '2020-01-01T25:00:00Z',
    '2020-01-01T24:00:01Z',
    '2020-01-01T24:00:00.1Z',
    '2020-01-32T00:00:00Z',
    '2020-01-00T00:00:00Z',
    '2020-13-01T00:00:00Z',
    '2020-00-01T00:00:00Z',
    '2020-1-1T00:00:00Z',
    '12020-01-01T00:00:00Z',
    '+2020-01-01T00:00:00Z',
    '-0000-01-01T00:00:00Z',
    '2020-01-01T00:00:00.1234567890Z',
    '2020-01-01 00:00:00Z',
    ' 2020-01-01T00:00:00Z',
    '2020-01-01T00:00:00Z\n',
    '+1000000001-01-01T00:00:00Z',
    '+1000000000-12-31T23:59:59-01:00',
    '-1000000000-01-01T00:00:00+01:00',
    '+9999999999-01-01T00:00:00Z',
  ]) {
    expect(parseTime(text)).toBeUndefined();
  }
});

test('parseTime() reverses formatTime()', () => {
  fc.assert(
    fc.property(anyTime, (time) => {
      expect(parseTime(formatTime(time))).toEqual(time);
    }),
    { numRuns: 1000 },
  );
});

test('parseDate() accepts only YYYY-MM-DD with an existing day', () => {
  expect(parseDate('2020-02-29')).toEqual(new DateValue(18_321));
  expect(parseDate('1970-01-01')).toEqual(new DateValue(0));
  expect(parseDate('-0001-01-01')).toBeDefined();
  for (const text of [
    ['2019-02-29', '2020-13-01', '2020-00-10', '2020-01-00', '2020-01-32', '2020-1-1'],
    ['20200101', '2020-01-01T00:00:00Z', '', '-0000-01-01', '+2020-01-01', '99999-01-01'],
  ].flat()) {
    expect(parseDate(text)).toBeUndefined();
  }
});

test('parseDate() reverses formatDate()', () => {
  fc.assert(
    fc.property(anyDate, (date) => {
      expect(parseDate(formatDate(date))).toEqual(date);
    }),
    { numRuns: 1000 },
  );
});

test('formatTime() agrees with Date in the years 0 to 9999', () => {
  fc.assert(
    fc.property(
      fc.date({
        noInvalidDate: true,
        min: new Date(-62_167_219_200_000),
        max: new Date(253_402_300_799_999),
      }),
      (date) => {
        const time = new Time(BigInt(date.getTime()) * 1_000_000n);
        expect(formatTime(time).replace(/:(\d\d)Z$/, ':$1.000Z')).toBe(date.toISOString());
      },
    ),
  );
});

test('civilOfDay() and dayOfCivil() are inverse, and days are consecutive', () => {
  fc.assert(
    fc.property(fc.integer({ min: DAY_MIN, max: DAY_MAX - 1 }), (day) => {
      const civil = civilOfDay(day);
      expect(dayOfCivil(civil)).toBe(day);
      const next = civilOfDay(day + 1);
      expect(next.day === civil.day + 1 || next.day === 1).toBe(true);
    }),
    { numRuns: 1000 },
  );
  expect(civilOfDay(DAY_MIN)).toEqual({ year: -1_000_000_000, month: 1, day: 1 });
  expect(civilOfDay(DAY_MAX)).toEqual({ year: 1_000_000_000, month: 12, day: 31 });
});

test('microsOfTime() rounds down', () => {
  expect(microsOfTime(new Time(1999n))).toBe(1n);
  expect(microsOfTime(new Time(-1n))).toBe(-1n);
  expect(microsOfTime(timeOfMicros(-5))).toBe(-5n);
  expect(microsOfTime(timeOfMicros(2n ** 62n))).toBe(2n ** 62n);
});

test('splitTime() and timeOfParts() are inverse', () => {
  expect(splitTime(new Time(-1n))).toEqual({ seconds: -1n, nanos: 999_999_999 });
  fc.assert(
    fc.property(anyTime, (time) => {
      const { seconds, nanos } = splitTime(time);
      expect(timeOfParts(seconds, nanos)).toEqual(time);
    }),
  );
});

test('timeOfDate() is the midnight at which the day begins', () => {
  fc.assert(
    fc.property(anyDate, (date) => {
      const { nanos } = timeOfDate(date);
      expect(dayOfTime(new Time(nanos))).toBe(date.day);
      expect(dayOfTime(new Time(nanos - 1n))).toBe(date.day - 1);
    }),
  );
});
