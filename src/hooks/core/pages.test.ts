import { expect, test } from 'vitest';
import { q, queryText, type BurrowError, type Page } from '../../index.ts';
import { noPageOf, Pages, pagesRequest } from './pages.ts';
import { SharedQuery, type Queries } from './shared-queries.ts';

const SET = q.Documents(q.Collection('notes'));
const SCOPE = { partial: [], from: 'device' } as const;

/** Queries whose answers the test gives, by their text. */
function answeredByHand() {
  const asked = new Map<string, SharedQuery<Page<number>>>();
  const find = (query: Parameters<Queries['find']>[0]): SharedQuery<unknown> => {
    const text = queryText(query);
    const found = asked.get(text) ?? new SharedQuery<Page<number>>(() => () => undefined);
    asked.set(text, found);
    return found as SharedQuery<unknown>;
  };
  const last = (): SharedQuery<Page<number>> => [...asked.values()].at(-1) as never;
  return { queries: { find } as Queries, last };
}

test('after a failed page, pages can go forward and backward', () => {
  const { queries, last } = answeredByHand();
  const pages = new Pages<number>(queries, pagesRequest(SET, {})!);
  pages.subscribe(() => undefined);
  last().next({ data: [3, 4], before: [3], after: [5] }, SCOPE);
  expect(pages.get()).toMatchObject({ data: [3, 4], hasNext: true, hasPrevious: true });

  pages.next();
  const waiting = { data: [3, 4], isLoading: true, isStale: true };
  expect(pages.get()).toMatchObject({ ...waiting, hasNext: false, hasPrevious: false });
  last().error(new Error('copy_incomplete') as BurrowError);
  expect(pages.get()).toMatchObject({
    data: [3, 4],
    isStale: true,
    hasNext: true,
    hasPrevious: true,
  });

  pages.previous();
  last().next({ data: [1, 2], after: [3] }, SCOPE);
  expect(pages.get()).toMatchObject({ data: [1, 2], error: undefined, hasPrevious: false });
});

test('pages are not loading if the set is undefined or null', () => {
  for (const set of [undefined, null])
    expect(noPageOf(pagesRequest(set as undefined, {}))).toMatchObject({ isLoading: false });
  expect(noPageOf(pagesRequest(SET, {}))).toMatchObject({ isLoading: true });
});
