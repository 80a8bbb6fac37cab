/** Rates: each name has a bucket that fills steadily, and a request takes one from it. */
export class TokenBuckets {
  private readonly perSecond: number;
  private readonly size: number;
  private readonly now: () => number;
  private readonly buckets = new Map<string, { left: number; at: number }>();

  /** @param perSecond 0: no bound @param now ms */
  constructor(perSecond: number, burstSeconds: number, now: () => number) {
    this.perSecond = perSecond;
    this.size = Math.max(1, perSecond * burstSeconds);
    this.now = now;
  }

  /** Seconds to wait until the next would be let in; undefined: this one was. */
  take(name: string): number | undefined {
    if (this.perSecond === 0) return undefined;
    const now = this.now();
    const bucket = this.buckets.get(name) ?? { left: this.size, at: now };
    const left = Math.min(this.size, bucket.left + ((now - bucket.at) / 1000) * this.perSecond);
    if (left < 1) return (1 - left) / this.perSecond;
    this.buckets.delete(name);
    // The most recently used stand at the end: a crowd of names pushes out those that are full anyway.
    this.buckets.set(name, { left: left - 1, at: now });
    if (this.buckets.size > NAMES_MAX) this.forgetOldest();
    return undefined;
  }

  private forgetOldest(): void {
    for (const name of this.buckets.keys()) {
      this.buckets.delete(name);
      return;
    }
  }
}

const NAMES_MAX = 100_000;

/** How many of each name are under way. */
export class Counts {
  private readonly counts = new Map<string, number>();
  total = 0;

  of(name: string): number {
    return this.counts.get(name) ?? 0;
  }

  add(name: string): void {
    this.total += 1;
    this.counts.set(name, this.of(name) + 1);
  }

  remove(name: string): void {
    this.total -= 1;
    const left = this.of(name) - 1;
    if (left > 0) this.counts.set(name, left);
    else this.counts.delete(name);
  }
}
