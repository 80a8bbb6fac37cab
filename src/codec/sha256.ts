import { hexOfBytes } from './hex.ts';
import { utf8Bytes } from './utf8.ts';

/** SHA-256, as the host computes it. */
export type Sha256 = (bytes: Uint8Array) => Uint8Array;

/** The hash of a text, in hexadecimal. */
export const hexHash = (text: string, sha256: Sha256): string =>
  hexOfBytes(sha256(utf8Bytes(text)));
