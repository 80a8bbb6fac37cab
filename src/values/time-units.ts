/** Units of time that queries name, also with an `s` at the end. */
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

/** In the singular. */
export type TimeUnit = (typeof TIME_UNITS)[number];
