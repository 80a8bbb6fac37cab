/** Reads errors of Node: files, sockets, threads. */

/** @returns undefined if the error has no code */
export const codeOf = (reason: unknown): unknown =>
  reason instanceof Error && 'code' in reason ? reason.code : undefined;

/** Whether a disk is full, the quota of the user is used up, or the system does not allow such a large file. */
export const isOfFullDisk = (reason: unknown): boolean => NO_ROOM.has(codeOf(reason));

const NO_ROOM: ReadonlySet<unknown> = new Set(['ENOSPC', 'EDQUOT', 'EFBIG']);

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
