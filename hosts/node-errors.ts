/** Reads errors of Node: files, sockets, threads. */

/** @returns undefined if the error has no code */
export const codeOf = (reason: unknown): unknown =>
  reason instanceof Error && 'code' in reason ? reason.code : undefined;

/**
 * The message of an error. If a connection was tried at several addresses, Node reports an `AggregateError` whose message is
 * empty.
 */
export function messageOf(reason: unknown): string {
  if (!(reason instanceof Error)) return String(reason);
  return reason instanceof AggregateError && reason.message === ''
    ? reason.errors.map(messageOf).join(', ')
    : reason.message;
}
