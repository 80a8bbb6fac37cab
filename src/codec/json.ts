/**
 * Parses and prints JSON where `JSON.parse` is not exact enough: integers keep all 64 bits, `1` and `1.0` are different
 * values, members keep their order, and the first of duplicate members wins. Spec: values 2 and 12.
 */
import { LIMITS } from '../limits.ts';
import { INT64_MAX, INT64_MIN } from '../values/number.ts';
import { double, Double, integer } from '../values/value.ts';
import { doubleText } from './number-text.ts';

export type Json =
  | null
  | boolean
  | number
  | bigint
  | string
  | Double
  | readonly Json[]
  | JsonObject;
export type JsonObject = ReadonlyMap<string, Json>;

export type JsonFault = 'syntax' | 'depth' | 'integer range';

/** Thrown for text that is not JSON or exceeds a limit. `offset` counts UTF-16 code units. */
export class JsonError extends Error {
  readonly reason: JsonFault;
  readonly offset: number;
  constructor(reason: JsonFault, offset: number) {
    super(`Not valid JSON: ${reason} at ${offset}`);
    this.name = 'JsonError';
    this.reason = reason;
    this.offset = offset;
  }
}

const QUOTE = 0x22;
const COMMA = 0x2c;
const MINUS = 0x2d;
const DOT = 0x2e;
const ZERO = 0x30;
const NINE = 0x39;
const COLON = 0x3a;
const OPEN_ARRAY = 0x5b;
const BACKSLASH = 0x5c;
const CLOSE_ARRAY = 0x5d;
const OPEN_OBJECT = 0x7b;
const CLOSE_OBJECT = 0x7d;

interface Scan {
  readonly text: string;
  at: number;
  /** Levels of arrays and objects that may still be entered. */
  depthLeft: number;
}

/** @throws JsonError */
export function parseJson(text: string, depthMax: number = LIMITS.jsonDepth): Json {
  const scan: Scan = { text, at: 0, depthLeft: depthMax };
  skipSpace(scan);
  const value = readValue(scan);
  skipSpace(scan);
  if (scan.at < text.length) throw new JsonError('syntax', scan.at);
  return value;
}

/** Undefined if the text is not JSON. */
export function tryParseJson(text: string): Json | undefined {
  try {
    return parseJson(text);
  } catch (reason) {
    if (reason instanceof JsonError) return undefined;
    throw reason;
  }
}

function skipSpace(scan: Scan): void {
  const { text } = scan;
  for (;;) {
    const unit = text.charCodeAt(scan.at);
    if (unit !== 0x20 && unit !== 0x0a && unit !== 0x0d && unit !== 0x09) return;
    scan.at += 1;
  }
}

/** The depth limit bounds the recursion. */
function readValue(scan: Scan): Json {
  switch (scan.text.charCodeAt(scan.at)) {
    case QUOTE:
      return readString(scan);
    case OPEN_OBJECT:
      return readObject(scan);
    case OPEN_ARRAY:
      return readArray(scan);
    case 0x74:
      return readWord(scan, 'true', true);
    case 0x66:
      return readWord(scan, 'false', false);
    case 0x6e:
      return readWord(scan, 'null', null);
    default:
      return readNumber(scan);
  }
}

function readWord<T>(scan: Scan, word: string, value: T): T {
  if (!scan.text.startsWith(word, scan.at)) throw new JsonError('syntax', scan.at);
  scan.at += word.length;
  return value;
}

function readArray(scan: Scan): readonly Json[] {
  const items: Json[] = [];
  if (isEmpty(scan, CLOSE_ARRAY)) return items;
  do items.push(readValue(scan));
  while (goesOn(scan, CLOSE_ARRAY));
  return items;
}

/** The first of duplicate members wins. */
function readObject(scan: Scan): JsonObject {
  const members = new Map<string, Json>();
  if (isEmpty(scan, CLOSE_OBJECT)) return members;
  do {
    const key = readKey(scan);
    const value = readValue(scan);
    if (!members.has(key)) members.set(key, value);
  } while (goesOn(scan, CLOSE_OBJECT));
  return members;
}

/** Enters an array or object and moves to its first value or key. Returns true, and leaves it, if there is none. */
function isEmpty(scan: Scan, close: number): boolean {
  if (scan.depthLeft === 0) throw new JsonError('depth', scan.at);
  scan.depthLeft -= 1;
  scan.at += 1;
  skipSpace(scan);
  if (scan.text.charCodeAt(scan.at) !== close) return false;
  leave(scan);
  return true;
}

/** Moves from the end of a value to the next value or key. Returns false, and leaves the array or object, if there is none. */
function goesOn(scan: Scan, close: number): boolean {
  skipSpace(scan);
  const unit = scan.text.charCodeAt(scan.at);
  if (unit === close) {
    leave(scan);
    return false;
  }
  if (unit !== COMMA) throw new JsonError('syntax', scan.at);
  scan.at += 1;
  skipSpace(scan);
  return true;
}

function leave(scan: Scan): void {
  scan.depthLeft += 1;
  scan.at += 1;
}

/** Parses a key and its colon, and moves to the value. */
function readKey(scan: Scan): string {
  if (scan.text.charCodeAt(scan.at) !== QUOTE) throw new JsonError('syntax', scan.at);
  const key = readString(scan);
  skipSpace(scan);
  if (scan.text.charCodeAt(scan.at) !== COLON) throw new JsonError('syntax', scan.at);
  scan.at += 1;
  skipSpace(scan);
  return key;
}

