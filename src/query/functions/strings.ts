/** Functions on texts. Positions and lengths are in code points. Spec: functions 1.8. */
import { QueryFailure } from '../../errors.ts';
import { LIMITS } from '../../limits.ts';
import type { Value } from '../../values/value.ts';
import { integer, manyOf, optional, param, scalar, string } from '../casts.ts';
import { BY_PARTS, copying, COVERED, elements, scanning, seeking, splitting } from '../costs.ts';
import { define, type PureContext } from '../define.ts';
import type { FunctionRow } from '../function-row.ts';
import { lowerCase, upperCase } from '../unicode.ts';
import { boundFault, refuseBound, requireTextSize } from './bounds.ts';
import { codePointLength, offsetOfCodePoint, searchStart, sliceCodePoints } from './code-points.ts';
import { toTitleCase } from './title-case.ts';

const text = param(string, 'String');

function joinedSize(parts: readonly string[], separator: string): number {
  let size = separator.length * Math.max(parts.length - 1, 0);
  for (const part of parts) size += part.length;
  return size;
}

/** Joins texts after checking the size of the result. */
function join(parts: readonly string[], separator: string, context: PureContext): string {
  requireTextSize(context, joinedSize(parts, separator));
  return parts.join(separator);
}

const concat = define(
  'pure',
  { concat: param(manyOf(string), 'String*'), separator: optional(string, 'String') },
  ({ concat: parts, separator = '' }) =>
    elements(parts.length) + copying(joinedSize(parts, separator)),
  (args, context) => join(args.concat, args.separator ?? '', context),
);

// --- searching ------------------------------------------------------------------------------------

const containsStr = define(
  'pure',
  { containsstr: text, search: text },
  ({ containsstr: value, search }) => seeking(value.length, search.length),
  (args) => args.containsstr.includes(args.search),
);

const startsWith = define(
  'pure',
  { startswith: text, search: text },
  ({ search }) => copying(search.length),
  (args) => args.startswith.startsWith(args.search),
);

const endsWith = define(
  'pure',
  { endswith: text, search: text },
  ({ search }) => copying(search.length),
  (args) => args.endswith.endsWith(args.search),
);

const findStr = define(
  'pure',
  { findstr: text, find: text, start: optional(integer, 'Integer') },
  ({ findstr: value, find }) => scanning(value.length) + seeking(value.length, find.length),
  ({ findstr: value, find, start = 0 }) => {
    const from = offsetOfCodePoint(value, searchStart(value, start));
    const found = value.indexOf(find, from);
    return found < 0 ? -1 : codePointLength(value.slice(0, found));
  },
);

const length = define(
  'pure',
  { length: text },
  ({ length: value }) => scanning(value.length),
  (args) => codePointLength(args.length),
);

// --- letter case and space ------------------------------------------------------------------------

/** Units of work per character. Title case reads every letter several times. */
const CHANGE_WORK = 80;
const TITLE_WORK = 1_500;

const changes: Readonly<Record<string, (value: string) => string>> = {
  lowercase: lowerCase,
  uppercase: upperCase,
  titlecase: toTitleCase,
  ltrim: (value) => value.slice(leadingSpace(value)),
  rtrim: (value) => value.slice(0, value.length - trailingSpace(value)),
  trim: (value) => {
    const start = leadingSpace(value);
    return value.slice(start, Math.max(start, value.length - trailingSpace(value)));
  },
};

/** White space as Java defines it, without the no-break spaces. */
const SPACES = new Set(
  '\t\n\u000b\f\r\u001c\u001d\u001e\u001f \u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2008\u2009\u200a\u2028\u2029\u205f\u3000',
);

function leadingSpace(value: string): number {
  let count = 0;
  while (count < value.length && SPACES.has(value.charAt(count))) count += 1;
  return count;
}

function trailingSpace(value: string): number {
  let count = 0;
  while (count < value.length && SPACES.has(value.charAt(value.length - 1 - count))) count += 1;
  return count;
}

const changeRows = Object.entries(changes).map(([name, change]) =>
  define(
    'pure',
    { [name]: text },
    (args) => (args[name]?.length ?? 0) * (name === 'titlecase' ? TITLE_WORK : CHANGE_WORK),
    (args, context) => {
      const value = args[name] ?? '';
      const changed = change(value);
      requireTextSize(context, changed.length);
      return changed;
    },
  ),
);

// --- repeating ------------------------------------------------------------------------------------

