import { Counts } from './token-buckets.ts';

/** Bytes of answers that their clients have not read yet: who asks and does not read is answered no more. */
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

  /** Whether an answer would be no more than is allowed beside the others. */
  fits(name: string, bytes: number): boolean {
    const ofName = this.bytes.of(name);
    if (this.used > 0 && this.used + bytes > this.max) return false;
    return ofName === 0 || ofName + bytes <= this.maxPerCredential;
  }

  /** Counts an answer until the returned function is called. Undefined: it would be too much beside the others. */
  hold(name: string, bytes: number): (() => void) | undefined {
    return this.fits(name, bytes) ? this.add(name, bytes) : undefined;
  }

  /** Counts an answer that is sent anyway, until the returned function is called. */
  add(name: string, bytes: number): () => void {
    return this.bytes.hold(name, bytes);
  }
}
