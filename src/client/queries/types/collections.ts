/** Types of the builders that iterate over arrays, pages and sets. */
import type { Expr, SetRef } from '../values.ts';
import type { Arg, Evaluated, Lambda } from './arguments.ts';
import type { Page } from './documents.ts';

export type Listed = readonly unknown[] | Page;
type Iterated = Listed | SetRef;

export type ElementOf<C> =
  C extends SetRef<infer T>
    ? T
    : C extends readonly (infer T)[]
      ? T
      : C extends Page<infer T>
        ? T
        : never;

/**
 * A lambda that is called with each element. Several parameters get the members of a tuple, a single parameter gets the whole tuple. The
 * type of the first parameter cannot depend on the number of parameters, so it is the intersection of both.
 */
export type Each<T, B> = (...parts: Parts<T>) => B;
type Parts<T> = [T] extends [never]
  ? Expr<never>[]
  : T extends readonly [infer First, ...infer Rest]
    ? [first: Expr<First & T>, ...rest: { [K in keyof Rest]: Expr<Rest[K]> }]
    : [element: Expr<T>, ...more: Expr<never>[]];

export type Mapped<C, B> = C extends readonly unknown[] ? Evaluated<B>[] : Page<Evaluated<B>>;

/** The type of a fold's result: over a page, it is a page with the one value. */
export type Folded<A, R> = [Evaluated<A>] extends [never]
  ? R
  : Evaluated<A> extends Page
    ? Page<R>
    : R;
type Fold<R> = <A extends Arg>(collection: A) => Expr<Folded<A, R>>;

/** A builder that returns its collection, or a part of it. */
interface Through<C extends Iterated> {
  <A extends C>(collection: Expr<A>, body: Each<ElementOf<A>, unknown>): Expr<A>;
  <T>(collection: readonly T[], body: Each<Evaluated<T>, unknown>): Expr<Evaluated<T>[]>;
  <A extends Arg>(collection: A, body: Lambda): Expr<Evaluated<A>>;
}

type Same = <A extends Arg>(collection: A) => Expr<Evaluated<A>>;
type Cut = <A extends Arg>(count: Arg, collection: A) => Expr<Evaluated<A>>;
type Joined = <A extends Arg>(elements: Arg, collection: A) => Expr<Evaluated<A>>;
type Truth = (collection: Arg) => Expr<boolean>;

export interface Collections {
  Map: {
    <C extends Listed, B>(collection: Expr<C>, body: Each<ElementOf<C>, B>): Expr<Mapped<C, B>>;
    <T, B>(collection: readonly T[], body: Each<Evaluated<T>, B>): Expr<Evaluated<B>[]>;
    <T = unknown>(collection: Arg, body: Lambda): Expr<T>;
  };
  Foreach: Through<Listed>;
  Filter: Through<Iterated>;
  Reduce: {
    <C extends Iterated, A extends Arg>(
      body: (sum: Expr<Evaluated<A>>, element: Expr<ElementOf<C>>) => unknown,
      initial: A,
      collection: Expr<C>,
    ): Expr<Folded<Expr<C>, Evaluated<A>>>;
    <A extends Arg>(body: Lambda, initial: A, collection: Arg): Expr<Evaluated<A>>;
  };
  Take: Cut;
  Drop: Cut;
  Prepend: Joined;
  Append: Joined;
  IsEmpty: Truth;
  IsNonEmpty: Truth;
  Count: Fold<number>;
  Sum: Fold<number>;
  Mean: Fold<number>;
  Any: Fold<boolean>;
  All: Fold<boolean>;
  Reverse: Same;
  Distinct: Same;
}
