/** Short queries that take long to execute. Anybody who has a token can send them. */
import type { Query } from '../../src/engine/testing/engine-world.ts';
import { longList, longText, range, repeated } from '../../src/engine/testing/large-values.ts';
import { collection, variable } from './prepare.ts';

const text = variable('s');
const all = { match: { index: 'notes_all' } };

/** A query of nearly the greatest accepted length. */
const longQuery = (): Query => {
  const member = { object: { id: 12_345, name: 'abcdef', ok: true } };
  return { count: Array.from({ length: 150_000 }, () => member) };
};

export const QUERIES: Readonly<Record<string, () => Query>> = {
  'a search in a long text, 200 times': () => ({
    let: { s: longText(23) },
    in: repeated(200, { containsstr: text, search: 'aaaaaaaaab' }),
  }),
  'a long array counted 9,000 times': () => ({
    let: { a: longList(17, 0) },
    in: repeated(9000, { count: variable('a') }),
  }),
  'Casefold with NFKC, 50 times': () => ({
    let: { s: longText(17, '\ufdfa\u00c5\u1e69') },
    in: repeated(50, { casefold: text, normalizer: 'NFKC' }),
  }),
  'a union of 30 sets of 30,000': () => ({ count: { union: range(30).map(() => all) } }),
  'ten pages of what a predicate hides': () =>
    range(10).map((i) => ({ paginate: { documents: collection('notes') }, size: i + 1 })),
  'TitleCase of 4 M characters': () => ({ let: { s: longText(22) }, in: { titlecase: text } }),
  'ToInteger of 8 M digits': () => ({ let: { s: longText(23, '7') }, in: { to_integer: text } }),
  'ten FindStrRegex': () => ({
    let: { s: longText(20) },
    in: repeated(10, { findstrregex: text, pattern: '(a|aa)+$x' }),
  }),
  'an answer of 50 MB': () => ({ let: { s: longText(20) }, in: range(50).map(() => text) }),
  'a query of 8 MB': longQuery,
};
