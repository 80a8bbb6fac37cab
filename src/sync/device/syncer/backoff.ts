/** Exponential backoff with jitter, so that many devices do not reconnect at the same time. */
export class Backoff {
  private readonly random: () => number;
  private failures = 0;

  /** @param random from 0 to below 1 */
  constructor(random: () => number) {
    this.random = random;
  }

  /** The next pause, ms. */
  next(): number {
    const longest = Math.min(LONGEST_MS, FIRST_MS * 2 ** this.failures);
    this.failures += 1;
    return longest / 2 + (this.random() * longest) / 2;
  }

  /** Call it after a retry that came earlier than planned: its failure does not show that the outage is long. */
  ease(): void {
    this.failures = Math.max(0, this.failures - 1);
  }

  reset(): void {
    this.failures = 0;
  }
}

const FIRST_MS = 1000;
const LONGEST_MS = 60_000;
