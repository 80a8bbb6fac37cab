/** Filters a cursor by a test that may read. */
import { eachElement } from '../../query/collect-needs.ts';
import { grownAfterSkip, type SetCursor } from './set-cursor.ts';
import type { Tuple } from './tuple.ts';

/**
 * Tests tuples in batches, as many at a time as will probably be needed: each test may read, and the reads of a batch are fetched together.
 */
export function filterCursor(
  cursor: SetCursor,
  first: number,
  accepts: (tuple: Tuple) => boolean,
): SetCursor {
  const waiting: Tuple[] = [];
  let size = first;
  const fill = (): void => {
    while (waiting.length < size) {
      const more = cursor.pull();
      if (more.length === 0) return;
      for (const tuple of more) waiting.push(tuple);
    }
  };
  return {
    pull() {
      for (;;) {
        fill();
        if (waiting.length === 0) return [];
        const batch = waiting.splice(0, size);
        size = grownAfterSkip(size);
        const accepted = eachElement(batch, accepts);
        const passed = batch.filter((_, i) => accepted[i]);
        if (passed.length > 0) return passed;
      }
    },
    narrow(bound) {
      cursor.narrow(bound);
    },
  };
}