function readString(scan: Scan): string {
  const { text } = scan;
  const start = scan.at + 1;
  let at = start;
  let hasSurrogate = false;
  for (;;) {
    const unit = text.charCodeAt(at);
    if (unit === QUOTE) break;
    if (unit === BACKSLASH) return readEscapedString(scan, start, at);
    // At the end of the text the code unit is NaN, which is refused here too.
    if (!(unit >= 0x20)) throw new JsonError('syntax', at);
    if (unit >= 0xd800 && unit <= 0xdfff) hasSurrogate = true;
    at += 1;
  }
  scan.at = at + 1;
  const string = text.slice(start, at);
  return hasSurrogate ? wellFormed(string) : string;
}

/** Decodes a string with escapes. Its first backslash is at `first`. */
function readEscapedString(scan: Scan, start: number, first: number): string {
  const { text } = scan;
  let at = first;
  for (let unit = BACKSLASH; unit !== QUOTE && at < text.length; unit = text.charCodeAt(at))
    at += unit === BACKSLASH ? 2 : 1;
  scan.at = at + 1;
  try {
    return wellFormed(JSON.parse(text.slice(start - 1, scan.at)) as string);
  } catch {
    throw new JsonError('syntax', faultAfter(text, first));
  }
}

// oxlint-disable-next-line no-control-regex -- strings may not contain them
const PART_OF_STRING = /[^"\\\u0000-\u001f]|\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4})/y;

/** The position of the first character or escape that no string may contain. */
function faultAfter(text: string, from: number): number {
  let at = from;
  for (PART_OF_STRING.lastIndex = at; PART_OF_STRING.test(text);) at = PART_OF_STRING.lastIndex;
  return text.charCodeAt(at) === BACKSLASH ? at + 1 : at;
}

const LONE_SURROGATES = /\p{Surrogate}/gu;

/** Replaces lone surrogates, which UTF-8 cannot encode, by `?`. */
export const wellFormed = (text: string): string => text.replace(LONE_SURROGATES, '?');

const isDigit = (unit: number): boolean => unit >= ZERO && unit <= NINE;

function skipDigits(scan: Scan): void {
  const start = scan.at;
  while (isDigit(scan.text.charCodeAt(scan.at))) scan.at += 1;
  if (scan.at === start) throw new JsonError('syntax', start);
}

function readNumber(scan: Scan): number | bigint | Double {
  const { text } = scan;
  const start = scan.at;
  if (text.charCodeAt(start) === MINUS) scan.at += 1;
  const first = scan.at;
  skipDigits(scan);
  if (text.charCodeAt(first) === ZERO && scan.at > first + 1) throw new JsonError('syntax', first);
  const isFraction = skipFraction(scan);
  const isPower = skipExponent(scan);
  const digits = text.slice(start, scan.at);
  if (isFraction || isPower) return double(Number(digits));
  // An integer of up to 15 characters is always safe; `+ 0` turns -0 into 0.
  return digits.length <= 15 ? Number(digits) + 0 : readBigInteger(digits, start);
}

function skipFraction(scan: Scan): boolean {
  if (scan.text.charCodeAt(scan.at) !== DOT) return false;
  scan.at += 1;
  skipDigits(scan);
  return true;
}

function skipExponent(scan: Scan): boolean {
  const letter = scan.text.charCodeAt(scan.at);
  if (letter !== 0x65 && letter !== 0x45) return false;
  scan.at += 1;
  const sign = scan.text.charCodeAt(scan.at);
  if (sign === MINUS || sign === 0x2b) scan.at += 1;
  skipDigits(scan);
  return true;
}

function readBigInteger(digits: string, start: number): number | bigint {
  // More than 20 characters are always out of range: a megabyte of digits is refused without parsing.
  const value = digits.length <= 20 ? BigInt(digits) : INT64_MAX + 1n;
  if (value > INT64_MAX || value < INT64_MIN) throw new JsonError('integer range', start);
  return integer(value);
}

// Characters that a literal must escape (control characters, quote, backslash), and surrogates, which may be unpaired.
// oxlint-disable-next-line no-control-regex
const NEEDS_CARE = /["\\\u0000-\u001f\ud800-\udfff]/;

/** Text as a JSON string literal. Lone surrogates are replaced by `?`. */
export const quote = (text: string): string =>
  NEEDS_CARE.test(text) ? JSON.stringify(wellFormed(text)) : `"${text}"`;

/** Inverse of `parseJson`: `1.0` stays `1.0`, and 64-bit integers keep all digits. */
export function stringifyJson(json: Json): string {
  switch (typeof json) {
    case 'string':
      return quote(json);
    case 'number':
      return Number.isInteger(json) ? String(json) : numberText(json);
    case 'bigint':
    case 'boolean':
      return String(json);
    default:
      return stringifyContainer(json);
  }
}

/** Prints Infinity as a number that is too large for a double, because the parser reads such a number as Infinity. */
function numberText(value: number): string {
  if (value === Infinity) return '1E999';
  return value === -Infinity ? '-1E999' : doubleText(value);
}

function stringifyContainer(json: null | Double | readonly Json[] | JsonObject): string {
  if (json === null) return 'null';
  if (json instanceof Double) return doubleText(json.value);
  if (json instanceof Map) {
    let text = '';
    for (const [key, value] of json as JsonObject) {
      text += `${text && ','}${quote(key)}:${stringifyJson(value)}`;
    }
    return `{${text}}`;
  }
  let text = '';
  for (const item of json as readonly Json[]) text += `${text && ','}${stringifyJson(item)}`;
  return `[${text}]`;
}
