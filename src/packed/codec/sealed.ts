/** Bytes that are followed by their checksum. */
import { Malformed } from './byte-reader.ts';
import { checksum } from './checksum.ts';

const CHECKSUM_BYTES = 4;

/** The pieces, joined and followed by their checksum. */
export function sealed(...pieces: readonly Uint8Array[]): Uint8Array {
  const length = pieces.reduce((sum, piece) => sum + piece.length, 0);
  const bytes = new Uint8Array(length + CHECKSUM_BYTES);
  let at = 0;
  for (const piece of pieces) {
    bytes.set(piece, at);
    at += piece.length;
  }
  new DataView(bytes.buffer).setUint32(length, checksum(bytes, length), true);
  return bytes;
}

/** The bytes before the checksum. @throws Malformed */
export function unsealed(bytes: Uint8Array): Uint8Array {
  const length = bytes.length - CHECKSUM_BYTES;
  if (length < 0) throw new Malformed('it is too short');
  const expected = new DataView(bytes.buffer, bytes.byteOffset).getUint32(length, true);
  if (checksum(bytes, length) !== expected) throw new Malformed('its checksum does not match');
  return bytes.subarray(0, length);
}
