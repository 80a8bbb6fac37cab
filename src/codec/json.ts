/**
 * JSON text to values and back, exact where `JSON.parse` is not: int64, `1` apart from `1.0`, order of members, first of
 * duplicate members. Spec: values 2 and 12.
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

/** Text that is no JSON, or more than we take. `offset`: UTF-16 units into the text. */
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
  /** Levels that may still be entered. */
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

function skipSpace(scan: Scan): void {
  const { text } = scan;
  for (;;) {
    const unit = text.charCodeAt(scan.at);
    if (unit !== 0x20 && unit !== 0x0a && unit !== 0x0d && unit !== 0x09) return;
    scan.at += 1;
  }
}

// Recursion is bounded by the depth limit.
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

function enter(scan: Scan): void {
  if (scan.depthLeft === 0) throw new JsonError('depth', scan.at);
  scan.depthLeft -= 1;
  scan.at += 1;
  skipSpace(scan);
}

function leave(scan: Scan): void {
  scan.depthLeft += 1;
  scan.at += 1;
}

function readArray(scan: Scan): readonly Json[] {
  const items: Json[] = [];
  enter(scan);
  if (scan.text.charCodeAt(scan.at) === CLOSE_ARRAY) {
    leave(scan);
    return items;
  }
  for (;;) {
    items.push(readValue(scan));
    skipSpace(scan);
    const unit = scan.text.charCodeAt(scan.at);
    if (unit === CLOSE_ARRAY) {
      leave(scan);
      return items;
    }
    if (unit !== COMMA) throw new JsonError('syntax', scan.at);
    scan.at += 1;
    skipSpace(scan);
  }
}

function readObject(scan: Scan): JsonObject {
  const members = new Map<string, Json>();
  enter(scan);
  if (scan.text.charCodeAt(scan.at) === CLOSE_OBJECT) {
    leave(scan);
    return members;
  }
  for (;;) {
    readMember(scan, members);
    skipSpace(scan);
    const unit = scan.text.charCodeAt(scan.at);
    if (unit === CLOSE_OBJECT) {
      leave(scan);
      return members;
    }
    if (unit !== COMMA) throw new JsonError('syntax', scan.at);
    scan.at += 1;
    skipSpace(scan);
  }
}

function readMember(scan: Scan, members: Map<string, Json>): void {
  if (scan.text.charCodeAt(scan.at) !== QUOTE) throw new JsonError('syntax', scan.at);
  const key = readString(scan);
  skipSpace(scan);
  if (scan.text.charCodeAt(scan.at) !== COLON) throw new JsonError('syntax', scan.at);
  scan.at += 1;
  skipSpace(scan);
  const value = readValue(scan);
  if (!members.has(key)) members.set(key, value);
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
    // Also past the end, where the unit is NaN.
    if (!(unit >= 0x20)) throw new JsonError('syntax', at);
    if (unit >= 0xd800 && unit <= 0xdfff) hasSurrogate = true;
    at += 1;
  }
  scan.at = at + 1;
  const string = text.slice(start, at);
  return hasSurrogate ? wellFormed(string) : string;
}

/** From `at`, where the first backslash stands. */
function readEscapedString(scan: Scan, start: number, first: number): string {
  const { text } = scan;
  let string = '';
  let from = start;
  let at = first;
  for (;;) {
    const unit = text.charCodeAt(at);
    if (unit === QUOTE) break;
    if (unit === BACKSLASH) {
      string += text.slice(from, at) + unescape(text, at + 1);
      at += text.charCodeAt(at + 1) === 0x75 ? 6 : 2;
      from = at;
      continue;
    }
    if (!(unit >= 0x20)) throw new JsonError('syntax', at);
    at += 1;
  }
  scan.at = at + 1;
  return wellFormed(string + text.slice(from, at));
}

const ESCAPES = new Map([
  ['"', '"'],
  ['\\', '\\'],
  ['/', '/'],
  ['b', '\b'],
  ['f', '\f'],
  ['n', '\n'],
  ['r', '\r'],
  ['t', '\t'],
]);
const FOUR_HEX = /^[0-9a-fA-F]{4}$/;

/** What the escape stands for whose letter is at `at`. */
function unescape(text: string, at: number): string {
  const letter = text.charAt(at);
  const plain = ESCAPES.get(letter);
  if (plain !== undefined) return plain;
  const hex = text.slice(at + 1, at + 5);
  if (letter !== 'u' || !FOUR_HEX.test(hex)) throw new JsonError('syntax', at);
  return String.fromCharCode(Number.parseInt(hex, 16));
}

const LONE_SURROGATES = /\p{Surrogate}/gu;

/** Lone surrogates, which no UTF-8 text can hold, become `?`. */
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
  // Fifteen digits are always safe; `+ 0` makes Integer 0 of "-0".
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
  // No need to read a megabyte of digits to know that they are too many.
  const value = digits.length <= 20 ? BigInt(digits) : INT64_MAX + 1n;
  if (value > INT64_MAX || value < INT64_MIN) throw new JsonError('integer range', start);
  return integer(value);
}

// Control characters, quote, backslash, surrogates: all that a literal cannot hold as it is, or must look at.
// oxlint-disable-next-line no-control-regex
const NEEDS_CARE = /["\\\u0000-\u001f\ud800-\udfff]/;

/** A JSON string literal; lone surrogates come out as `?`. */
export const quote = (text: string): string =>
  NEEDS_CARE.test(text) ? JSON.stringify(wellFormed(text)) : `"${text}"`;

/** Inverse of `parseJson`: `1.0` stays `1.0`, 64-bit integers keep their digits. */
export function stringifyJson(json: Json): string {
  switch (typeof json) {
    case 'string':
      return quote(json);
    case 'number':
      return Number.isInteger(json) ? String(json) : doubleText(json);
    case 'bigint':
    case 'boolean':
      return String(json);
    default:
      return stringifyContainer(json);
  }
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
