import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { NANOS_MAX, NANOS_MIN } from '../../values/time.ts';
import { run, shown } from '../testing/pure-session.ts';

const ARGUMENT = 'invalid argument at ';
const time = (text: string): object => ({ time: text });
const date = (text: string): object => ({ date: text });
const END = '+1000000000-12-31T23:59:59.999999999Z';

const refusal = (query: unknown): unknown => {
  const outcome = run(query);
  return 'faults' in outcome
    ? outcome.faults.map(
        ({ position, description }) => `${JSON.stringify(position)} ${description}`,
      )
    : outcome.value;
};

test('time and date parse text', () => {
  expect(shown(time(' 2024-03-01T10:15+02:00 '))).toBe('{"@ts":"2024-03-01T08:15:00Z"}');
  expect(shown(time('now'))).toBe('{"@ts":"2024-01-01T00:00:00Z"}');
  expect(shown(date('2024-02-29'))).toBe('{"@date":"2024-02-29"}');
  expect(shown(date('\0\t2024-02-29\u001f'))).toBe('{"@date":"2024-02-29"}');
  expect(refusal(time('2024-03-01'))).toEqual(["[] Cannot cast '2024-03-01' to a time."]);
  expect(refusal(date('2023-02-29'))).toEqual(["[] Cannot cast '2023-02-29' to a date."]);
  expect(shown({ time: 5 })).toEqual([`${ARGUMENT}["time"]`]);
  expect(shown({ date: null })).toEqual([`${ARGUMENT}["date"]`]);
});

test('epoch counts units from 1970', () => {
  const epoch = (count: string, unit: string) => shown(`{"epoch":${count},"unit":"${unit}"}`);
  expect(epoch('1', 'day')).toBe('{"@ts":"1970-01-02T00:00:00Z"}');
  expect(epoch('-1', 'half days')).toBe('{"@ts":"1969-12-31T12:00:00Z"}');
  expect(epoch('1500', ' milliseconds ')).toBe('{"@ts":"1970-01-01T00:00:01.500Z"}');
  expect(epoch('9223372036854775807', 'nanosecond')).toBe(
    '{"@ts":"2262-04-11T23:47:16.854775807Z"}',
  );
  expect(refusal('{"epoch":9223372036854775807,"unit":"days"}')).toEqual([
    `[] epoch must be between -1000000000-01-01T00:00:00Z and ${END}`,
  ]);
  expect(epoch('1', 'week')).toEqual([`${ARGUMENT}["unit"]`]);
  expect(epoch('1', 'day\u00a0')).toEqual([`${ARGUMENT}["unit"]`]);
  expect(epoch('1.5', 'day')).toEqual([`${ARGUMENT}["epoch"]`]);
});

test('to_micros, to_millis and to_seconds round towards the past', () => {
  const before = time('1969-12-31T23:59:59.9994994Z');
  expect(shown({ to_micros: before })).toBe('-501');
  expect(shown({ to_millis: before })).toBe('-1');
  expect(shown({ to_seconds: before })).toBe('-1');
  expect(shown({ to_seconds: 1_500_000 })).toBe('1');
  expect(shown({ to_millis: time('2024-01-01T00:00:00.0019Z') })).toBe('1704067200001');
  expect(shown({ to_seconds: time(END) })).toBe('31556889864403199');
  for (const key of ['to_micros', 'to_millis', 'to_seconds']) {
    expect(shown({ [key]: date('2024-01-01') })).toEqual([`${ARGUMENT}${JSON.stringify([key])}`]);
  }
  for (const key of ['to_micros', 'to_millis']) {
    expect(refusal({ [key]: time(END) })).toEqual([
      `[] ${key} must be between -9223372036854775808 and 9223372036854775807`,
    ]);
  }
});

test('the parts of a time are in UTC', () => {
  const parts = (text: string) =>
    ['year', 'month', 'day_of_month', 'day_of_week', 'day_of_year', 'hour', 'minute', 'second']
      .map((key) => shown({ [key]: time(text) }))
      .join(' ');
  expect(parts('2024-12-31T23:59:58.5Z')).toBe('2024 12 31 2 366 23 59 58');
  expect(parts('1969-12-28T23:00:00-02:00')).toBe('1969 12 29 1 363 1 0 0');
  expect(parts('1969-12-31T23:59:59.999Z')).toBe('1969 12 31 3 365 23 59 59');
  expect(parts('-0001-01-03T00:00:00Z')).toBe('-1 1 3 7 3 0 0 0');
  expect(shown({ year: 0 })).toBe('1970');
  for (const key of ['year', 'month', 'day_of_month', 'day_of_week', 'day_of_year', 'hour']) {
    expect(shown({ [key]: date('2024-01-01') })).toEqual([`${ARGUMENT}${JSON.stringify([key])}`]);
  }
  expect(shown({ minute: '1' })).toEqual([`${ARGUMENT}["minute"]`]);
  expect(shown({ second: null })).toEqual([`${ARGUMENT}["second"]`]);
});

