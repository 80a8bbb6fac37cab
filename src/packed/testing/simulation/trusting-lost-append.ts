/**
 * A planted fault: a tab that holds the lease assumes that it knows all commits, even after an append whose result was
 * lost.
 */
import type { Medium } from '../../medium.ts';
import { StorageFailed } from './sim-medium.ts';

export function trustingLostAppend(medium: Medium, holdsLease: () => boolean): Medium {
  let isUnsure = false;
  const noting = async <T>(appending: Promise<T>): Promise<T> => {
    isUnsure = false;
    return appending.catch((reason: unknown) => {
      isUnsure = reason instanceof StorageFailed && reason.kind === 'commit';
      throw reason;
    });
  };
  return {
    async read(after, ranges) {
      const found = await medium.read(after, ranges);
      return isUnsure && holdsLease() ? { ...found, log: [] } : found;
    },
    append: (...asked) => noting(medium.append(...asked)),
    appendAfter: (...asked) => noting(medium.appendAfter(...asked)),
    putBlocks: (blocks) => medium.putBlocks(blocks),
    trim: (...trim) => medium.trim(...trim),
    close: () => medium.close(),
  };
}
