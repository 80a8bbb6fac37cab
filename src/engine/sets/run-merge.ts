/** Merges sets of the same order run by run. */
import { eachElement, waitFor, type NeedCollector } from '../../query/collect-needs.ts';
import { PeekableCursor, type SetCursor } from './set-cursor.ts';
import type { Tuple } from './tuple.ts';

interface HeapItem<T extends Tuple> {
  readonly peekable: PeekableCursor<T>;
  readonly member: number;
  /** Group of the next tuple. */
  group: string;
}

/** Approximate limit of tuples that are requested at once before they are needed. */
const AHEAD_MAX = 131_072;

/** A heap of cursors with the next tuple on top: joins merge thousands of cursors. */
export class RunMerge<T extends Tuple = Tuple> {
  private readonly peekables: readonly PeekableCursor<T>[];
  private readonly backward: boolean;
  private heap: HeapItem<T>[] | undefined;

  constructor(cursors: readonly SetCursor<T>[], backward: boolean) {
    this.peekables = cursors.map((cursor) => new PeekableCursor(cursor));
    this.backward = backward;
  }

  /** The runs of the next value: one for each member that contains it, in the order of the members. Undefined at the end. */
  next(): readonly (readonly T[])[] | undefined {
    const heap = (this.heap ??= this.fill());
    const group = heap[0]?.group;
    if (group === undefined) return undefined;
    const equal: HeapItem<T>[] = [];
    for (
      let top = this.pop(heap);
      top;
      top = heap[0]?.group === group ? this.pop(heap) : undefined
    ) {
      equal.push(top);
    }
    equal.sort((a, b) => a.member - b.member);
    const runs = this.takeRuns(equal);
    for (const each of equal) {
      const tuple = each.peekable.peek();
      if (!tuple) continue;
      each.group = tuple.group;
      this.push(heap, each);
    }
    return runs;
  }

  /**
   * Takes the run of each cursor. If one cursor has to wait for a read, the others will soon have to wait as well, each at another time.
   * Their next batches are therefore requested together with it, so that n members need one round trip instead of n.
   */
  private takeRuns(items: readonly HeapItem<T>[]): readonly T[][] {
    try {
      return eachElement(items, ({ peekable }) => peekable.takeRun());
    } catch (thrown) {
      return this.readAhead(waitFor(thrown));
    }
  }

  private readAhead(collector: NeedCollector): never {
    let ahead = 0;
    for (const peekable of this.peekables) {
      if (ahead >= AHEAD_MAX || collector.isFull || collector.isIdle) break;
      ahead += peekable.sizeAhead;
      try {
        peekable.readAhead();
      } catch (thrown) {
        collector.add(thrown);
      }
    }
    return collector.end();
  }

  private fill(): HeapItem<T>[] {
    const heap: HeapItem<T>[] = [];
    const tuples = eachElement(this.peekables, (peekable) => peekable.peek());
    this.peekables.forEach((peekable, member) => {
      const tuple = tuples[member];
      if (tuple) this.push(heap, { peekable, member, group: tuple.group });
    });
    return heap;
  }

  private isFirst(a: HeapItem<T>, b: HeapItem<T>): boolean {
    return this.backward ? a.group > b.group : a.group < b.group;
  }

  private push(heap: HeapItem<T>[], item: HeapItem<T>): void {
    let at = heap.length;
    heap.push(item);
    while (at > 0) {
      const up = (at - 1) >> 1;
      const parent = heap[up];
      if (!parent || !this.isFirst(item, parent)) break;
      heap[at] = parent;
      heap[up] = item;
      at = up;
    }
  }

  private pop(heap: HeapItem<T>[]): HeapItem<T> | undefined {
    const top = heap[0];
    const item = heap.pop();
    if (!top || !item || heap.length === 0) return top;
    let at = 0;
    for (;;) {
      let child = 2 * at + 1;
      let best = heap[child];
      const right = heap[child + 1];
      if (best && right && this.isFirst(right, best)) {
        best = right;
        child++;
      }
      if (!best || !this.isFirst(best, item)) break;
      heap[at] = best;
      at = child;
    }
    heap[at] = item;
    return top;
  }
}