test('time_add and time_subtract move times and dates', () => {
  const moved = (key: string, start: object, offset: number, unit: string) =>
    shown({ [key]: start, offset, unit });
  const leap = date('2024-02-28');
  expect(moved('time_add', leap, 2, 'days')).toBe('{"@date":"2024-03-01"}');
  expect(moved('time_subtract', leap, -2, 'day')).toBe('{"@date":"2024-03-01"}');
  expect(moved('time_add', time('now'), -1, 'nanosecond')).toBe(
    '{"@ts":"2023-12-31T23:59:59.999999999Z"}',
  );
  expect(moved('time_subtract', time('now'), 2, 'half day')).toBe('{"@ts":"2023-12-31T00:00:00Z"}');
  for (const key of ['time_add', 'time_subtract']) {
    expect(refusal({ [key]: leap, offset: 1, unit: 'hours' })).toEqual([
      '["unit"] Invalid time unit \'hour\'.',
    ]);
    expect(moved(key, time('now'), 1, 'year')).toEqual([`${ARGUMENT}["unit"]`]);
    expect(shown({ [key]: 5, offset: 1, unit: 'day' })).toEqual([
      `${ARGUMENT}${JSON.stringify([key])}`,
    ]);
    expect(shown({ [key]: leap, offset: 1.5, unit: 'day' })).toEqual([`${ARGUMENT}["offset"]`]);
    const far = `{"${key}":{"date":"2024-01-01"},"offset":-9223372036854775808,"unit":"day"}`;
    expect(shown(far)).toEqual([`${ARGUMENT}["offset"]`]);
    const farTime = `{"${key}":{"time":"now"},"offset":9223372036854775807,"unit":"day"}`;
    expect(shown(farTime)).toEqual([`${ARGUMENT}["offset"]`]);
  }
});

test('time_diff counts whole units toward zero', () => {
  const diff = (start: object, other: object, unit: string) =>
    shown({ time_diff: start, other, unit });
  const [early, late] = [time('2024-01-01T00:00:00Z'), time('2024-01-01T01:59:59Z')];
  expect(diff(early, late, 'hour')).toBe('1');
  expect(diff(late, early, 'hour')).toBe('-1');
  expect(diff(late, early, 'days')).toBe('0');
  expect(diff(date('2024-03-01'), date('2024-02-01'), 'day')).toBe('-29');
  expect(diff(date('2024-03-01'), date('2024-02-01'), 'minute')).toEqual([`${ARGUMENT}["unit"]`]);
  expect(refusal({ time_diff: early, other: date('2024-01-01'), unit: 'hour' })).toEqual([
    '["time_diff"] Incompatible time arguments.',
  ]);
  expect(diff(early, time(END), 'nanosecond')).toEqual([`${ARGUMENT}[]`]);
  expect(shown({ time_diff: early, other: 1, unit: 'hour' })).toEqual([`${ARGUMENT}["other"]`]);
});

test('time_diff and time_subtract reverse time_add', () => {
  const units = fc.constantFrom('day', 'half day', 'hour', 'minute', 'second', 'nanosecond');
  const micros = fc.integer({ min: -1e15, max: 1e15 });
  fc.assert(
    fc.property(micros, fc.integer({ min: -1e6, max: 1e6 }), units, (start, offset, unit) => {
      const at = { epoch: start, unit: 'microseconds' };
      const moved = { time_add: at, offset, unit };
      expect(shown({ time_diff: at, other: moved, unit })).toBe(String(offset));
      const back = { time_subtract: moved, offset, unit };
      expect(shown({ equals: [back, at] })).toBe('true');
    }),
  );
});

test('the time zone of the machine changes no result, on a leap day and where its clocks change (F27)', () => {
  const instants = [
    '2024-02-29T23:30:00Z',
    '2024-03-31T01:30:00Z',
    '2024-10-27T00:30:00Z',
    '2011-12-30T10:00:00Z',
    '1883-11-18T17:00:00.123456Z',
  ].map(time);
  const days = ['2024-02-29', '2011-12-30', '2024-03-31'].map(date);
  const results = () => [
    ...instants.flatMap((at) => [
      shown(at),
      ...['year', 'month', 'hour', 'day_of_month', 'day_of_week', 'day_of_year', 'date'].map(
        (part) => shown({ [part]: at }),
      ),
      shown({ string: at }),
      shown({ format: '%tF %<tT', values: at }),
      shown({ time_add: at, offset: 1, unit: 'days' }),
    ]),
    ...days.flatMap((day) => [
      shown({ to_time: day }),
      shown({ time_add: day, offset: 1, unit: 'days' }),
      shown({ time_diff: day, other: date('2025-03-01'), unit: 'days' }),
    ]),
  ];
  const zone = process.env['TZ'];
  const offsets = new Set<number>();
  const inZones = [
    'UTC',
    'Europe/Berlin',
    'America/St_Johns',
    'Pacific/Apia',
    'Asia/Kathmandu',
  ].map((name) => {
    process.env['TZ'] = name;
    offsets.add(new Date(0).getTimezoneOffset());
    return results();
  });
  if (zone === undefined) delete process.env['TZ'];
  else process.env['TZ'] = zone;
  expect(offsets.size).toBe(5);
  const [first] = inZones;
  for (const each of inZones) expect(each).toEqual(first);
  expect(first?.[0]).toBe('{"@ts":"2024-02-29T23:30:00Z"}');
});

test('times have the same range as in Java', () => {
  const whole = (NANOS_MAX - NANOS_MIN) / 1_000_000_000n;
  const ends = { time_diff: time('-1000000000-01-01T00:00:00Z'), other: time(END), unit: 'second' };
  expect(shown(ends)).toBe(String(whole));
});