const timesOf = (given: number | bigint): number =>
  Math.min(Math.max(Number(given), 0), LIMITS.repeatMax);

const REPEAT_DEFAULT = 2;

const repeat = define(
  'pure',
  { repeat: text, number: optional(integer, 'Integer') },
  ({ repeat: value, number = REPEAT_DEFAULT }) => copying(value.length * timesOf(number)),
  ({ repeat: value, number = REPEAT_DEFAULT }, context) => {
    const times = timesOf(number);
    requireTextSize(context, value.length * times);
    return value.repeat(times);
  },
);

const space = define('pure', { space: param(integer, 'Integer') }, COVERED, (args) =>
  ' '.repeat(timesOf(args.space)),
);

// --- parts ----------------------------------------------------------------------------------------

/** Units of work of a replacement in which each character may be an occurrence. */
const replacing = (chars: number, needle: number): number =>
  (needle === 0 ? 2 * splitting(chars) : 0) + chars * 125 + seeking(chars, needle);

/** Replaces every occurrence. The empty text occurs before and after every code point. */
const replaceStr = define(
  'pure',
  { replacestr: text, find: text, replace: text },
  ({ replacestr: value, find }) => replacing(value.length, find.length),
  ({ replacestr: value, find, replace }, context) => {
    const parts = find === '' ? ['', ...Array.from(value), ''] : value.split(find);
    return join(parts, replace, context);
  },
);

const substring = define(
  'pure',
  {
    substring: text,
    start: optional(integer, 'Integer'),
    length: optional(integer, 'Integer'),
  },
  ({ substring: value }) => 3 * scanning(value.length),
  ({ substring: value, start = 0, length: wanted }, context) => {
    const size = codePointLength(value);
    const from = Number(start) < 0 ? size + Number(start) : Number(start);
    if (from < 0 || from > size) {
      refuseBound(context, 'start', 'less than or equal to the string length');
    }
    if (wanted !== undefined && wanted < 0) refuseBound(context, 'length', 'positive');
    return sliceCodePoints(value, from, Math.min(size, from + Number(wanted ?? size)));
  },
);

// --- n-grams --------------------------------------------------------------------------------------

const NGRAM_MIN = 1;
const NGRAM_MAX = 2;

const ngram = define(
  'pure',
  {
    ngram: param(manyOf(scalar), 'Scalar*'),
    min: optional(integer, 'Integer'),
    max: optional(integer, 'Integer'),
  },
  BY_PARTS,
  ({ ngram: values, min = NGRAM_MIN, max = NGRAM_MAX }, context) => {
    requireNgramSizes(BigInt(min), BigInt(max), context);
    return values.flatMap((value) =>
      typeof value === 'string' ? ngramsOf(value, Number(min), Number(max), context) : [value],
    );
  },
);

function requireNgramSizes(min: bigint, max: bigint, context: PureContext): void {
  const faults = [
    ...(min < 1n ? [boundFault(context, 'min', 'greater than or equal to 1')] : []),
    ...(min > max ? [boundFault(context, 'min', 'less than or equal to max')] : []),
    ...(max - min > 1n ? [boundFault(context, 'max', 'less than or equal to min + 1')] : []),
  ];
  if (faults.length > 0) throw new QueryFailure(faults);
}

/** Bytes of a text in addition to its characters. */
const GRAM_COST = 32;
const GRAM_WORK = 500;

/** The n-grams from left to right. At each position the shorter one comes first. */
function ngramsOf(value: string, min: number, max: number, context: PureContext): Value[] {
  context.session.spend(splitting(value.length));
  const chars = Array.from(value);
  const sizes = max > min ? [min, max] : [min];
  const starts = Math.max(chars.length - min + 1, 0);
  requireTextSize(context, starts * (min + max));
  context.session.memory.take(starts * (min + max + sizes.length * GRAM_COST));
  const grams: Value[] = [];
  for (let start = 0; start < starts; start += 1) {
    context.session.spend(GRAM_WORK * sizes.length + copying(min + max));
    for (const size of sizes) {
      if (start + size <= chars.length) grams.push(chars.slice(start, start + size).join(''));
    }
  }
  return grams;
}

export const stringRows: readonly FunctionRow[] = [
  concat,
  containsStr,
  startsWith,
  endsWith,
  findStr,
  length,
  ...changeRows,
  repeat,
  space,
  replaceStr,
  substring,
  ngram,
];
