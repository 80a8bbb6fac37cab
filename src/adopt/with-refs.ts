import { Ref } from '../index.ts';

/** Collection and id of a ref to a document. */
export const keyOf = ({ collection, id }: Ref): string => `${collection?.id ?? ''}/${id}`;

/** A value with refs in place of others, by `keyOf`. Refs inside of sets and functions stay. */
export function withRefs(value: unknown, refs: ReadonlyMap<string, Ref>): unknown {
  if (refs.size === 0) return value;
  if (value instanceof Ref) return refs.get(keyOf(value)) ?? value;
  if (Array.isArray(value)) return value.map((each) => withRefs(each, refs));
  if (!isPlain(value)) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, member]) => [name, withRefs(member, refs)]),
  );
}

const isPlain = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && Object.getPrototypeOf(value) === Object.prototype;
