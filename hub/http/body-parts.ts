/**
 * Collects the parts of a body. Small parts are joined, because each part has a memory cost of its own that may be a hundred
 * times its size.
 */
import { LIMITS } from '../../src/limits.ts';
import { ownBytes, type TextParts } from '../evaluators/text-parts.ts';

/** Parts shorter than this are joined. */
const SMALL_BYTES = 1024;
const JOINED_BYTES = 16 * 1024;

export class BodyParts {
  private readonly parts: Uint8Array<ArrayBuffer>[] = [];
  /** Buffer for joining consecutive small parts; its first `joined` bytes are used. */
  private room = new Uint8Array();
  private joined = 0;
  /** Total bytes of all parts. */
  bytes = 0;

  add(part: Uint8Array<ArrayBuffer>): void {
    const isFirst = this.bytes === 0;
    this.bytes += part.length;
    // Most bodies consist of one short part, which is not copied.
    if (isFirst || part.length >= SMALL_BYTES) {
      this.endJoined();
      this.parts.push(this.kept(part));
    } else this.join(part);
  }

  /** Returns all parts. Nothing may be added afterwards. */
  whole(): TextParts {
    this.endJoined();
    return this.parts;
  }

  /** Parts of a long body that need a copy are copied as they arrive, so that not all are copied in one turn of the event loop. */
  private kept(part: Uint8Array<ArrayBuffer>): Uint8Array<ArrayBuffer> {
    return this.bytes > LIMITS.longTextChars ? ownBytes(part) : part;
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
