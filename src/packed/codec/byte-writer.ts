import { textParts } from '../../codec/utf8.ts';

/**
 * Growing bytes. Numbers take as many bytes as they need: seven bits per byte, lowest first; the highest bit is set if
 * another byte follows.
 */
const CAPACITY_MIN = 256;
/** A commit of 1,000 documents fits. */
const KEPT_MAX = 2 * 1024 * 1024;
const encoder = new TextEncoder();

export class ByteWriter {
  length = 0;
  private bytes: Uint8Array;

  constructor(capacity = CAPACITY_MIN) {
    this.bytes = new Uint8Array(capacity);
  }

  byte(value: number): void {
    this.reserve(1);
    this.bytes[this.length] = value;
    this.length += 1;
  }

  /** @param value a non-negative safe integer */
  number(value: number): void {
    this.reserve(8);
    let rest = value;
    while (rest >= 0x80) {
      this.bytes[this.length] = (rest % 0x80) | 0x80;
      this.length += 1;
      rest = Math.floor(rest / 0x80);
    }
    this.bytes[this.length] = rest;
    this.length += 1;
  }

  uint32(value: number): void {
    this.reserve(4);
    new DataView(this.bytes.buffer).setUint32(this.length, value, true);
    this.length += 4;
  }

  append(bytes: Uint8Array): void {
    this.reserve(bytes.length);
    this.bytes.set(bytes, this.length);
    this.length += bytes.length;
  }

  /** Text with one byte per character, such as keys. */
  raw(text: string, from = 0): void {
    const count = text.length - from;
    this.reserve(count);
    const { bytes, length } = this;
    for (let i = 0; i < count; i += 1) bytes[length + i] = text.charCodeAt(from + i);
    this.length = length + count;
  }

  /** Appends text as UTF-8. Returns the number of bytes written. */
  utf8(text: string): number {
    const start = this.length;
    this.reserve(text.length);
    // In parts, so that room for three bytes per character is needed for one part only.
    for (const part of textParts(text)) {
      this.reserve(3 * part.length);
      this.length += encoder.encodeInto(part, this.bytes.subarray(this.length)).written;
    }
    return this.length - start;
  }

  /** Appends the length of a text, then the text. */
  delimited(text: string): void {
    this.number(text.length);
    this.raw(text);
  }

  /** The bytes written so far, without a copy. Valid until the next write. */
  view(): Uint8Array {
    return this.bytes.subarray(0, this.length);
  }

  /** Begins anew. Keeps its memory, unless that was a lot. */
  clear(): void {
    this.length = 0;
    if (this.bytes.length > KEPT_MAX) this.bytes = new Uint8Array(CAPACITY_MIN);
  }

  private reserve(count: number): void {
    const needed = this.length + count;
    if (needed <= this.bytes.length) return;
    const grown = new Uint8Array(Math.max(needed, this.bytes.length * 2));
    grown.set(this.bytes);
    this.bytes = grown;
  }
}
