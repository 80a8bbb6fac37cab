import { queryText } from '../../index.ts';

type Members = Readonly<Record<string, unknown>>;

/**
 * What `Update` makes of `before` so that it becomes `after`: only what differs, so that changes made elsewhere to the rest stay. What is
 * gone is null, which removes it.
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

/** No ref, time or other value of a class: those are changed as a whole. */
const isMembers = (value: unknown): value is Members =>
  typeof value === 'object' &&
  value !== null &&
  [Object.prototype, null].includes(Object.getPrototypeOf(value) as object | null);
