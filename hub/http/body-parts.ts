/** The parts of a body as they come. Small ones are put together: each has a cost of its own, which may be a hundred times its bytes. */
import { LIMITS } from '../../src/limits.ts';
import { ownBytes, type TextParts } from '../evaluators/text-parts.ts';

/** What is shorter is small. */
const SMALL_BYTES = 1024;
const JOINED_BYTES = 16 * 1024;

export class BodyParts {
  private readonly parts: Uint8Array<ArrayBuffer>[] = [];
  /** Small ones in a row: as much of it as `joined` says. */
  private room = new Uint8Array();
  private joined = 0;
  /** Of all parts. */
  bytes = 0;

  add(part: Uint8Array<ArrayBuffer>): void {
    const isFirst = this.bytes === 0;
    this.bytes += part.length;
    // Most bodies are one part, and short.
    if (isFirst || part.length >= SMALL_BYTES) {
      this.endJoined();
      this.parts.push(this.kept(part));
    } else this.join(part);
  }

  /** Nothing is added after it. */
  whole(): TextParts {
    this.endJoined();
    return this.parts;
  }

  /** What makes a body long is copied as it comes, if it must be, and not all in one turn. */
  private kept(part: Uint8Array<ArrayBuffer>): Uint8Array<ArrayBuffer> {
    return this.bytes > LIMITS.sliceChars ? ownBytes(part) : part;
  }

  private join(part: Uint8Array<ArrayBuffer>): void {
    if (this.joined + part.length > JOINED_BYTES) this.endJoined();
    if (this.joined + part.length > this.room.length) {
      const larger = new Uint8Array(Math.max(SMALL_BYTES, 2 * this.room.length));
      larger.set(this.room.subarray(0, this.joined));
      this.room = larger;
    }
    this.room.set(part, this.joined);
    this.joined += part.length;
  }

  private endJoined(): void {
    if (this.joined > 0) this.parts.push(this.room.slice(0, this.joined));
    this.joined = 0;
  }
}
