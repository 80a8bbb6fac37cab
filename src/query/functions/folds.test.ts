import { expect, test } from 'vitest';
import { LIMITS } from '../../limits.ts';
import type { Value } from '../../values/value.ts';
import { pureSession, run, shown } from '../testing/pure-session.ts';

const setOf = (...elements: readonly Value[]): ReturnType<typeof pureSession> =>
  pureSession('4', { elements: () => elements, exists: () => elements.length > 0 });
const set = { documents: { keys: null } };

test('sum stays an Integer until the first Double, and wraps at 64 bits', () => {
  expect(shown({ sum: [1, 2] })).toBe('3');
  expect(shown('{"sum":[1,2.0,3]}')).toBe('6.0');
  expect(shown('{"sum":[9223372036854775807,1]}')).toBe('-9223372036854775808');
  expect(shown({ sum: [] })).toBe('0');
  expect(shown({ sum: [1, 'x'] })).toEqual(['invalid argument at ["sum"]']);
});

test('mean is always a Double', () => {
  expect(shown({ mean: [1, 3] })).toBe('2.0');
});

test('any and all evaluate every element', () => {
  expect(shown({ any: [] })).toBe('false');
  expect(shown({ all: [] })).toBe('true');
  expect(shown({ all: [false, 1] })).toEqual(['invalid argument at ["all"]']);
});

test('max and min return the last of equal elements', () => {
  expect(shown('{"max":[1,1.0]}')).toBe('1.0');
  expect(shown('{"min":[1.0,1]}')).toBe('1');
  expect(shown({ max: [[]] })).toEqual(['invalid argument at ["max"]']);
  expect(shown({ max: 5 })).toEqual(['invalid argument at ["max"]']);
  expect(shown({ min: [{ collection: 'nowhere' }, 1] })).toEqual(['invalid ref at ["min"]']);
});

test('max and min report every undefined ref, up to the limit of faults', () => {
  const undefinedRefs = [3, { collection: 'a' }, 1, { collection: 'b' }, { reverse: set }];
  for (const key of ['max', 'min'])
    expect(run({ [key]: undefinedRefs })).toMatchObject({
      faults: ['a', 'b'].map((name) => ({
        code: 'invalid ref',
        position: [key],
        description: `Ref refers to undefined collection '${name}'`,
      })),
    });
  const many = Array.from({ length: LIMITS.faults + 1 }, (_, i) => ({ collection: `c${i}` }));
  expect(run({ max: many })).toMatchObject({ faults: { length: LIMITS.faults } });
});

test('comparisons refuse sets that have no place in the order', () => {
  expect(shown({ max: [{ reverse: set }, 1] })).toEqual(['invalid argument at ["max"]']);
  expect(shown({ lt: [1, { singleton: { keys: null } }] })).toEqual(['invalid argument at ["lt"]']);
});

test('folds accept sets', () => {
  const session = setOf(3, 1, 2);
  expect(shown([{ count: set }, { sum: set }, { max: set }, { first: set }], session)).toBe(
    '[3,6,3,3]',
  );
  expect(shown([{ is_empty: set }, { is_nonempty: { keys: null } }], session)).toBe('[false,true]');
  expect(shown({ first: set }, setOf())).toEqual(['invalid argument at ["first"]']);
  expect(shown({ mean: set }, setOf())).toEqual(['invalid argument at ["mean"]']);
});

test('last reads a set backwards', () => {
  const session = pureSession('4', {
    elements: (read) => ['op' in read ? read.op : 'ref'],
  });
  expect(shown({ last: set }, session)).toBe('"reverse"');
});

test('a fold of a page returns a page with the result', () => {
  const session = pureSession('4', {
    paginate: () => ({ kind: 'page', before: [0], after: [9], data: [1, 2], cursors: undefined }),
  });
  const page = { paginate: set };
  const reduce = { lambda: ['a', 'x'], expr: [{ var: 'a' }, { var: 'x' }] };
  expect(shown({ sum: page }, session)).toBe('{"before":[0],"after":[9],"data":[3]}');
  expect(shown({ reduce, initial: 0, collection: page }, session)).toBe(
    '{"before":[0],"after":[9],"data":[[[0,1],2]]}',
  );
});

test('reduce requires a lambda that accepts two arguments', () => {
  const reduce = { lambda: ['a', 'b', 'c'], expr: 1 };
  expect(shown({ reduce, initial: 0, collection: [1] })).toEqual([
    'invalid argument at ["reduce","lambda"]',
  ]);
  expect(shown({ reduce: { lambda: 'x', expr: { var: 'x' } }, initial: 0, collection: [1] })).toBe(
    '[0,1]',
  );
});

test('distinct keeps the first of all elements that are equal in value and type', () => {
  const query =
    '{"distinct":[1,1.0,[1],[1.0],[1],{"object":{"a":1,"b":2}},{"object":{"b":2,"a":1}},null,null]}';
  expect(shown(query)).toBe('[1,1.0,[1],[1.0],{"a":1,"b":2},null]');
  const many = Array.from({ length: 20_000 }, (_, index) => ({ object: { n: index } }));
  expect(run({ count: { distinct: many } })).toEqual({ value: 20_000 });
});

test('distinct and reverse of a set give a set', () => {
  expect(shown({ reverse: { distinct: { keys: null } } })).toBe(
    '{"@set":{"reverse":{"@set":{"distinct":{"@ref":{"id":"keys"}}}}}}',
  );
});
