/** How numbers, times and countries read, in the language of the browser. */

const numbers = new Intl.NumberFormat();
const times = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium', timeStyle: 'medium' });
const countryNames = new Intl.DisplayNames(['en'], { type: 'region', fallback: 'code' });

export const formatNumber = (value: number): string => numbers.format(value);

/** @param micros µs since 1970, as documents have them */
export const formatMicros = (micros: number): string => times.format(new Date(micros / 1000));

export const formatTime = (iso: string): string => times.format(new Date(iso));

const MEGA = 1_000_000;

export const formatBytes = (bytes: number): string =>
  bytes < MEGA / 10
    ? `${numbers.format(Math.ceil(bytes / 1000))} kB`
    : `${numbers.format(Math.round((bytes / MEGA) * 10) / 10)} MB`;

/** Kosovo has a code that is in use, but not in the standard. */
export const countryName = (code: string): string =>
  code === 'XK' ? 'Kosovo' : (countryNames.of(code) ?? code);
