import { expect, test } from 'vitest';
import { LIMITS } from '../../limits.ts';
import { shown } from '../testing/pure-session.ts';

const object = (members: object): unknown => ({ object: members });

test('merge removes a member if its new value or the result of the lambda is null', () => {
  const left = object({ a: 1, b: 2 });
  expect(shown({ merge: left, with: [object({ a: null }), object({ a: 3 })] })).toBe(
    '{"b":2,"a":3}',
  );
  const lambda = { lambda: ['key', 'left', 'right'], expr: [{ var: 'key' }, { var: 'left' }] };
  expect(shown({ merge: left, with: object({ b: 9, c: 9 }), lambda })).toBe(
    '{"a":1,"b":["b",2],"c":["c",null]}',
  );
  const none = { lambda: ['_', '_', '_'], expr: null };
  expect(shown({ merge: left, with: object({ b: 9 }), lambda: none })).toBe('{"a":1}');
});

test('merge reports every operand that is not an object', () => {
  expect(shown({ merge: 1, with: 2 })).toEqual([
    'invalid argument at ["merge"]',
    'invalid argument at ["with"]',
  ]);
  expect(shown({ merge: object({}), with: [1, object({}), 2] })).toEqual([
    'invalid argument at ["with",0]',
    'invalid argument at ["with",2]',
  ]);
});

test('to_object reports every invalid pair', () => {
  expect(shown({ to_object: [['a', 1], ['b'], [1, 1], 'c'] })).toEqual([
    'invalid argument at ["to_object",1]',
    'invalid argument at ["to_object",2]',
    'invalid argument at ["to_object",3]',
  ]);
  expect(shown({ to_object: 5 })).toEqual(['invalid argument at ["to_object"]']);
});

test('merge and to_object stop at the limit of faults', () => {
  const numbers = Array.from({ length: LIMITS.faults + 1 }, (_, n) => n);
  expect(shown({ merge: object({}), with: numbers })).toHaveLength(LIMITS.faults);
  expect(shown({ to_object: numbers })).toHaveLength(LIMITS.faults);
});

test('to_object and to_array are inverse, and keep nulls', () => {
  expect(shown({ to_object: { to_array: object({ a: null, b: [1] }) } })).toBe(
    '{"a":null,"b":[1]}',
  );
  expect(shown({ to_array: [1] })).toBe('[1]');
});
