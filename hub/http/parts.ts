/** Splits a long answer into parts, for responses and live queries. */
import { partEnd } from '../../src/codec/utf8.ts';

/** Each part has `length` characters or bytes, or one more: a surrogate pair is not split. */
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
