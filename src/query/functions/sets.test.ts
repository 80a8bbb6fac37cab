import { expect, test } from 'vitest';
import { Ref } from '../../values/value.ts';
import { pureSession, shown } from '../testing/pure-session.ts';

const keys = { documents: { keys: null } };
const index = new Ref(0, 3, 32_768n);
const indexed = pureSession('4', { requireIndex: () => index });

test('match accepts its index as match or as index', () => {
  const set = '{"@set":{"match":{"@ref":{"id":"32768","collection":{"@ref":{"id":"indexes"}}}}';
  expect(shown({ match: 'by_x', terms: ['a', 1] }, indexed)).toBe(`${set},"terms":["a",1]}}`);
  expect(shown({ match: 'a', index: 'by_x' }, indexed)).toBe(`${set},"terms":"a"}}`);
  expect(shown({ match: 'by_x' }, indexed)).toBe(`${set}}}`);
});

test('match refuses undefined refs as index and in terms', () => {
  expect(shown({ match: { index: 'by_x' } })).toEqual(['invalid ref at ["match"]']);
  const terms = [1, { collection: 'nowhere' }];
  expect(shown({ match: 'by_x', terms }, indexed)).toEqual(['invalid argument at ["terms",1]']);
});

test('union, intersection and difference of arrays count equal values', () => {
  const operands = [
    [3, 1, 1],
    [1, 3, 3, 2],
  ];
  expect(shown({ union: operands })).toBe('[3,3,1,1,2]');
  expect(shown({ intersection: operands })).toBe('[3,1]');
  expect(shown({ difference: operands })).toBe('[1]');
  expect(shown('{"difference":[[1,1.0],[1]]}')).toBe('[1.0]');
});

test('set functions refuse mixed operands, empty lists and sets of different direction', () => {
  expect(shown({ union: [keys, [1]] })).toEqual(['invalid argument at ["union"]']);
  expect(shown({ union: [] })).toEqual(['invalid argument at ["union"]']);
  expect(shown({ union: [keys, 1, 2] })).toEqual([
    'invalid argument at ["union",1]',
    'invalid argument at ["union",2]',
  ]);
  const session = pureSession('4', {
    shapeOf: (set) => ({ reversed: ['op' in set && set.op === 'reverse'], history: false }),
  });
  expect(shown({ difference: [keys, { reverse: keys }] }, session)).toEqual([
    'invalid argument at ["difference"]',
  ]);
});

test('join accepts a pure lambda, written in place or as a value, or an index', () => {
  const pure = { lambda: 'x', expr: keys };
  const reads = { lambda: 'x', expr: { get: { var: 'x' } } };
  expect(shown({ join: keys, with: pure })).toContain('"with":{"api_version":"4","lambda":"x"');
  expect(shown({ join: keys, with: { query: pure } })).toContain('"with":{"api_version":"4"');
  expect(shown({ join: keys, with: reads })).toEqual(['invalid argument at ["with"]']);
  expect(shown({ join: keys, with: { query: reads } })).toEqual(['invalid argument at ["with"]']);
  expect(shown({ join: keys, with: { index: 'by_x' } })).toEqual(['invalid ref at ["with"]']);
  expect(shown({ join: keys, with: 'by_x' })).toEqual(['invalid argument at ["with"]']);
});

test('range reports undefined refs in both bounds', () => {
  const nowhere = { collection: 'nowhere' };
  expect(shown({ range: keys, from: nowhere, to: [nowhere] })).toEqual([
    'invalid ref at ["from"]',
    'invalid ref at ["to"]',
  ]);
  expect(shown({ range: keys, from: [], to: 5 })).toContain('"to":[5]');
});

test('a range of events is refused where it is made', () => {
  const listing = pureSession('4', { shapeOf: () => ({ reversed: [false], history: true }) });
  const range = { range: { events: keys }, from: 1, to: 2 };
  expect(shown([range], listing)).toEqual(['invalid argument at [0]']);
});

test('events of events are refused', () => {
  expect(shown([{ events: { events: keys } }])).toEqual(['invalid argument at [0]']);
});
