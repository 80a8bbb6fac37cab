/** Facts that a thread records about the query it executes, in shared memory that outlives the thread. */
const BYTES = 8 + 128;

export class QueryMarks {
  readonly buffer: SharedArrayBuffer;
  /** [0]: 1 as soon as the query may have written something. [1]: the length of the hash. */
  private readonly numbers: Int32Array;
  private readonly text: Uint8Array;

  constructor(buffer = new SharedArrayBuffer(BYTES)) {
    this.buffer = buffer;
    this.numbers = new Int32Array(buffer, 0, 2);
    this.text = new Uint8Array(buffer, 8);
  }

  clear(): void {
    Atomics.store(this.numbers, 0, 0);
    Atomics.store(this.numbers, 1, 0);
  }

  recordWrite(): void {
    Atomics.store(this.numbers, 0, 1);
  }

  get mayHaveWritten(): boolean {
    return Atomics.load(this.numbers, 0) === 1;
  }

  /** @param hash the hash of the device's write that is about to be executed */
  recordExecution(hash: string): void {
    const { written } = new TextEncoder().encodeInto(hash, this.text);
    Atomics.store(this.numbers, 1, written);
  }

  get executing(): string | undefined {
    const length = Atomics.load(this.numbers, 1);
    // Copied first: TextDecoder does not accept shared memory.
    return length === 0 ? undefined : new TextDecoder().decode(this.text.slice(0, length));
  }
}
