/** A planted fault: a tab that is alone believes to know all commits, also after one whose answer was lost. */
import type { Medium } from '../../medium.ts';
import { StorageFailed } from './sim-medium.ts';

export function believingOn(medium: Medium, isAlone: () => boolean): Medium {
  let isUnsure = false;
  const noting = async <T>(appending: Promise<T>): Promise<T> => {
    isUnsure = false;
    return appending.catch((reason: unknown) => {
      isUnsure = reason instanceof StorageFailed && reason.kind === 'commit';
      throw reason;
    });
  };
  return {
    async look(after, ranges) {
      const found = await medium.look(after, ranges);
      return isUnsure && isAlone() ? { ...found, log: [] } : found;
    },
    append: (...asked) => noting(medium.append(...asked)),
    appendAfter: (...asked) => noting(medium.appendAfter(...asked)),
    putBlocks: (blocks) => medium.putBlocks(blocks),
    trim: (trim) => medium.trim(trim),
    close: () => medium.close(),
  };
}
