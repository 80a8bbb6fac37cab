/** Of a body, a little is read in each turn of the event loop: of a fast sender, Node would read megabytes in one. */
import type { AnyRequest } from './acceptor.ts';

/** Two chunks of a socket. */
export const TURN_BYTES = 128 * 1024;

/** Each costs at least as much as so many bytes: of a body in chunks of one byte, a hundred thousand would be read in a turn. */
const CHUNK_COST = 64;

/** Of a chunk, in bytes. */
export const turnCost = ({ length }: Uint8Array): number => Math.max(length, CHUNK_COST);

/** Goes on in the next turn. */
export function pauseForTurn(request: AnyRequest): void {
  request.pause();
  setImmediate(() => request.resume());
}

/** Reads what is left of the body of a request that was answered, so that its sender comes to read the response. */
export function discardBody(request: AnyRequest): void {
  // An iterator that has the body goes on to its end.
  if (request.listenerCount('readable') > 0) return;
  // Node would take it for one that nobody reads, and read all of it in its own way when the response is sent.
  request.read();
  request.on('data', () => pauseForTurn(request));
}
