/** What Node says of files, sockets and threads. */

/** Undefined: the error has no code. */
export const codeOf = (reason: unknown): unknown =>
  reason instanceof Error && 'code' in reason ? reason.code : undefined;

/** What an error says. Of a connection that was tried at several addresses, Node says it in the parts alone. */
export function messageOf(reason: unknown): string {
  if (!(reason instanceof Error)) return String(reason);
  return reason instanceof AggregateError && reason.message === ''
    ? reason.errors.map(messageOf).join(', ')
    : reason.message;
}
