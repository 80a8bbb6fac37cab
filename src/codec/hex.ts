/** Encodes each byte as two hexadecimal digits. */
export function hexOfBytes(bytes: Uint8Array): string {
  let hex = '';
  for (const byte of bytes) hex += HEX[byte];
  return hex;
}

/** The two hexadecimal digits of each byte value. */
export const HEX: readonly string[] = Array.from({ length: 256 }, (_, byte) =>
  byte.toString(16).padStart(2, '0'),
);
