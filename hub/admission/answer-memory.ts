/** Bytes of answers that their clients have not read yet: who asks and does not read is answered no more. */
export class AnswerMemory {
  private readonly max: number;
  private readonly maxPerCredential: number;
  private readonly byCredential = new Map<string, number>();
  used = 0;

  constructor(max: number, maxPerCredential: number) {
    this.max = max;
    this.maxPerCredential = maxPerCredential;
  }

  /** Whether one more request of the credential may be answered. */
  hasRoomFor(name: string): boolean {
    return this.used < this.max && this.of(name) < this.maxPerCredential;
  }

  /** Counts an answer until the returned function is called. Undefined: it would be too much beside the others. */
  hold(name: string, bytes: number): (() => void) | undefined {
    const ofName = this.of(name);
    if (this.used > 0 && this.used + bytes > this.max) return undefined;
    if (ofName > 0 && ofName + bytes > this.maxPerCredential) return undefined;
    this.used += bytes;
    this.byCredential.set(name, ofName + bytes);
    let isOver = false;
    return () => {
      if (isOver) return;
      isOver = true;
      this.used -= bytes;
      const left = this.of(name) - bytes;
      if (left > 0) this.byCredential.set(name, left);
      else this.byCredential.delete(name);
    };
  }

  private of(name: string): number {
    return this.byCredential.get(name) ?? 0;
  }
}
