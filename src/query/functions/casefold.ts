/** Case folding and normalization of text, for indexes and `casefold`. Spec: functions 1.8. */
import { LIMITS } from '../../limits.ts';
import { manyOf, optional, param, scalar, wrongType } from '../casts.ts';
import { BY_PARTS, reading } from '../costs.ts';
import { define } from '../define.ts';
import type { Cast, FunctionRow } from '../function-row.ts';
import { changeKnown, normalForm } from '../unicode.ts';
import { requireTextSize } from './bounds.ts';

const ASCII = /^[\0-\x7f]*$/;
const CHANGED = /\p{Changes_When_NFKC_Casefolded}/gu;
const IGNORABLE = /\p{Default_Ignorable_Code_Point}/gu;
/** Cherokee is the only script whose letters fold to upper case. */
const CHEROKEE = /[\u13a0-\u13fd\uab70-\uabbf]/;
const DOTLESS_I = '\u0131';

/**
 * NFKC_Casefold of Unicode: compatibility composition, full case folding (`ß` → `ss`), default ignorable characters
 * removed. Later characters remain.
 */
export function casefold(text: string): string {
  if (ASCII.test(text)) return text.toLowerCase();
  return changeKnown(text, (part) => part.replace(CHANGED, folded).normalize('NFC'));
}

/** Cache of folded characters, of which there are some thousands. */
const FOLDED = new Map<string, string>();

function folded(char: string): string {
  const known = FOLDED.get(char);
  if (known !== undefined) return known;
  const found = foldInFull(char);
  FOLDED.set(char, found);
  return found;
}

/**
 * Repeats both steps until nothing changes: folding may produce characters that can be decomposed, and decomposition
 * characters that can be folded.
 */
function foldInFull(char: string): string {
  let now = char;
  for (;;) {
    const next = Array.from(compatible(now), foldCase).join('');
    if (next === now) return compatible(now);
    now = next;
  }
}

const compatible = (text: string): string => text.normalize('NFKC').replace(IGNORABLE, '');

/**
 * Folds by lower case, upper case, lower case (`ẞ` → `ß` → `SS` → `ss`). Dotless i and Cherokee are exceptions, because
 * these steps would give them another fold.
 */
function foldCase(char: string): string {
  if (char === DOTLESS_I) return char;
  return CHEROKEE.test(char) ? char.toUpperCase() : char.toLowerCase().toUpperCase().toLowerCase();
}

/**
 * Runs of combining marks, which normalization sorts in quadratic time. The last two are compatible with combining
 * marks.
 */
const COMBINING = /[\p{M}\uff9e\uff9f]{16,}/gu;

/**
 * Units of work for the slowest normal form. Runs of marks are searched only if the length alone does not exceed the
 * limit.
 */
function normalizing(text: string): number {
  if (ASCII.test(text)) return reading(text.length);
  let units = text.length * 1_000;
  if (units > LIMITS.callWork) return units;
  changeKnown(text, (part) => {
    for (const [run] of part.matchAll(COMBINING)) units += run.length ** 2 / 2;
    return part;
  });
  return units;
}

const NORMALIZERS: ReadonlyMap<string, (text: string) => string> = new Map([
  ['NFKCCaseFold', casefold],
  ['NFC', (text: string) => normalForm(text, 'NFC')],
  ['NFD', (text: string) => normalForm(text, 'NFD')],
  ['NFKC', (text: string) => normalForm(text, 'NFKC')],
  ['NFKD', (text: string) => normalForm(text, 'NFKD')],
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
