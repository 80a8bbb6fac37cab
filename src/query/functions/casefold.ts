/** Case folding and normalising of text, as indexes and `casefold` do it. Spec: functions 1.8. */
import { manyOf, optional, param, scalar, wrongType } from '../casts.ts';
import { define } from '../define.ts';
import type { Cast, FunctionRow } from '../function-row.ts';
import { chargeText, requireTextSize } from './bounds.ts';

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
  return ASCII.test(text) ? text.toLowerCase() : text.replace(CHANGED, foldInFull).normalize('NFC');
}

/** Folding may make what can be decomposed further, and the other way round. */
function foldInFull(char: string): string {
  let folded = char;
  for (;;) {
    const next = Array.from(compatible(folded), foldCase).join('');
    if (next === folded) return compatible(folded);
    folded = next;
  }
}

const compatible = (text: string): string => text.normalize('NFKC').replace(IGNORABLE, '');

/** Lower case of upper case of lower case (`ẞ` → `ß` → `SS` → `ss`), but for what that would tear from its own fold. */
function foldCase(char: string): string {
  if (char === DOTLESS_I) return char;
  return CHEROKEE.test(char) ? char.toUpperCase() : char.toLowerCase().toUpperCase().toLowerCase();
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
  ({ casefold: values, normalizer: normalize = casefold }, context) => {
    const results = values.map((value) => {
      if (typeof value !== 'string') return value;
      chargeText(context, value.length);
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
