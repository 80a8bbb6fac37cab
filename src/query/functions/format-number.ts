/** Numbers as `format` writes them: rounded half up, grouped, signed and padded like in Java. Spec: functions 1.8. */
import { doubleText } from '../../codec/number-text.ts';
import type { IntegerValue } from '../../values/number.ts';
import type { Specifier } from './format-pattern.ts';

// --- integers -------------------------------------------------------------------------------------

export function formatDecimal(value: IntegerValue, specifier: Specifier): string {
  const isNegative = value < 0;
  const digits = String(value).slice(isNegative ? 1 : 0);
  return withSign(specifier.flags.has(',') ? grouped(digits) : digits, isNegative, specifier);
}

/** The 64 bits of an integer. Negative numbers are in two's complement. */
export function formatBits(value: IntegerValue, specifier: Specifier): string {
  const isHexadecimal = specifier.conversion === 'hexadecimal';
  const digits = BigInt.asUintN(64, BigInt(value)).toString(isHexadecimal ? 16 : 8);
  const prefix = specifier.flags.has('#') ? (isHexadecimal ? '0x' : '0') : '';
  return padZeros(prefix, digits, specifier, specifier.width);
}

// --- doubles --------------------------------------------------------------------------------------

export function formatDouble(value: number, specifier: Specifier): string {
  if (Number.isNaN(value)) return 'NaN';
  const isNegative = value < 0 || Object.is(value, -0);
  const magnitude = Math.abs(value);
  if (magnitude === Infinity) {
    const flags = new Set(specifier.flags);
    flags.delete('0');
    return withSign('Infinity', isNegative, { ...specifier, flags });
  }
  return withSign(magnitudeText(magnitude, specifier), isNegative, specifier);
}

const PRECISION_DEFAULT = 6;

function magnitudeText(magnitude: number, specifier: Specifier): string {
  const { precision = PRECISION_DEFAULT, conversion } = specifier;
  const decimal = decimalOf(magnitude);
  if (conversion === 'fixed') return fixed(decimal, precision, specifier);
  if (conversion === 'scientific') return scientific(decimal, precision, specifier);
  return general(decimal, Math.max(precision, 1), specifier);
}

/** The number 0.`digits` · 10^`point`. Zero has no digits. */
interface Decimal {
  readonly digits: string;
  readonly point: number;
}

function decimalOf(magnitude: number): Decimal {
  const [mantissa = '', exponent = '0'] = doubleText(magnitude).split('E');
  const [whole = '', fraction = ''] = mantissa.split('.');
  const all = whole + fraction;
  const digits = all.replace(/^0+/, '');
  if (digits === '') return { digits, point: 0 };
  return { digits, point: whole.length - (all.length - digits.length) + Number(exponent) };
}

/** The first `count` digits, rounded half up. */
function round({ digits, point }: Decimal, count: number): Decimal {
  if (count >= digits.length) return { digits, point };
  const isUp = count >= 0 && digits.charAt(count) >= '5';
  const kept = digits.slice(0, Math.max(count, 0));
  if (!isUp) return { digits: kept, point };
  const raised = String(BigInt(`0${kept}`) + 1n).padStart(kept.length, '0');
  return { digits: raised, point: point + raised.length - kept.length };
}

function fixed(decimal: Decimal, places: number, specifier: Specifier): string {
  const { digits, point } = round(decimal, decimal.point + places);
  const whole = point > 0 ? digits.slice(0, point).padEnd(point, '0') : '0';
  const fraction = '0'.repeat(Math.max(-point, 0)) + digits.slice(Math.max(point, 0));
  const shown = specifier.flags.has(',') ? grouped(whole) : whole;
  return withFraction(shown, fraction, places, specifier);
}

function withFraction(
  whole: string,
  fraction: string,
  places: number,
  specifier: Specifier,
): string {
  if (places === 0) return specifier.flags.has('#') ? `${whole}.` : whole;
  return `${whole}.${fraction.padEnd(places, '0').slice(0, places)}`;
}

function scientific(decimal: Decimal, places: number, specifier: Specifier): string {
  const { digits, point } = round(decimal, places + 1);
  const exponent = digits === '' ? 0 : point - 1;
  const mantissa = withFraction(digits.charAt(0) || '0', digits.slice(1), places, specifier);
  const power = String(Math.abs(exponent)).padStart(2, '0');
  return `${mantissa}e${exponent < 0 ? '-' : '+'}${power}`;
}

const GENERAL_EXPONENT_MIN = -4;

/** Writes `count` significant digits, in fixed or scientific notation depending on the exponent. */
function general(decimal: Decimal, count: number, specifier: Specifier): string {
  const rounded = round(decimal, count);
  const exponent = rounded.digits === '' ? 0 : rounded.point - 1;
  return exponent < GENERAL_EXPONENT_MIN || exponent >= count
    ? scientific(rounded, count - 1, specifier)
    : fixed(rounded, count - 1 - exponent, specifier);
}

// --- both -----------------------------------------------------------------------------------------

/** Inserts a comma before each group of three digits. */
function grouped(digits: string): string {
  const parts: string[] = [];
  for (let end = digits.length; end > 0; end -= 3)
    parts.push(digits.slice(Math.max(end - 3, 0), end));
  return parts.reverse().join(',');
}

function withSign(magnitude: string, isNegative: boolean, specifier: Specifier): string {
  const { flags, width } = specifier;
  if (isNegative && flags.has('(')) return `${padZeros('(', magnitude, specifier, width - 1)})`;
  const sign = isNegative ? '-' : flags.has('+') ? '+' : flags.has(' ') ? ' ' : '';
  return padZeros(sign, magnitude, specifier, width);
}

const padZeros = (prefix: string, digits: string, specifier: Specifier, width: number): string =>
  prefix + (specifier.flags.has('0') ? digits.padStart(width - prefix.length, '0') : digits);
