/** Bytes that are followed by their checksum. */
import { Malformed } from './byte-reader.ts';
import type { ByteWriter } from './byte-writer.ts';
import { checksum } from './checksum.ts';

const CHECKSUM_BYTES = 4;

/** The written bytes, followed by their checksum. */
export function sealed(out: ByteWriter): Uint8Array {
  out.uint32(checksum(out.view()));
  return out.finish();
}

/** The bytes before the checksum. @throws Malformed */
export function unsealed(bytes: Uint8Array): Uint8Array {
  const length = bytes.length - CHECKSUM_BYTES;
  if (length < 0) throw new Malformed('it is too short');
  const expected = new DataView(bytes.buffer, bytes.byteOffset).getUint32(length, true);
  if (checksum(bytes, length) !== expected) throw new Malformed('its checksum does not match');
  return bytes.subarray(0, length);
}
