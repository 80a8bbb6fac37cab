/** Types of the builders that iterate over arrays, pages and sets. */
import type { Expr, SetRef } from '../values.ts';
import type { Arg, Evaluated, Lambda } from './arguments.ts';
import type { Page } from './documents.ts';
import type { NoSet } from './misplaced.ts';
import type { Mode, Returns } from './returns.ts';

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
export type ElementFunction<T, B = unknown> = (...parts: Parts<T>) => B;
type Parts<T> = [T] extends [never]
  ? Expr<never>[]
  : T extends readonly [infer First, ...infer Rest]
    ? [first: Expr<FirstOrAll<First, T>>, ...rest: { [K in keyof Rest]: Expr<Rest[K]> }]
    : [element: Expr<T>, ...more: Expr<never>[]];

/** The first member of a tuple, where the lambda has several parameters; otherwise the whole tuple. */
type FirstOrAll<First, Tuple> = First & Tuple;

/** Type of what a lambda `F` makes of an element `T`. There, the number of its parameters says what the first of them is. */
export type MadeOf<T, F extends (...parts: never) => unknown> = [T] extends [never]
  ? Evaluated<ReturnType<F>>
  : T extends readonly [infer First, ...unknown[]]
    ? WithFirst<
        Evaluated<ReturnType<F>>,
        FirstOrAll<First, T>,
        Parameters<F>['length'] extends 0 | 1 ? T : First
      >
    : Evaluated<ReturnType<F>>;

/** `V`, with `To` in place of `From`, which may be `V` itself, or a member or element of it. */
type WithFirst<V, From, To> = V extends From
  ? To
  : V extends Expr
    ? V
    : [Extract<V[keyof V], From>] extends [never]
      ? V
      : { [K in keyof V]: V[K] extends infer Each ? (Each extends From ? To : Each) : never };

export type Mapped<C, F extends (...parts: never) => unknown> = C extends readonly unknown[]
  ? MadeOf<ElementOf<C>, F>[]
  : Page<MadeOf<ElementOf<C>, F>>;

/** `T`, unless nothing tells it. Where a query is passed to a client, TypeScript tries `never` first. */
type Known<T, Otherwise> = [T] extends [never] ? Otherwise : T;

/** The union of two types, or only one of them if it contains the other: `number[]` for an array that was empty at first. */
type Either<A, B> = [B] extends [A] ? A : [A] extends [B] ? B : A | B;

/** The type of a fold's result: over a page, it is a page with the one value. */
export type Folded<A, R> = [Evaluated<A>] extends [never]
  ? R
  : Evaluated<A> extends Page
    ? Page<R>
    : R;
type Fold<M extends Mode, R> = <A extends Arg>(collection: A) => Returns<M, Folded<A, R>>;

type Same<M extends Mode> = <A extends Arg>(collection: A) => Returns<M, Evaluated<A>>;
type Cut<M extends Mode> = <A extends Arg>(
  count: Arg,
  collection: A & NoSet<A>,
) => Returns<M, Evaluated<A>>;
type Joined<M extends Mode> = <E extends Arg, A extends Arg>(
  elements: E,
  collection: A,
) => Returns<M, WithElements<Evaluated<A>, Evaluated<E>>>;
/** An array with more elements: with a value, or with those of an array. */
type WithElements<C, E> = C extends readonly (infer T)[]
  ? (T | (E extends readonly (infer Each)[] ? Each : E))[]
  : C;
type Truth<M extends Mode> = (collection: Arg) => Returns<M, boolean>;

