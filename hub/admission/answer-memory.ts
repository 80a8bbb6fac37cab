import { Counts } from './token-buckets.ts';

/** Counts bytes of answers that clients have not read yet. A client that sends requests without reading the answers is refused. */
export class AnswerMemory {
  private readonly max: number;
  private readonly maxPerCredential: number;
  private readonly bytes = new Counts();

  constructor(max: number, maxPerCredential: number) {
    this.max = max;
    this.maxPerCredential = maxPerCredential;
  }

  get used(): number {
    return this.bytes.total;
  }

  /** Whether one more request of the credential may be answered. */
  hasRoomFor(name: string): boolean {
    return this.used < this.max && this.bytes.of(name) < this.maxPerCredential;
  }

  /** Whether an answer of this size fits into the limits. An answer always fits if there are no others. */
  fits(name: string, bytes: number): boolean {
    const ofName = this.bytes.of(name);
    if (this.used > 0 && this.used + bytes > this.max) return false;
    return ofName === 0 || ofName + bytes <= this.maxPerCredential;
  }

  /**
   * Counts an answer until the returned function is called.
   * @returns undefined if the answer does not fit into the limits
   */
  hold(name: string, bytes: number): (() => void) | undefined {
    return this.fits(name, bytes) ? this.add(name, bytes) : undefined;
  }

  /** Counts an answer that is sent in any case, until the returned function is called. */
  add(name: string, bytes: number): () => void {
    return this.bytes.hold(name, bytes);
  }
}
