import { Ref } from '../index.ts';

/** Collection and id of a ref to a document, as text. */
export const keyOf = ({ collection, id }: Ref): string => `${collection?.id ?? ''}/${id}`;

/**
 * A value in the form in which it is stored: refs are replaced by those in `refs`, which are listed by `keyOf`, and members that are null
 * are left out. Refs inside sets and functions are not replaced.
 */
export function asStored(value: unknown, refs: ReadonlyMap<string, Ref>): unknown {
  if (value instanceof Ref) return refs.get(keyOf(value)) ?? value;
  if (Array.isArray(value)) return value.map((each) => asStored(each, refs));
  if (!isPlain(value)) return value;
  return Object.fromEntries(
    Object.entries(value)
      .filter(([, member]) => member !== null)
      .map(([name, member]) => [name, asStored(member, refs)]),
  );
}

const isPlain = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && Object.getPrototypeOf(value) === Object.prototype;
