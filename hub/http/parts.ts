/** A long answer in parts, for responses and live queries. */
import { partEnd } from '../../src/codec/utf8.ts';

/** Each has so many characters or bytes, or one more: two halves of one character stay together. */
export function* partsOf(
  body: string | Uint8Array,
  length: number,
): Generator<string | Uint8Array> {
  for (let at = 0; at < body.length;) {
    const end = typeof body === 'string' ? partEnd(body, at + length) : at + length;
    yield typeof body === 'string' ? body.slice(at, end) : body.subarray(at, end);
    at = end;
  }
}
