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

const OUT = ['invalid argument', 'the result is out of the range of times'] as const;

export const time: Family = {
  file: 'time',
  title: 'Time and date',
  about:
    'A Time is an instant in UTC with nanoseconds; a Date is a day without a time. Where a Time is expected, an Integer is accepted as microseconds since 1970.',
  docs: {
    time: {
      summary:
        'Parses a time with its offset from UTC. `"now"` is the transaction time of the query.',
      result: 'Time',
      errors: [['invalid argument', 'the string is not a valid time']],
      example: 'Time("2026-03-01T20:15:00.5+02:00")',
    },
    date: {
      summary: 'Parses a date.',
      result: 'Date',
      errors: [['invalid argument', 'the string is not a valid date']],
      example: 'Date("2026-03-01")',
    },
    epoch: {
      summary: 'The time this many units after the start of 1970.',
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
      summary: 'Adds a number of units to a time. A Date accepts whole days only.',
      result: 'Time or Date, like the argument',
      errors: [
        OUT,
        ['invalid argument', 'the unit is shorter than a day and the argument is a Date'],
      ],
      example: 'TimeAdd(Date("2024-02-28"), 2, "days")',
    },
    time_subtract: {
      summary: 'Subtracts a number of units from a time. A Date accepts whole days only.',
      result: 'Time or Date, like the argument',
      errors: [
        OUT,
        ['invalid argument', 'the unit is shorter than a day and the argument is a Date'],
      ],
      example: 'TimeSubtract(Time("2026-03-01T00:00:00Z"), 1, "nanosecond")',
    },
    time_diff: {
      summary:
        'The number of whole units from the first to the second; negative if the second is earlier.',
      result: 'Integer',
      errors: [
        [
          'invalid argument',
          'one is a Time and the other a Date, or both are Dates and the unit is shorter than a day',
        ],
      ],
      example: 'TimeDiff(Date("2026-01-01"), Date("2026-03-01"), "days")',
    },
  },
};
