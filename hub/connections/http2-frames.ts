/** Frames of HTTP/2 in the first bytes of a connection, which are seen before Node's server parses them. RFC 9113, 3.4 and 4.1. */

const PREFACE_BYTES = 24;
const FRAME_HEAD_BYTES = 9;
const HEADERS = 1;

/** @param first the first bytes of a client. @returns the number of streams that begin in them */
export function streamsBegunIn(first: Buffer): number {
  let count = 0;
  let at = PREFACE_BYTES;
  while (at + FRAME_HEAD_BYTES <= first.length) {
    if (first[at + 3] === HEADERS) count += 1;
    at += FRAME_HEAD_BYTES + first.readUIntBE(at, 3);
  }
  return count;
}

const SETTINGS = '000000040000000000';
/** With the error code `ENHANCE_YOUR_CALM`. No stream was processed. */
const GOAWAY = '000008070000000000000000000000000b';

/** What a server sends that ends a session at once. Its settings come first in any session. */
export const ENDED_AT_ONCE = Buffer.from(SETTINGS + GOAWAY, 'hex');
