/** The limit on the size of request bodies. */
import { utf8Length } from '../codec/utf8.ts';
import { LIMITS } from '../limits.ts';

/** A UTF-16 code unit takes one to three bytes in UTF-8, so bytes are counted only if the length in characters does not decide. */
export function isTooLarge(body: string | undefined): boolean {
  if (body === undefined || body.length * 3 <= LIMITS.requestBytes) return false;
  return body.length > LIMITS.requestBytes || utf8Length(body) > LIMITS.requestBytes;
}
