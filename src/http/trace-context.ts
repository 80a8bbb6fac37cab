/** W3C trace context: continues the caller's trace with a new span. */
import { hexOfBytes } from '../codec/hex.ts';

const TRACEPARENT = /^00-([0-9a-f]{32})-([0-9a-f]{16})-[0-9a-f]{2}$/;

/** The `traceparent` header of the response. A malformed header begins a new trace; the flags are reset. */
export function traceparentOf(
  header: string | undefined,
  random: (bytes: number) => Uint8Array,
): string {
  const [, trace, span] = TRACEPARENT.exec(header?.trim() ?? '') ?? [];
  const isValid =
    trace !== undefined && /[^0]/.test(trace) && span !== undefined && /[^0]/.test(span);
  const bytes = hexOfBytes(random(isValid ? 8 : 24));
  return `00-${isValid ? trace : bytes.slice(16)}-${bytes.slice(0, 16)}-00`;
}
