import { remember } from '../../src/values/remember.ts';

/** Rate limits: each name has a bucket that refills steadily, and a request takes one token from it. */
export class TokenBuckets {
  private readonly perSecond: number;
  private readonly size: number;
  private readonly nowMs: () => number;
  private readonly buckets = new Map<string, { left: number; atMs: number }>();

  /** @param perSecond 0 means no limit */
  constructor(perSecond: number, burstSeconds: number, nowMs: () => number) {
    this.perSecond = perSecond;
    this.size = Math.max(1, perSecond * burstSeconds);
    this.nowMs = nowMs;
  }

  /** Whether a token could be taken now. */
  hasLeft(name: string): boolean {
    return this.leftOf(name, this.nowMs()) >= 1;
  }

  /** @returns undefined if a token was taken; otherwise the seconds until the next token */
  take(name: string): number | undefined {
    if (this.perSecond === 0) return undefined;
    const atMs = this.nowMs();
    const left = this.leftOf(name, atMs);
    if (left < 1) return (1 - left) / this.perSecond;
    // Buckets used most recently come last, so a flood of names evicts old buckets, which are full again anyway.
    remember(this.buckets, name, { left: left - 1, atMs }, NAMES_MAX);
    return undefined;
  }

  /** Takes tokens for what an admitted request has turned out to cost. A bucket that owes tokens refuses until they are paid back. */
  charge(name: string, tokens: number): void {
    if (this.perSecond === 0) return;
    const atMs = this.nowMs();
    remember(this.buckets, name, { left: this.leftOf(name, atMs) - tokens, atMs }, NAMES_MAX);
  }

  private leftOf(name: string, atMs: number): number {
    const bucket = this.buckets.get(name) ?? { left: this.size, atMs };
    const refilled = ((atMs - bucket.atMs) / 1000) * this.perSecond;
    return Math.min(this.size, bucket.left + refilled);
  }
}

const NAMES_MAX = 100_000;

/** For each name: how many things are in progress, or how many bytes are held. */
export class Counts {
  private readonly counts = new Map<string, number>();
  total = 0;

  of(name: string): number {
    return this.counts.get(name) ?? 0;
  }

  add(name: string, amount = 1): void {
    this.total += amount;
    this.counts.set(name, this.of(name) + amount);
  }

  /** Counts `amount` until the returned function is called. */
  hold(name: string, amount = 1): () => void {
    let isOver = false;
    this.add(name, amount);
    return () => {
      if (isOver) return;
      isOver = true;
      this.remove(name, amount);
    };
  }

  remove(name: string, amount = 1): void {
    this.total -= amount;
    const left = this.of(name) - amount;
    if (left > 0) this.counts.set(name, left);
    else this.counts.delete(name);
  }
}
