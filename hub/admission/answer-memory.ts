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

  /** Counts an answer until the returned function is called. Undefined: it would be too much beside the others. */
  hold(name: string, bytes: number): (() => void) | undefined {
    const ofName = this.bytes.of(name);
    if (this.used > 0 && this.used + bytes > this.max) return undefined;
    if (ofName > 0 && ofName + bytes > this.maxPerCredential) return undefined;
    return this.bytes.hold(name, bytes);
  }
}
