/** How long to wait before the next try: doubling, with chance, so that many devices do not come back at once. */
export class Backoff {
  private readonly chance: () => number;
  private failures = 0;

  constructor(chance: () => number) {
    this.chance = chance;
  }

  /** ms */
  next(): number {
    const longest = Math.min(LONGEST_MS, FIRST_MS * 2 ** this.failures);
    this.failures += 1;
    return longest / 2 + (this.chance() * longest) / 2;
  }

  /** Somebody asked for a try before its time: when that fails too, it is no sign that the hub is gone for long. */
  ease(): void {
    this.failures = Math.max(0, this.failures - 1);
  }

  reset(): void {
    this.failures = 0;
  }
}

const FIRST_MS = 1000;
const LONGEST_MS = 60_000;
