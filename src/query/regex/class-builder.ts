/** Collects the contents of a character class. */
import { CharSet, type CharTest } from './node.ts';
import { foldOf, isAsciiLetter, lowerOf, otherAsciiCase, upperOf } from './letter-case.ts';

/** How letter case is ignored: not at all, for ASCII letters, or for all letters. */
export type CaseMode = 'exact' | 'ascii' | 'unicode';

// A property is tested by a regular expression of the JavaScript engine, which is more expensive than comparing numbers.
const TEST_COST = 8;

/** A union of code points, ranges and tests. */
export class ClassBuilder {
  private readonly ranges: [from: number, to: number][] = [];
  private readonly tests: CharTest[] = [];
  private testCost = 0;

  get isEmpty(): boolean {
    return this.ranges.length === 0 && this.tests.length === 0;
  }

  addCode(code: number, mode: CaseMode): void {
    this.ranges.push([code, code]);
    if (mode === 'exact') return;
    if (isAsciiLetter(code)) this.addOther(otherAsciiCase(code));
    if (mode === 'unicode') {
      const upper = upperOf(code);
      const folded = lowerOf(upper);
      // As in Java, a character without an upper case is equal to itself alone: `ß` does not match `ẞ`.
      if (folded !== upper) this.addTest((each) => foldOf(each) === folded);
    }
  }

  private addOther(code: number): void {
    this.ranges.push([code, code]);
  }

  addRange(from: number, to: number, mode: CaseMode): void {
    this.ranges.push([from, to]);
    if (mode === 'exact') return;
    const within: CharTest = (code) => code >= from && code <= to;
    if (mode === 'ascii') {
      this.addTest((code) => isAsciiLetter(code) && within(otherAsciiCase(code)));
    } else {
      this.addTest((code) => within(upperOf(code)) || within(lowerOf(upperOf(code))));
    }
  }

  addTest(test: CharTest, cost: number = TEST_COST): void {
    this.tests.push(test);
    this.testCost += cost;
  }

  addSet(set: CharSet): void {
    this.addTest((code) => set.has(code), set.cost);
  }

  build(): CharSet {
    const inRanges = rangesTest(this.ranges);
    const { tests } = this;
    const has: CharTest = (code) => inRanges(code) || tests.some((test) => test(code));
    return new CharSet(has, 1 + this.testCost);
  }
}

export const complement = (set: CharSet): CharSet =>
  new CharSet((code) => !set.has(code), set.cost);

export const intersection = (a: CharSet, b: CharSet): CharSet =>
  new CharSet((code) => a.has(code) && b.has(code), a.cost + b.cost);

/** Finds the range of a code point by binary search. */
function rangesTest(unordered: readonly (readonly [number, number])[]): CharTest {
  const starts: number[] = [];
  const ends: number[] = [];
  for (const [from, to] of [...unordered].sort((a, b) => a[0] - b[0])) {
    const last = ends.at(-1) ?? -1;
    if (starts.length > 0 && from <= last + 1) ends[ends.length - 1] = Math.max(last, to);
    else {
      starts.push(from);
      ends.push(to);
    }
  }
  return (code) => {
    let [low, high] = [0, starts.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((starts[middle] ?? 0) <= code) low = middle + 1;
      else high = middle;
    }
    return low > 0 && code <= (ends[low - 1] ?? -1);
  };
}
