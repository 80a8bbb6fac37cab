/** Queries whose text is short and whose values are large. Imports no engine: what attacks a hub from outside uses it too. */
import type { Query } from './engine-world.ts';

export const range = (count: number): readonly number[] =>
  Array.from({ length: count }, (_, n) => n);

export const same = <T>(count: number, item: T): readonly T[] =>
  Array.from({ length: count }, () => item);

const made: Query = { var: 'a' };

/** `first` put through `twice`, an expression over the variable `a`, so many times. */
const doubled = (first: Query, twice: Query, doublings: number): Query => ({
  reduce: { lambda: ['a', '_'], expr: twice },
  initial: first,
  collection: range(doublings),
});

/** A text of 2 to the power of `doublings` times `part`. */
export const longText = (doublings: number, part = 'a'): Query =>
  doubled(part, { concat: [made, made] }, doublings);

/** An array of 2 to the power of `doublings` times `item`. */
export const longList = (doublings: number, item: Query): Query =>
  doubled([item], { append: made, collection: made }, doublings);

/** Evaluates an expression so often, and counts. */
export const repeated = (count: number, expr: Query): Query => ({
  count: { map: { lambda: '_', expr }, collection: range(count) },
});
