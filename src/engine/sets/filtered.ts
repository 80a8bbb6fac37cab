/** Tuples of a cursor that pass a test which may read. */
import { eachElement } from '../../query/collect-needs.ts';
import { grownAfterSkip, type SetCursor } from './set-cursor.ts';
import type { Tuple } from './tuple.ts';

/**
 * Tests are made together for some tuples at a time, as many as are likely to be wanted: each may read, and what they read
 * is fetched at once.
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
