import { Double, Ref } from '../index.ts';

/** Collection and id of a ref to a document, as text. */
export const keyOf = ({ collection, id }: Ref): string => `${collection?.id ?? ''}/${id}`;

/** Wire JSON in which each Double has a tag. */
export type Exact = unknown;

const TEXT_OR_DOUBLE = /"(?:[^"\\]|\\.)*"|-?\d+\.\d+(?:E-?\d+)?/g;

/** Marks the Doubles in wire JSON text: values of the page have plain numbers in their place. Undefined if there are none. */
export function exactIn(text: string): Exact {
  let hasDoubles = false;
  const marked = text.replace(TEXT_OR_DOUBLE, (token) => {
    if (token.startsWith('"')) return token;
    hasDoubles = true;
    return `{"@double":"${token}"}`;
  });
  return hasDoubles ? JSON.parse(marked) : undefined;
}

/**
 * A value in the form in which it is stored: refs are replaced by those in `refs`, which are listed by `keyOf`, and members that are null
 * are left out. Refs inside sets and functions are not replaced.
 * @param exact the value as it was read: a number that is still in its place is a Double if it was one
 */
export function asStored(value: unknown, refs: ReadonlyMap<string, Ref>, exact: Exact): unknown {
  if (typeof value === 'number') {
    const double = memberOf(exact, '@double');
    return double !== undefined && Object.is(value, Number(double)) ? new Double(value) : value;
  }
  if (value instanceof Ref) return refs.get(keyOf(value)) ?? value;
  if (Array.isArray(value))
    return value.map((each, at) => asStored(each, refs, memberOf(exact, at)));
  if (!isPlain(value)) return value;
  // The wire form of an object with a member that looks like a tag.
  const exactMembers = memberOf(exact, '@obj') ?? exact;
  return Object.fromEntries(
    Object.entries(value)
      .filter(([, member]) => member !== null)
      .map(([name, member]) => [name, asStored(member, refs, memberOf(exactMembers, name))]),
  );
}

const memberOf = (exact: Exact, name: string | number): Exact =>
  Object.getOwnPropertyDescriptor(Object(exact), name)?.value;

const isPlain = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && Object.getPrototypeOf(value) === Object.prototype;
