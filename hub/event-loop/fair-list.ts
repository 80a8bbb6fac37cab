/**
 * A waiting list whose callers take turns: first the databases, then the credentials within each. A flood from one caller does
 * not delay the others.
 */
import type { InLine, Line, WaitingList } from '../../src/engine/host.ts';
import { FairQueue } from './fair-queue.ts';

/** The line for work of the hub itself. */
const OWN: Line = { name: '', group: '' };

export class FairList<T extends InLine> implements WaitingList<T> {
  private readonly queue = new FairQueue<T>();

  get length(): number {
    return this.queue.size;
  }

  push(one: T): void {
    const { name, group } = one.line ?? OWN;
    this.queue.add(name, one, group);
  }

  unshift(...some: readonly T[]): void {
    for (const one of some.toReversed()) {
      const { name, group } = one.line ?? OWN;
      this.queue.addFirst(name, one, group);
    }
  }

  splice(_from: 0, count: number): T[] {
    const taken: T[] = [];
    while (taken.length < count) {
      const one = this.queue.take(Infinity);
      if (one === undefined) break;
      this.queue.end((one.line ?? OWN).name);
      taken.push(one);
    }
    return taken;
  }
}
