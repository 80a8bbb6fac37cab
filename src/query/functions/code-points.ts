/** Texts measured and cut in code points. Spec: functions 1.8. */

const SURROGATE = /[\ud800-\udfff]/;

/** Number of code points; a lone surrogate is one. */
export function codePointLength(text: string): number {
  if (!SURROGATE.test(text)) return text.length;
  let count = 0;
  for (const _ of text) count += 1;
  return count;
}

/** Where code point `index` begins; the end of the text when it has fewer. */
export function offsetOfCodePoint(text: string, index: number): number {
  if (index <= 0 || !SURROGATE.test(text)) return Math.min(Math.max(index, 0), text.length);
  let offset = 0;
  let left = index;
  for (const char of text) {
    if (left === 0) return offset;
    left -= 1;
    offset += char.length;
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
