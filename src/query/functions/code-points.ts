/** Texts measured and cut in code points. Spec: functions 1.8. */

const SURROGATE = /[\ud800-\udfff]/;

/** Number of code points; a lone surrogate is one. */
export function codePointLength(text: string): number {
  if (!SURROGATE.test(text)) return text.length;
  let count = text.length;
  for (let at = 1; at < text.length; at += 1) {
    if (endsPair(text, at)) count -= 1;
  }
  return count;
}

/** Whether the code unit is the second of a code point. */
const endsPair = (text: string, at: number): boolean =>
  (text.charCodeAt(at) & 0xfc00) === 0xdc00 && (text.charCodeAt(at - 1) & 0xfc00) === 0xd800;

/** Where code point `index` begins; the end of the text when it has fewer. */
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

/** Code points from `start` up to `end`. */
export function sliceCodePoints(text: string, start: number, end: number): string {
  const from = offsetOfCodePoint(text, start);
  const rest = text.slice(from);
  return rest.slice(0, offsetOfCodePoint(rest, end - start));
}

/** Where a search begins: positions outside the text mean its start. */
export const searchStart = (value: string, start: number | bigint): number =>
  start > 0 && start < codePointLength(value) ? Number(start) : 0;
