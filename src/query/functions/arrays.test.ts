import { expect, test } from 'vitest';
import type { Page, Value } from '../../values/value.ts';
import { pureSession, run, shown } from '../testing/pure-session.ts';

const PAGE: Page = {
  kind: 'page',
  before: [0],
  after: [9],
  data: [1, 2, 3],
  cursors: () => [[1], [2], [3]],
};
const pages = pureSession('4', { paginate: () => PAGE });
const page = { paginate: { keys: null } };
const onPage = (query: unknown): Value => {
  const outcome = run(query, pages);
  if ('faults' in outcome) throw new Error(JSON.stringify(outcome.faults));
  return outcome.value;
};

test('map keeps the cursors of a page', () => {
  const doubled = { map: { lambda: 'x', expr: [{ var: 'x' }] }, collection: page };
  expect(onPage(doubled)).toEqual({ ...PAGE, data: [[1], [2], [3]] });
});

test('map and foreach refuse sets', () => {
  const lambda = { lambda: 'x', expr: 1 };
  const collection = { documents: { keys: null } };
  expect(shown({ map: lambda, collection })).toEqual(['invalid argument at ["collection"]']);
  expect(shown({ foreach: lambda, collection: { keys: null } })).toEqual([
    'invalid argument at ["collection"]',
  ]);
});

test('take sets `after` to the first element dropped', () => {
  expect(onPage({ take: 2, collection: page })).toMatchObject({ data: [1, 2], after: [3] });
  expect(onPage({ take: 0, collection: page })).toMatchObject({ data: [], after: [1] });
  expect(onPage({ take: 3, collection: page })).toEqual(PAGE);
  expect(onPage({ take: -1, collection: page })).toMatchObject({ data: [], after: [0] });
});

test('drop sets `before` to the first element kept', () => {
  expect(onPage({ drop: 1, collection: page })).toMatchObject({ data: [2, 3], before: [2] });
  expect(onPage({ drop: 5, collection: page })).toMatchObject({ data: [], before: [9] });
  expect(onPage({ drop: -1, collection: page })).toEqual(PAGE);
});

test('take after filter uses the cursors of the remaining elements', () => {
  const odd = { lambda: 'x', expr: { not: { equals: [{ var: 'x' }, 2] } } };
  const filtered = { filter: odd, collection: page };
  expect(onPage({ take: 1, collection: filtered })).toMatchObject({ data: [1], after: [3] });
});

test('the cursors of a derived page are computed only once', () => {
  let times = 0;
  const cursors = () => {
    times += 1;
    return [[1], [2], [3]];
  };
  const counting = pureSession('4', { paginate: () => ({ ...PAGE, cursors }) });
  const reversed = { reverse: { reverse: page } };
  const taken = [0, 1, 2].map((take) => ({ take, collection: { var: 'r' } }));
  run({ let: [{ r: reversed }], in: taken }, counting);
  expect(times).toBe(1);
});

test('filter reports every element whose result is not a Boolean, with its index', () => {
  const lambda = { lambda: 'x', expr: { var: 'x' } };
  expect(shown({ filter: lambda, collection: [1, true, null] })).toEqual([
    'invalid argument at [0]',
    'invalid argument at [2]',
  ]);
});

test('filter of a set gives a set, and its lambda can read but not call functions', () => {
  const collection = { documents: { keys: null } };
  const lambda = { lambda: 'x', expr: { exists: { var: 'x' } } };
  expect(shown({ filter: lambda, collection })).toContain('"filter":{"api_version":"4","lambda"');
  expect(shown({ filter: { lambda: 'x', expr: { call: 'f' } }, collection })).toEqual([
    'invalid argument at ["filter"]',
  ]);
});

test('append and prepend accept one element or several, and only an array as collection', () => {
  expect(shown({ append: 1, collection: [0] })).toBe('[0,1]');
  expect(shown({ prepend: [[1]], collection: [0] })).toBe('[[1],0]');
  expect(run({ append: 1, collection: page }, pages)).toHaveProperty('faults');
});

test('take and drop accept any Integer', () => {
  expect(shown('{"take":9223372036854775807,"collection":[1]}')).toBe('[1]');
  expect(shown('{"drop":9223372036854775807,"collection":[1]}')).toBe('[]');
});
