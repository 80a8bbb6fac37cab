/**
 * Splits a record into parts of the log, because Chromium stores a value of 64 KB or more in a file of its own. Each
 * part has its index, the number of parts and a checksum.
 */
import { ByteReader, Malformed } from './byte-reader.ts';
import { ByteWriter } from './byte-writer.ts';
import { sealed, unsealed } from './sealed.ts';

export const PART_BYTES_MAX = 48 * 1024;
const PART_FORMAT = 1;

export function partsOf(record: Uint8Array): Uint8Array[] {
  const count = Math.max(1, Math.ceil(record.length / PART_BYTES_MAX));
  return Array.from({ length: count }, (_, i) => {
    const piece = record.subarray(i * PART_BYTES_MAX, (i + 1) * PART_BYTES_MAX);
    header.clear();
    header.byte(PART_FORMAT);
    header.number(i);
    header.number(count);
    return sealed(header.view(), piece);
  });
}

const header = new ByteWriter();

export interface Part {
  readonly index: number;
  readonly count: number;
  readonly piece: Uint8Array;
}

/** @throws Malformed */
export function readPart(stored: Uint8Array): Part {
  const reader = new ByteReader(unsealed(stored));
  if (reader.byte() !== PART_FORMAT) throw new Malformed('its format is unknown');
  const index = reader.number();
  const count = reader.number();
  if (index >= count) throw new Malformed('it is not one of its record');
  return { index, count, piece: reader.take(reader.end - reader.at) };
}
