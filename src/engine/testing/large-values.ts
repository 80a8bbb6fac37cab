/** Queries with a short text and large values. Imports no engine, because programs that attack a hub from outside use it too. */
import type { Query } from './engine-world.ts';

export const range = (count: number): readonly number[] =>
  Array.from({ length: count }, (_, n) => n);

export const same = <T>(count: number, item: T): readonly T[] =>
  Array.from({ length: count }, () => item);

const made: Query = { var: 'a' };

/** Applies `twice`, an expression over the variable `a`, to `first`, `doublings` times. */
const doubled = (first: Query, twice: Query, doublings: number): Query => ({
  reduce: { lambda: ['a', '_'], expr: twice },
  initial: first,
  collection: range(doublings),
});

/** A text of 2^`doublings` times `part`. */
export const longText = (doublings: number, part = 'a'): Query =>
  doubled(part, { concat: [made, made] }, doublings);

/** An array of 2^`doublings` times `item`. */
export const longList = (doublings: number, item: Query): Query =>
  doubled([item], { append: made, collection: made }, doublings);

/** Evaluates an expression `count` times, and counts the results. */
export const repeated = (count: number, expr: Query): Query => ({
  count: { map: { lambda: '_', expr }, collection: range(count) },
});
