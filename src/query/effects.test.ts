import { expect, test } from 'vitest';
import { QueryFailure } from '../errors.ts';
import { checkEffect } from './effects.ts';
import { effectOf } from './lambda-value.ts';
import { parseLambda, parseQuery } from './parse.ts';

const places = (query: unknown, allows: 'pure' | 'read'): unknown => {
  try {
    checkEffect(parseQuery(JSON.stringify(query), '4'), allows, 'here');
    return [];
  } catch (failure) {
    if (!(failure instanceof QueryFailure)) throw failure;
    return failure.faults.map(({ position, description }) => [position, description]);
  }
};

test('checkEffect() reports every form that does too much, where it stands', () => {
  const query = [{ new_id: null }, { and: [{ count: [] }, { call: 'f' }] }];
  expect(places(query, 'read')).toEqual([
    [[0], 'Call performs a write, which is not allowed in here.'],
    [[1, 'and', 1], 'Call performs a write, which is not allowed in here.'],
  ]);
  expect(places(query, 'pure')).toHaveLength(3);
});

test('checkEffect() looks into lambdas that the query applies, not into those it makes', () => {
  const lambda = { lambda: 'x', expr: { new_id: null } };
  expect(places({ map: lambda, collection: [] }, 'read')).toHaveLength(1);
  expect(places({ query: lambda }, 'read')).toEqual([]);
});

test('effectOf() tells all that a lambda may do', () => {
  expect(effectOf(parseLambda('"lambda":"x","expr":[{"var":"x"}]', '4'))).toBe('pure');
  expect(effectOf(parseLambda('"lambda":"x","expr":{"get":{"var":"x"}}', '4'))).toBe('read');
  expect(effectOf(parseLambda('"lambda":"x","expr":{"call":{"var":"x"}}', '4'))).toBe('write');
});
