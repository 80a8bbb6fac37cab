/** Formats numbers and times in the language of the browser, and country names in English. */

const numbers = new Intl.NumberFormat();
const times = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium', timeStyle: 'medium' });
const countryNames = new Intl.DisplayNames(['en'], { type: 'region', fallback: 'code' });

export const formatNumber = (value: number): string => numbers.format(value);

/** `1 note`, `2 notes`. */
export const counted = (count: number, one: string, many = `${one}s`): string =>
  `${formatNumber(count)} ${count === 1 ? one : many}`;

/** @param micros µs since 1970, the unit of timestamps in documents */
export const formatMicros = (micros: number): string => times.format(new Date(micros / 1000));

export const formatTime = (iso: string): string => times.format(new Date(iso));

const BYTE_UNITS = ['B', 'kB', 'MB', 'GB', 'TB'] as const;

export function formatBytes(bytes: number): string {
  const power = Math.min(Math.floor(Math.log10(Math.max(bytes, 1)) / 3), BYTE_UNITS.length - 1);
  const value = bytes / 1000 ** power;
  return `${numbers.format(value < 100 ? Math.round(value * 10) / 10 : Math.round(value))} ${BYTE_UNITS[power]}`;
}

/** The name of a country. `XK` (Kosovo) is in use, but is not part of ISO 3166. */
export function countryName(code: string): string {
  if (code === 'XK') return 'Kosovo';
  // The code may come from an address that was typed by hand, and `of()` throws for text that is not a code.
  return /^[A-Z]{2}$/.test(code) ? (countryNames.of(code) ?? code) : code;
}
