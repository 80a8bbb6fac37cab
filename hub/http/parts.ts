/** Splits a long answer into parts, for responses and live queries. */
import { textParts } from '../../src/codec/utf8.ts';

/** Each part has `length` characters or bytes, or one more: a surrogate pair is not split. */
export function* partsOf(
  body: string | Uint8Array,
  length: number,
): Generator<string | Uint8Array> {
  if (typeof body === 'string') yield* textParts(body, length);
  else for (let at = 0; at < body.length; at += length) yield body.subarray(at, at + length);
}
