/** The bound on bodies. */
import { utf8Length } from '../codec/utf8.ts';
import { LIMITS } from '../limits.ts';

/** Text takes one to three bytes a unit: bytes are counted only where it matters. */
export function isTooLarge(body: string | undefined): boolean {
  if (body === undefined || body.length * 3 <= LIMITS.requestBytes) return false;
  return body.length > LIMITS.requestBytes || utf8Length(body) > LIMITS.requestBytes;
}
