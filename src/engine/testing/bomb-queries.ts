/** Queries whose values grow, for tests in Node and in browsers. */
import { range, same } from './large-values.ts';

/** A wire query. */
type Query = unknown;
const obj = (fields: Record<string, unknown>): Query => ({ object: fields });
const v = (name: string): Query => ({ var: name });
/** Binds `x` to `first`, then repeatedly to the result of `next`. */
const doubled = (first: Query, next: Query, times = 60): Query => ({
  let: [{ x: first }, ...same(times, { x: next })],
  in: v('x'),
});
const reduced = (first: Query, next: Query, times = 1000): Query => ({
  reduce: { lambda: ['x', '_'], expr: next },
  initial: first,
  collection: range(times),
});
const twice = [v('x'), v('x')];
const megabyte: Query = { repeat: { repeat: 'a', number: 1024 }, number: 1024 };
const wide: Query = { repeat: { repeat: '€', number: 1024 }, number: 1024 };
const keys = (prefix: string): Query => ({
  to_object: {
    map: { lambda: 'n', expr: [{ format: `${prefix}%d`, values: v('n') }, v('x')] },
    collection: range(1000),
  },
});

/** The queries by name. All of them end with an error. */
export const BOMBS: Readonly<Record<string, Query>> = {
  'a text of 16 MiB doubled': doubled(megabyte, { concat: twice }),
  'a wide text doubled': doubled(wide, { concat: twice }),
  'texts kept': {
    map: { lambda: 'n', expr: { concat: [megabyte, 'b'] } },
    collection: range(1000),
  },
  'texts repeated': doubled('abcd', { repeat: v('x'), number: 1024 }),
  'widths of formats': {
    map: { lambda: 'n', expr: { format: '%1024s'.repeat(100), values: same(100, 'a') } },
    collection: range(2000),
  },
  'replaced by more': doubled('aaaa', { replacestr: v('x'), find: 'a', replace: 'aaaaaaaa' }),
  'replaced by more, with a pattern': doubled('aaaa', {
    replacestrregex: v('x'),
    pattern: 'a',
    replace: '$0$0$0$0$0$0$0$0',
  }),
  'parts of a text': {
    map: { lambda: 'n', expr: { ngram: { repeat: 'ab', number: 1024 }, min: 1, max: 2 } },
    collection: range(1000),
  },
  'arrays in arrays': doubled([0], twice),
  'arrays appended': doubled([0], { append: v('x'), collection: v('x') }),
  'arrays prepended in a fold': reduced([0], { prepend: v('x'), collection: v('x') }),
  'objects in objects': doubled(0, obj({ a: v('x'), b: v('x') })),
  'objects merged in a fold': reduced(obj({}), {
    merge: v('x'),
    with: obj({ a: v('x'), b: v('x') }),
  }),
  'many keys': doubled(0, keys('k')),
  'functions that hold functions': doubled(0, same(2, { query: { lambda: '_', expr: v('x') } })),
  'sets of sets': doubled({ documents: { collection: 'c' } }, { union: twice }),
  'a set of sets, read': {
    count: doubled({ documents: { collection: 'c' } }, { union: twice }, 18),
  },
  'sets turned round': {
    count: reduced({ documents: { collection: 'c' } }, { reverse: v('x') }, 100_000),
  },
  'compared with itself': {
    let: [{ a: doubled([0], twice, 30) }, { b: doubled([0], twice, 30) }],
    in: { equals: [v('a'), v('b')] },
  },
  flattened: { select_all: [], from: doubled([0], twice, 30) },
  'kept apart': { distinct: doubled([0], twice, 30) },
  'all pairs of joins': {
    count: reduced(
      { documents: { collection: 'c' } },
      { join: v('x'), with: { lambda: 'y', expr: { union: [v('x'), v('x')] } } },
    ),
  },
  written: {
    foreach: {
      lambda: '_',
      expr: {
        create: { collection: 'c' },
        params: obj({ data: obj({ a: { concat: same(4, megabyte) } }) }),
      },
    },
    collection: range(1000),
  },
  'rendered in texts': doubled('a', { format: '%^', values: [twice] }),
};
