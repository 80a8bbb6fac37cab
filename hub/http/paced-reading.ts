/**
 * Of a body, a little is read in each turn of the event loop: of a fast sender, Node would read megabytes in one. And few bodies are read on
 * in one turn: their addresses take turns.
 */
import { LoopTurns } from '../event-loop/loop-turns.ts';
import type { AnyRequest } from '../connections/any-request.ts';

/** Two chunks of a socket. */
export const TURN_BYTES = 128 * 1024;

/** Each costs at least as much as so many bytes: of a body in chunks of one byte, a hundred thousand would be read in a turn. */
const CHUNK_COST = 64;

/** Of a chunk, in bytes. */
export const turnCost = ({ length }: Uint8Array): number => Math.max(length, CHUNK_COST);

/** Bodies that are read on in one turn. */
const READ_ON = { ms: Infinity, count: 2 };
const turns = new LoopTurns({ alone: READ_ON, besideOthers: READ_ON });

/** Goes on in a later turn. @param address of its sender */
export function pauseForTurn(request: AnyRequest, address: string): void {
  request.pause();
  const goOn = (): void => void request.resume();
  setImmediate(() => turns.begin(address, goOn, () => request.destroyed));
}

/** Reads what is left of the body of a request that was answered, so that its sender comes to read the response. */
export function discardBody(request: AnyRequest, address: string): void {
  // An iterator that has the body goes on to its end.
  if (request.listenerCount('readable') > 0) return;
  // Node would take it for one that nobody reads, and read all of it in its own way when the response is sent.
  request.read();
  request.on('data', () => pauseForTurn(request, address));
}