export interface Collections<M extends Mode> {
  /** Applies a lambda to each element of an array or page. */
  Map: {
    /** Applies a lambda to each element of an array or page. */
    <C extends Listed, F extends ElementFunction<ElementOf<C>>>(
      collection: Expr<C>,
      body: F,
    ): Returns<M, Mapped<C, F>>;
    /** Applies a lambda to each element of an array or page. */
    <T, F extends ElementFunction<Evaluated<T>>>(
      collection: readonly T[],
      body: F,
    ): Returns<M, MadeOf<Evaluated<T>, F>[]>;
    /** Applies a lambda to each element of an array or page. */
    <T extends Page>(collection: Expr<Page>, body: Expr): Returns<M, Known<T, Page>>;
    /** Applies a lambda to each element of an array or page. */
    <T extends unknown[]>(
      collection: Expr<readonly unknown[]> | readonly unknown[],
      body: Expr,
    ): Returns<M, Known<T, unknown[]>>;
    /** Applies a lambda to each element of an array or page. */
    <T = unknown, A extends Arg = Arg>(collection: A & NoSet<A>, body: Lambda): Returns<M, T>;
  };
  /** Applies a lambda to each element for its side effects and returns the input unchanged. */
  Foreach: {
    /** Applies a lambda to each element for its side effects and returns the input unchanged. */
    <A extends Listed>(collection: Expr<A>, body: ElementFunction<ElementOf<A>>): Returns<M, A>;
    /** Applies a lambda to each element for its side effects and returns the input unchanged. */
    <T>(collection: readonly T[], body: ElementFunction<Evaluated<T>>): Returns<M, Evaluated<T>[]>;
    /** Applies a lambda to each element for its side effects and returns the input unchanged. */
    <A extends Arg>(collection: A & NoSet<A>, body: Lambda): Returns<M, Evaluated<A>>;
  };
  /** Keeps the elements for which the lambda returns true. The result of filtering a set is a set, filtered when it is read. */
  Filter: {
    /** Keeps the elements for which the lambda returns true. The result of filtering a set is a set, filtered when it is read. */
    <A extends Iterated>(collection: Expr<A>, body: ElementFunction<ElementOf<A>>): Returns<M, A>;
    /** Keeps the elements for which the lambda returns true. The result of filtering a set is a set, filtered when it is read. */
    <T>(collection: readonly T[], body: ElementFunction<Evaluated<T>>): Returns<M, Evaluated<T>[]>;
    /** Keeps the elements for which the lambda returns true. The result of filtering a set is a set, filtered when it is read. */
    <A extends Arg>(collection: A, body: Lambda): Returns<M, Evaluated<A>>;
  };
  /** Folds from the left: the lambda takes the accumulator and the next element and returns the next accumulator. */
  Reduce: {
    /** Folds from the left: the lambda takes the accumulator and the next element and returns the next accumulator. */
    <C extends Iterated, A extends Arg, B>(
      body: (sum: Expr<Evaluated<A>>, element: Expr<ElementOf<C>>) => B,
      initial: A,
      collection: Expr<C>,
    ): Returns<M, Folded<Expr<C>, Either<Evaluated<A>, Evaluated<B>>>>;
    /** Folds from the left: the lambda takes the accumulator and the next element and returns the next accumulator. */
    <T, A extends Arg, B>(
      body: (sum: Expr<Evaluated<A>>, element: Expr<Evaluated<T>>) => B,
      initial: A,
      collection: readonly T[],
    ): Returns<M, Either<Evaluated<A>, Evaluated<B>>>;
    /** Folds from the left: the lambda takes the accumulator and the next element and returns the next accumulator. */
    <A extends Arg>(body: Lambda, initial: A, collection: Arg): Returns<M, Evaluated<A>>;
  };
  /** The first elements. On a page, `after` moves to the first element that is left out. */
  Take: Cut<M>;
  /** All but the first elements. On a page, `before` moves to the first element that is kept. */
  Drop: Cut<M>;
  /** Adds elements at the start of an array. */
  Prepend: Joined<M>;
  /** Adds elements at the end of an array. */
  Append: Joined<M>;
  /** Whether there are no elements; for a set, none that the caller may read. */
  IsEmpty: Truth<M>;
  /** Whether there is at least one element. */
  IsNonEmpty: Truth<M>;
  /** The number of elements. */
  Count: Fold<M, number>;
  /** The sum of all elements: an Integer unless one of them is a Double; 0 if there are none. */
  Sum: Fold<M, number>;
  /** The arithmetic mean. */
  Mean: Fold<M, number>;
  /** Whether any element is true. Every element is checked, so an element that is not a Boolean fails even after a true one. */
  Any: Fold<M, boolean>;
  /** Whether every element is true; true if there are none. */
  All: Fold<M, boolean>;
  /** The elements in reverse order. For a set: the set read backwards. */
  Reverse: Same<M>;
  /** Each element once, at its first position. For a set: the set without repeated adjacent elements. */
  Distinct: Same<M>;
}
