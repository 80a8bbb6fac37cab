/**
 * Types that make values of the wrong kind type errors: a document where its ref is expected, a set where its elements are. They are
 * intersected with the type of the argument, and require a member that no value has; its name is part of the error. Values whose type is
 * unknown are accepted.
 */
import type { Ref, SetRef } from '../values.ts';
import type { Evaluated } from './arguments.ts';

/** A ref or a set is expected. */
export type NoDocument<A> = NoDocumentAs<Evaluated<A>>;
/** A ref is expected. */
export type NoSetOrDocument<A> = Refused<
  Evaluated<A>,
  SetRef,
  'this is a set: write to each document of a page, with q.Map(q.Paginate(set), …)',
  NoDocumentAs<Evaluated<A>>
>;
/** An array or a page is expected. */
export type NoSet<A> = Refused<
  Evaluated<A>,
  SetRef,
  'this is a set: read a page of it, with q.Paginate(set)'
>;
/** A collection is expected. */
export type NoName<A> = Refused<
  Evaluated<A>,
  string,
  'this is a name: use q.Collection(name)',
  NoDocumentAs<Evaluated<A>>
>;

type NoDocumentAs<V> = Refused<
  V,
  { readonly ref: Ref; readonly ts: number },
  'this is a document: use its ref',
  Refused<
    V,
    { readonly data: readonly unknown[] },
    'this is a page: use its elements, with q.Map',
    Refused<V, string | number, 'this is not a ref: use q.Ref(collection, id)'>
  >
>;

/**
 * A condition on a tuple of a length that is not known for a type parameter: there, TypeScript skips the branch with the advice, so
 * functions with type parameters may pass their arguments on.
 */
type Refused<V, Wrong, Advice extends string, Otherwise = unknown> = [
  0,
  ...NothingIf<V, Wrong>,
] extends [0]
  ? { readonly [A in Advice]: never }
  : Otherwise;

/** `never`, which `any` and the variables of a lambda without types are here, is accepted. A ref has all members of a set. */
type NothingIf<V, Wrong> = [V] extends [never]
  ? [0]
  : [V] extends [Ref]
    ? [0]
    : [V] extends [Wrong]
      ? []
      : [0];
