import { queryText } from '../../index.ts';

type Members = Readonly<Record<string, unknown>>;

/**
 * Data for `Update` that turns `before` into `after`. It has only members that differ, so changes made elsewhere to other members stay. A
 * removed member is null, which deletes it.
 */
export function changesBetween(before: Members, after: Members): Members {
  const changes: Record<string, unknown> = {};
  for (const name of new Set([...Object.keys(before), ...Object.keys(after)])) {
    const was = before[name];
    const is = after[name];
    if (was === is || textOf(was) === textOf(is)) continue;
    changes[name] = isMembers(was) && isMembers(is) ? changesBetween(was, is) : (is ?? null);
  }
  return changes;
}

/** Equal values have equal texts. */
export const textOf = (value: unknown): string => queryText(value ?? null);

/** Whether a value is a plain object. Refs, times and instances of other classes are replaced as a whole. */
const isMembers = (value: unknown): value is Members =>
  typeof value === 'object' &&
  value !== null &&
  [Object.prototype, null].includes(Object.getPrototypeOf(value) as object | null);
