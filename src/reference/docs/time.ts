import type { Family, FamilyDocs } from '../form-docs.ts';

const PARTS: Readonly<Record<string, readonly [builder: string, summary: string]>> = {
  second: ['Second', 'The second within its minute, from 0.'],
  minute: ['Minute', 'The minute within its hour, from 0.'],
  hour: ['Hour', 'The hour of the day, from 0.'],
  day_of_month: ['DayOfMonth', 'The day of the month, from 1.'],
  day_of_week: ['DayOfWeek', 'The day of the week: Monday is 1, Sunday 7.'],
  day_of_year: ['DayOfYear', 'The day of the year, from 1.'],
  month: ['Month', 'The month, from 1.'],
  year: ['Year', 'The year.'],
};

const parts: FamilyDocs = Object.fromEntries(
  Object.entries(PARTS).map(([name, [builder, summary]]) => [
    name,
    { summary, result: 'Integer', example: `${builder}(Time("2026-03-01T18:45:30Z"))` },
  ]),
);

const OUT = ['invalid argument', 'the result lies outside the range of times'] as const;

export const time: Family = {
  file: 'time',
  title: 'Time and date',
  about:
    'Times are instants in UTC, to the nanosecond; dates are days without a time. Where a Time is asked for, an Integer counts microseconds since 1970.',
  docs: {
    time: {
      summary:
        'The instant that a text names, with its offset from UTC; `"now"` is the time of the query.',
      result: 'Time',
      errors: [['invalid argument', 'the text names no time']],
      example: 'Time("2026-03-01T20:15:00.5+02:00")',
    },
    date: {
      summary: 'The day that a text names.',
      result: 'Date',
      errors: [['invalid argument', 'the text names no day']],
      example: 'Date("2026-03-01")',
    },
    epoch: {
      summary: 'The instant so many units after the start of 1970.',
      result: 'Time',
      errors: [OUT],
      example: 'Epoch(1772388900, "seconds")',
    },
    to_micros: {
      summary: 'Microseconds since 1970.',
      result: 'Integer',
      example: 'ToMicros(Time("1970-01-01T00:00:01Z"))',
    },
    to_millis: {
      summary: 'Milliseconds since 1970, rounded down.',
      result: 'Integer',
      example: 'ToMillis(Time("1970-01-01T00:00:01.2349Z"))',
    },
    to_seconds: {
      summary: 'Seconds since 1970, rounded down.',
      result: 'Integer',
      example: 'ToSeconds(Time("1969-12-31T23:59:59.5Z"))',
    },
    ...parts,
    time_add: {
      summary: 'A time so much later. Dates move by days only.',
      result: 'Time or Date, as given',
      errors: [OUT, ['invalid argument', 'a Date and a unit shorter than a day']],
      example: 'TimeAdd(Date("2024-02-28"), 2, "days")',
    },
    time_subtract: {
      summary: 'A time so much earlier. Dates move by days only.',
      result: 'Time or Date, as given',
      errors: [OUT, ['invalid argument', 'a Date and a unit shorter than a day']],
      example: 'TimeSubtract(Time("2026-03-01T00:00:00Z"), 1, "nanosecond")',
    },
    time_diff: {
      summary:
        'How many whole units lie from the first to the second; negative when the second is earlier.',
      result: 'Integer',
      errors: [
        [
          'invalid argument',
          'one is a Time and the other a Date, or Dates and a unit shorter than a day',
        ],
      ],
      example: 'TimeDiff(Date("2026-01-01"), Date("2026-03-01"), "days")',
    },
  },
};
