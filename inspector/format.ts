/** Formats numbers, sizes and times for people. */
const NUMBERS = new Intl.NumberFormat('en');

export const formatNumber = (value: number): string => NUMBERS.format(value);

const UNITS = ['bytes', 'KiB', 'MiB', 'GiB', 'TiB'] as const;

export function formatBytes(bytes: number): string {
  let value = bytes;
  let unit = 0;
  while (value >= 1024 && unit < UNITS.length - 1) {
    value /= 1024;
    unit += 1;
  }
  return `${unit === 0 ? formatNumber(value) : value.toFixed(1)} ${UNITS[unit]}`;
}

/** In UTC, marked by a `Z`. */
export const formatMicros = (micros: number): string =>
  new Date(micros / 1000).toISOString().replace('T', ' ');

export const formatTime = (micros: number): string => formatMicros(micros).slice(11);

/** `1 document`, `2 documents`. */
export const counted = (count: number, one: string, many = `${one}s`): string =>
  `${formatNumber(count)} ${count === 1 ? one : many}`;
