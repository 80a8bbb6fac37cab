/** Thrown for damaged bytes, for instance when reading past the end. */
export class Malformed extends Error {}

export class ByteReader {
  at: number;
  readonly bytes: Uint8Array;
  readonly end: number;

  constructor(bytes: Uint8Array, at = 0, end = bytes.length) {
    this.bytes = bytes;
    this.at = at;
    this.end = end;
  }

  get isAtEnd(): boolean {
    return this.at >= this.end;
  }

  byte(): number {
    if (this.at >= this.end) throw new Malformed('it ends too early');
    const value = this.bytes[this.at] ?? 0;
    this.at += 1;
    return value;
  }

  number(): number {
    const { at } = this;
    // Fast path: most reads are of numbers, and nearly all numbers take one or two bytes.
    if (at + 1 < this.end) {
      const low = this.bytes[at] ?? 0;
      if (low < 0x80) {
        this.at = at + 1;
        return low;
      }
      const high = this.bytes[at + 1] ?? 0;
      if (high < 0x80) {
        this.at = at + 2;
        return (low & 0x7f) + high * 0x80;
      }
    }
    return this.longNumber();
  }

  private longNumber(): number {
    let value = 0;
    for (let factor = 1; ; factor *= 0x80) {
      const next = this.byte();
      value += (next & 0x7f) * factor;
      if (!Number.isSafeInteger(value)) throw new Malformed('a number is too large');
      if (next < 0x80) return value;
    }
  }

  skip(count: number): void {
    if (this.at + count > this.end) throw new Malformed('it ends too early');
    this.at += count;
  }

  take(count: number): Uint8Array {
    const from = this.at;
    this.skip(count);
    return this.bytes.subarray(from, this.at);
  }

  delimited(): string {
    return rawText(this.take(this.number()));
  }
}

const BYTES_PER_CALL = 4096;

/** Converts bytes to text with one character per byte. */
export function rawText(bytes: Uint8Array): string {
  if (bytes.length <= BYTES_PER_CALL) return textOf(bytes);
  let text = '';
  for (let at = 0; at < bytes.length; at += BYTES_PER_CALL)
    text += textOf(bytes.subarray(at, at + BYTES_PER_CALL));
  return text;
}

/** `Reflect.apply`, because spreading the bytes takes seven times as long. */
const textOf = (bytes: Uint8Array): string => Reflect.apply(String.fromCharCode, null, bytes);
