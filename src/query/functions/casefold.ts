/** Case folding and normalising of text, as indexes and `casefold` do it. Spec: functions 1.8. */
import { LIMITS } from '../../limits.ts';
import { manyOf, optional, param, scalar, wrongType } from '../casts.ts';
import { BY_PARTS, reading } from '../costs.ts';
import { define } from '../define.ts';
import type { Cast, FunctionRow } from '../function-row.ts';
import { requireTextSize } from './bounds.ts';

const ASCII = /^[\0-\x7f]*$/;
const CHANGED = /\p{Changes_When_NFKC_Casefolded}/gu;
const IGNORABLE = /\p{Default_Ignorable_Code_Point}/gu;
/** Cherokee, alone, folds to its upper case. */
const CHEROKEE = /[\u13a0-\u13fd\uab70-\uabbf]/;
const DOTLESS_I = '\u0131';

/**
 * NFKC_Casefold of Unicode: compatibility composed, case folded in full (`ß` → `ss`), default ignorables dropped. Unicode never
 * changes how assigned characters fold, so engines of any age agree on all characters that both know.
 */
export function casefold(text: string): string {
  return ASCII.test(text) ? text.toLowerCase() : text.replace(CHANGED, folded).normalize('NFC');
}

/** What folds of characters were found to be: there are some thousand. */
const FOLDED = new Map<string, string>();

function folded(char: string): string {
  const known = FOLDED.get(char);
  if (known !== undefined) return known;
  const found = foldInFull(char);
  FOLDED.set(char, found);
  return found;
}

/** Folding may make what can be decomposed further, and the other way round. */
function foldInFull(char: string): string {
  let now = char;
  for (;;) {
    const next = Array.from(compatible(now), foldCase).join('');
    if (next === now) return compatible(now);
    now = next;
  }
}

const compatible = (text: string): string => text.normalize('NFKC').replace(IGNORABLE, '');

/** Lower case of upper case of lower case (`ẞ` → `ß` → `SS` → `ss`), but for what that would tear from its own fold. */
function foldCase(char: string): string {
  if (char === DOTLESS_I) return char;
  return CHEROKEE.test(char) ? char.toUpperCase() : char.toLowerCase().toUpperCase().toLowerCase();
}

/** What combines with the character before it, also in what some compatible characters stand for; sorting them is quadratic. */
const COMBINING = /[\p{M}\uff9e\uff9f]{16,}/gu;

/** Of the slowest form. Runs are looked for in what is not too long anyway. */
function normalizing(text: string): number {
  if (ASCII.test(text)) return reading(text.length);
  let units = text.length * 1_000;
  if (units > LIMITS.callWork) return units;
  for (const [run] of text.matchAll(COMBINING)) units += run.length ** 2 / 2;
  return units;
}

const NORMALIZERS: ReadonlyMap<string, (text: string) => string> = new Map([
  ['NFKCCaseFold', casefold],
  ['NFC', (text: string) => text.normalize('NFC')],
  ['NFD', (text: string) => text.normalize('NFD')],
  ['NFKC', (text: string) => text.normalize('NFKC')],
  ['NFKD', (text: string) => text.normalize('NFKD')],
]);

const normalizer: Cast<(text: string) => string> = (value, where) => {
  const found = typeof value === 'string' ? NORMALIZERS.get(value) : undefined;
  return found ?? wrongType("String 'NFKCCaseFold', 'NFC', 'NFD', 'NFKC', or 'NFKD'", value, where);
};

const casefoldRow = define(
  'pure',
  {
    casefold: param(manyOf(scalar), 'Scalar*'),
    normalizer: optional(normalizer, 'String'),
  },
  BY_PARTS,
  ({ casefold: values, normalizer: normalize = casefold }, context) => {
    const results = values.map((value) => {
      if (typeof value !== 'string') return value;
      context.session.spend(1_000 + normalizing(value));
      const normalized = normalize(value);
      requireTextSize(context, normalized.length);
      context.session.memory.takeText(normalized);
      return normalized;
    });
    const [only] = results;
    return only !== undefined && results.length === 1 ? only : results;
  },
);

export const casefoldRows: readonly FunctionRow[] = [casefoldRow];
