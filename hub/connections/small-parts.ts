/**
 * Protection against many small parts: large chunks of a connection are parsed in pieces, and a body in thousands of small parts
 * is cut off.
 */
import type { Socket } from 'node:net';
import type { AnyRequest } from './any-request.ts';

/**
 * Longer than most requests. A longer first chunk of a connection is parsed in pieces, because Node parses a chunk in a single
 * turn.
 */
export const HEAD_BYTES = 16 * 1024;
/** Size of the pieces. Parsing stops when the connection is closed because of what it sends. */
const PIECE_BYTES = 4 * 1024;
/** How many parts a body may have regardless of their size. Beyond that, one part for every `PART_BYTES` bytes. */
const PARTS_FREE = 2048;
const PART_BYTES = 16;

/** Node would otherwise parse everything it reads at once: thousands of requests or chunks if they are small. */
export function readInPieces(socket: Socket): void {
  const push = socket.push.bind(socket);
  // A `data` listener makes Node pass data through the stream (`push`) instead of handing it to the HTTP parser directly.
  socket.on('data', () => undefined);
  socket.push = (chunk: Buffer | null, encoding) => {
    if (chunk === null) return push(chunk, encoding);
    let isWanted = true;
    for (let at = 0; at < chunk.length && !socket.destroyed; at += PIECE_BYTES)
      isWanted = push(chunk.subarray(at, at + PIECE_BYTES), encoding);
    return isWanted;
  };
}

/** Puts data back so that it is read in pieces. */
export function unshiftInPieces(socket: Socket, head: Buffer): void {
  const bytes = head.length > HEAD_BYTES ? PIECE_BYTES : head.length;
  for (let at = Math.floor((head.length - 1) / bytes) * bytes; at >= 0; at -= bytes)
    socket.unshift(head.subarray(at, at + bytes));
}

/**
 * Ends a request whose body arrives in too many small parts. Each part costs Node a hundred times its size, and no honest client
 * sends thousands of them.
 */
export function limitParts(request: AnyRequest, end: () => void): void {
  let left = PARTS_FREE;
  const push = request.push.bind(request);
  request.push = (part: Buffer | null, encoding) => {
    if (left >= 0 && part !== null) {
      left += part.length / PART_BYTES - 1;
      if (left < 0) end();
    }
    // Parts that arrive after the limit are dropped.
    return left < 0 || push(part, encoding);
  };
}
