/** What builders return, and how many arguments those take that accept any number. */
import type { Expr } from '../values.ts';
import type { Arg } from './arguments.ts';

/** `q.Get(ref)` builds an expression; `client.Get(ref)` runs it at once. Both are described by the same types. */
export type Mode = 'build' | 'run';

/** What a builder returns for a result of type `T`. */
export type Returns<M extends Mode, T> = { build: Expr<T>; run: Promise<T> }[M];

/** One or more arguments, or a list of any length: `q.Union(...sets)`. */
export type Some<A extends readonly Arg[]> = A extends readonly [] | readonly [Arg, ...Arg[]]
  ? [first: Arg, ...others: Arg[]]
  : A;
