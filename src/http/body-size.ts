/** The limit on the size of bodies. */
import { utf8Length } from '../codec/utf8.ts';
import { LIMITS } from '../limits.ts';

/** A UTF-16 unit is one to three bytes of UTF-8: bytes are counted only if that decides. */
export function isTooLarge(body: string | undefined): boolean {
  if (body === undefined || body.length * 3 <= LIMITS.requestBytes) return false;
  return body.length > LIMITS.requestBytes || utf8Length(body) > LIMITS.requestBytes;
}
