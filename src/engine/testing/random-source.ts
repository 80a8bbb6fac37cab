/** Reproducible random numbers: the same seed gives the same sequence. */
export class RandomSource {
  private state: number;

  constructor(seed: number) {
    this.state = seed >>> 0;
  }

  /** A number from 0 to 1, excluding 1. */
  next(): number {
    // mulberry32
    this.state = (this.state + 0x6d2b79f5) >>> 0;
    let mixed = this.state;
    mixed = Math.imul(mixed ^ (mixed >>> 15), mixed | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  }

  /** An integer from 0 to `count`, excluding `count`. */
  below(count: number): number {
    return Math.floor(this.next() * count);
  }

  chance(probability: number): boolean {
    return this.next() < probability;
  }

  pick<T>(list: readonly [T, ...T[]] | readonly T[]): T {
    return list[this.below(list.length)] as T;
  }

  /** Up to `max` results of `make`. */
  some<T>(max: number, make: () => T): T[] {
    return Array.from({ length: this.below(max + 1) }, make);
  }
}

/**
 * The seed from an environment variable. Without it, the seed is fixed in CI, so that a failing build points at the change, and random
 * otherwise.
 */
export const seedOf = (variable: string): number =>
  Number(
    process.env[variable] ?? (process.env['CI'] === undefined ? Date.now() % 1_000_000_000 : 1),
  );
