/** Lengths and parts of texts in code points. Spec: functions 1.8. */

const SURROGATE = /[\ud800-\udfff]/;

/** Number of code points. A lone surrogate counts as one. */
export function codePointLength(text: string): number {
  if (!SURROGATE.test(text)) return text.length;
  let count = text.length;
  for (let at = 1; at < text.length; at += 1) {
    if (endsPair(text, at)) count -= 1;
  }
  return count;
}

/** Whether the code unit is the second half of a surrogate pair. */
const endsPair = (text: string, at: number): boolean =>
  (text.charCodeAt(at) & 0xfc00) === 0xdc00 && (text.charCodeAt(at - 1) & 0xfc00) === 0xd800;

/** Offset, in code units, of code point `index`. The length of the text if it has fewer code points. */
export function offsetOfCodePoint(text: string, index: number): number {
  if (index <= 0 || !SURROGATE.test(text)) return Math.min(Math.max(index, 0), text.length);
  let left = index;
  for (let at = 1; at < text.length; at += 1) {
    if (endsPair(text, at)) continue;
    left -= 1;
    if (left === 0) return at;
  }
  return text.length;
}

/** The code points from `start` up to, but not including, `end`. */
export function sliceCodePoints(text: string, start: number, end: number): string {
  const from = offsetOfCodePoint(text, start);
  const rest = text.slice(from);
  return rest.slice(0, offsetOfCodePoint(rest, end - start));
}

/** Where a search starts, in code points. A position outside the text means its start. */
export const searchStart = (value: string, start: number | bigint): number =>
  start > 0 && start < codePointLength(value) ? Number(start) : 0;
