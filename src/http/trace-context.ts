/** W3C trace context: the caller's trace goes on under a span of ours. */

const TRACEPARENT = /^00-([0-9a-f]{32})-([0-9a-f]{16})-[0-9a-f]{2}$/;

/** Of the answer. What is not well-formed begins a new trace; flags are reset. */
export function traceparentOf(
  header: string | undefined,
  random: (bytes: number) => Uint8Array,
): string {
  const [, trace, span] = TRACEPARENT.exec(header?.trim() ?? '') ?? [];
  const isValid =
    trace !== undefined && /[^0]/.test(trace) && span !== undefined && /[^0]/.test(span);
  const bytes = hex(random(isValid ? 8 : 24));
  return `00-${isValid ? trace : bytes.slice(16)}-${bytes.slice(0, 16)}-00`;
}

const hex = (bytes: Uint8Array): string => {
  let text = '';
  for (const byte of bytes) text += byte < 16 ? `0${byte.toString(16)}` : byte.toString(16);
  return text;
};
