/** What a connection sends at once is read in pieces, and a body in thousands of small parts is not read to its end. */
import type { Socket } from 'node:net';
import type { AnyRequest } from './any-request.ts';

/** More than one request sends first, mostly: all that is in it is parsed in one turn. */
export const HEAD_BYTES = 16 * 1024;
/** Such a chunk is parsed in pieces of so many bytes, until the connection is closed for what it sends. */
const PIECE_BYTES = 4 * 1024;
/** Parts in which bodies may come, however small they are; beyond it, one for each so many bytes. */
const PARTS_FREE = 2048;
const PART_BYTES = 16;

/** What Node reads in one go would be parsed in one go, in thousands of parts if they are small. */
export function readInPieces(socket: Socket): void {
  const push = socket.push.bind(socket);
  // Whoever listens is given it by Node's stream instead of its parser.
  socket.on('data', () => undefined);
  socket.push = (chunk: Buffer | null, encoding) => {
    if (chunk === null) return push(chunk, encoding);
    let isWanted = true;
    for (let at = 0; at < chunk.length && !socket.destroyed; at += PIECE_BYTES)
      isWanted = push(chunk.subarray(at, at + PIECE_BYTES), encoding);
    return isWanted;
  };
}

/** Each is read by itself. */
export function unshiftInPieces(socket: Socket, head: Buffer): void {
  const bytes = head.length > HEAD_BYTES ? PIECE_BYTES : head.length;
  for (let at = Math.floor((head.length - 1) / bytes) * bytes; at >= 0; at -= bytes)
    socket.unshift(head.subarray(at, at + bytes));
}

/** Each part costs Node a hundred times its byte: nobody means to send thousands of them. */
export function limitParts(request: AnyRequest, end: () => void): void {
  let left = PARTS_FREE;
  const push = request.push.bind(request);
  request.push = (part: Buffer | null, encoding) => {
    if (left >= 0 && part !== null) {
      left += part.length / PART_BYTES - 1;
      if (left < 0) end();
    }
    // What comes after the end is not kept.
    return left < 0 || push(part, encoding);
  };
}
