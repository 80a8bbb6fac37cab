/** Merges cursors of the same order into one. Equal tuples come next to each other. */
import { eachElement } from '../../query/collect-needs.ts';
import { PeekableCursor, type SetCursor, type SetRequest } from './set-cursor.ts';
import { compareTuples, type Tuple } from './tuple.ts';

/** Tuples per batch, independent of the batch sizes of the members. */
const BATCH = 512;

export function mergeOrdered(
  cursors: readonly SetCursor[],
  { backward }: Pick<SetRequest, 'backward'>,
): SetCursor {
  const peekables = cursors.map((cursor) => new PeekableCursor(cursor));
  const isFirst = (a: Tuple, b: Tuple) => {
    const order = compareTuples(a, b);
    return backward ? order > 0 : order < 0;
  };
  return {
    pull() {
      const batch: Tuple[] = [];
      eachElement(peekables, (peekable) => peekable.peek());
      while (batch.length < BATCH) {
        let best: PeekableCursor | undefined;
        let first: Tuple | undefined;
        for (const peekable of peekables) {
          // The batch ends where a member would have to read more, because that may not be needed.
          if (batch.length > 0 && peekable.mustRead) return batch;
          const tuple = peekable.peek();
          if (tuple && (!first || isFirst(tuple, first))) {
            best = peekable;
            first = tuple;
          }
        }
        if (!best || !first) break;
        batch.push(first);
        best.advance();
      }
      return batch;
    },
    narrow(bound) {
      for (const cursor of cursors) cursor.narrow(bound);
    },
  };
}
