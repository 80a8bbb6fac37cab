/**
 * Reads only a little of each body per turn of the event loop: from a fast sender, Node would read megabytes in one turn. Few
 * bodies continue in each turn, and their addresses take turns.
 */
import { LoopTurns } from '../event-loop/loop-turns.ts';
import type { AnyRequest } from '../connections/any-request.ts';

/** The size of two chunks of a socket. */
export const TURN_BYTES = 128 * 1024;

/** Each chunk counts as at least this many bytes. Otherwise, a hundred thousand chunks of one byte would be read in one turn. */
const CHUNK_COST = 64;

/** The cost of a chunk, in bytes. */
export const turnCost = ({ length }: Uint8Array): number => Math.max(length, CHUNK_COST);

/** How many bodies continue in one turn of the event loop. */
const READ_ON = { ms: Infinity, count: 2 };
const turns = new LoopTurns({ alone: READ_ON, besideOthers: READ_ON });

/** Pauses the body and continues in a later turn. @param address the address of the sender */
export function pauseForTurn(request: AnyRequest, address: string): void {
  request.pause();
  setImmediate(() => void resumeInTurn(request, address));
}

async function resumeInTurn(request: AnyRequest, address: string): Promise<void> {
  await turns.enter(address, address, () => request.destroyed);
  if (!request.destroyed) request.resume();
}

/** Discards the rest of the body of an answered request, because many clients read the response only after sending the whole body. */
export function discardBody(request: AnyRequest, address: string): void {
  // An iterator is reading the body and will read it to its end.
  if (request.listenerCount('readable') > 0) return;
  // Marks the body as consumed. Otherwise Node would read all of it at once when the response is sent.
  request.read();
  request.on('data', () => pauseForTurn(request, address));
}
