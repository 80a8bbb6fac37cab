import { Ref } from '../index.ts';

/** Collection and id of a ref to a document. */
export const keyOf = ({ collection, id }: Ref): string => `${collection?.id ?? ''}/${id}`;

/**
 * A value as it will be stored: with refs in place of others, by `keyOf`, and without members that are null. Refs inside of sets and
 * functions stay.
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
