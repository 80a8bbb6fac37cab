/**
 * Title case by the rules of Unicode: the first letter of each word is a capital, the others are in lower case. Spec:
 * functions 1.8.
 */
import { lowerCase, normalForm, standIn, upperCase } from '../unicode.ts';

// Letters between which and other letters a word ends: those of Chinese, Japanese and Korean. Thai and its neighbours are
// written without spaces, too, but have no case, and letters after them continue their last word.
const APART =
  '\\p{Ideographic}\\p{sc=Hira}\\p{sc=Kana}\\u3031-\\u3035\\u30fc\\uff70\\uac00-\\ud7a3';
// Characters inside a word, between two letters or two digits.
const BETWEEN_ANY = /^['.\u2018\u2019\u2024\ufe52\uff07\uff0e]$/;
const BETWEEN_LETTERS = /^[\u00b7\u0387\u055f\u05f4\u2027\ufe13\ufe55\uff1a]$/;
const BETWEEN_DIGITS =
  /^[,;\u037e\u0589\u060c\u060d\u066c\u07f8\u2044\ufe10\ufe14\ufe50\ufe54\uff0c\uff1b]$/;
const charTests = () => ({
  letter: new RegExp(`^(?![${APART}])\\p{Alphabetic}$`, 'u'),
  digit: /^\p{Nd}$/u,
  connector: /^\p{Pc}$/u,
  extender: /^(?!\u200b)[\p{M}\p{Cf}\uff9e\uff9f]$/u,
  /** Characters with which a word may begin. Punctuation, marks and uncased modifiers before them are skipped. */
  beginning: /^(?:(?!\p{Lm})[\p{L}\p{N}\p{S}\p{Co}]|(?=\p{Cased})\p{Lm})$/u,
  cased: /^\p{Cased}$/u,
});
let made: ReturnType<typeof charTests> | undefined;
/** Compiled on first use, because compiling classes of Unicode takes longer than anything else at the start of a worker. */
const is = (kind: keyof ReturnType<typeof charTests>, char: string): boolean =>
  (made ??= charTests())[kind].test(standIn(char));

type CharKind = 'letter' | 'digit' | 'connector' | 'other';

function kindOf(char: string): CharKind {
  if (is('letter', char)) return 'letter';
  if (is('digit', char)) return 'digit';
  return is('connector', char) ? 'connector' : 'other';
}

export function toTitleCase(text: string): string {
  const chars = Array.from(text);
  let result = '';
  let start = 0;
  while (start < chars.length) {
    const end = endOfWord(chars, start);
    result += titleWord(chars.slice(start, end));
    start = end;
  }
  return result;
}

/** Index after the word that begins at `start`. A character that belongs to no word is a piece of its own. */
function endOfWord(chars: readonly string[], start: number): number {
  let kind = kindOf(chars[start] ?? '');
  let end = pastExtenders(chars, start + 1);
  while (kind !== 'other' && end < chars.length) {
    const joined = joinedKind(chars, kind, end);
    if (!joined) break;
    ({ kind, end } = joined);
  }
  return end;
}

function pastExtenders(chars: readonly string[], from: number): number {
  let at = from;
  while (is('extender', chars[at] ?? '')) at += 1;
  return at;
}

/**
 * How the word continues: with a letter, digit or connector, or with a joining sign between two letters or two digits.
 * Undefined if it ends.
 */
function joinedKind(
  chars: readonly string[],
  kind: CharKind,
  at: number,
): { readonly kind: CharKind; readonly end: number } | undefined {
  const char = chars[at] ?? '';
  const next = kindOf(char);
  if (next !== 'other') return { kind: next, end: pastExtenders(chars, at + 1) };
  const after = pastExtenders(chars, at + 1);
  const joins = kind === 'letter' ? BETWEEN_LETTERS : BETWEEN_DIGITS;
  if (kind === 'connector' || kindOf(chars[after] ?? '') !== kind) return undefined;
  if (!BETWEEN_ANY.test(char) && !joins.test(char)) return undefined;
  return { kind, end: pastExtenders(chars, after + 1) };
}

function titleWord(chars: readonly string[]): string {
  const first = chars.findIndex((char) => is('beginning', char));
  if (first < 0) return chars.join('');
  const char = chars[first] ?? '';
  // With the first letter before the rest, `lowerCase` recognizes a final sigma.
  const lower = lowerCase(chars.slice(first).join('')).slice(lowerCase(char).length);
  return chars.slice(0, first).join('') + titleChar(char) + lower;
}

const IOTA_BELOW = '\u0345';
/** Letters that have a title case form of their own. */
const DIGRAPHS: ReadonlyMap<string, string> = new Map([
  ...digraph('\u01c4\u01c5\u01c6'),
  ...digraph('\u01c7\u01c8\u01c9'),
  ...digraph('\u01ca\u01cb\u01cc'),
  ...digraph('\u01f1\u01f2\u01f3'),
]);
/** Georgian has capital letters, but does not use them at the start of words. */
const UNCHANGED = /^[\u10d0-\u10ff]$/;

function digraph(forms: string): [string, string][] {
  return Array.from(forms, (form) => [form, forms.charAt(1)]);
}

/** If the upper case of a letter is several letters, only the first stays a capital. */
function titleChar(char: string): string {
  const known = DIGRAPHS.get(char);
  if (known !== undefined || UNCHANGED.test(char)) return known ?? char;
  const parts = normalForm(char, 'NFD');
  if (parts.length > 1 && parts.endsWith(IOTA_BELOW)) {
    return normalForm(upperCase(parts.slice(0, -1)) + IOTA_BELOW, 'NFC');
  }
  const upper = Array.from(upperCase(char));
  const capital = upper.findIndex((each) => is('cased', each));
  return upper.map((each, index) => (index > capital ? lowerCase(each) : each)).join('');
}
