import { queryText } from '../../index.ts';

type Members = Readonly<Record<string, unknown>>;

/**
 * Data for `Update` that turns `before` into `after`. It has only members that differ, so changes made elsewhere to other members stay. A
 * removed member is null, which deletes it.
 */
export function changesBetween(before: Members, after: Members): Members {
  const changes: [string, unknown][] = [];
  for (const name of new Set([...Object.keys(before), ...Object.keys(after)])) {
    const was = memberOf(before, name);
    const is = memberOf(after, name);
    if (was === is || textOf(was) === textOf(is)) continue;
    changes.push([name, isMembers(was) && isMembers(is) ? changesBetween(was, is) : (is ?? null)]);
  }
  return Object.fromEntries(changes);
}

/** Undefined if the object has no such member of its own: every object inherits `constructor` and others. */
const memberOf = (members: Members, name: string): unknown =>
  Object.hasOwn(members, name) ? members[name] : undefined;

/** Equal values have equal texts. */
export const textOf = (value: unknown): string => queryText(value ?? null);

/** Whether a value is a plain object. Refs, times and instances of other classes are replaced as a whole. */
const isMembers = (value: unknown): value is Members =>
  typeof value === 'object' &&
  value !== null &&
  [Object.prototype, null].includes(Object.getPrototypeOf(value) as object | null);
