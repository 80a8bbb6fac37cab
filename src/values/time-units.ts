/** Units of time in queries. Queries may also append an `s`. */
export const TIME_UNITS = [
  'day',
  'half day',
  'hour',
  'minute',
  'second',
  'millisecond',
  'microsecond',
  'nanosecond',
] as const;

/** A unit in the singular. */
export type TimeUnit = (typeof TIME_UNITS)[number];
