import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { anyInteger, anyValue } from './arbitrary.ts';
import { compareValues } from './compare.ts';
import { equalValues } from './equal.ts';
import {
  Action,
  Bytes,
  DateValue,
  Double,
  isArray,
  isKinded,
  isObject,
  PENDING,
  PendingTime,
  Ref,
  Time,
  UnresolvedRef,
  Uuid,
  type Document,
  type Event,
  type Lambda,
  type Page,
  type SetValue,
  type Value,
} from './value.ts';

const object = (...members: readonly (readonly [string, Value])[]): Value => new Map(members);
const ref = new Ref(0, 1024, 1n);

test('equalValues() compares top-level numbers as doubles, unless both are Integers', () => {
  expect(equalValues(1, new Double(1))).toBe(true);
  expect(equalValues(Number.NaN, Number.NaN)).toBe(true);
  expect(equalValues(new Double(0), new Double(-0))).toBe(false);
  expect(equalValues(0, new Double(-0))).toBe(false);
  expect(equalValues(0, new Double(0))).toBe(true);
  expect(equalValues(2n ** 53n + 1n, 2n ** 53n)).toBe(false);
  expect(equalValues(2n ** 53n + 1n, new Double(2 ** 53))).toBe(true);
  expect(equalValues(2n ** 60n, 2n ** 60n)).toBe(true);
  expect(equalValues(1, 1.5)).toBe(false);
});

test('equalValues() never finds an Integer equal to a Double inside arrays and objects', () => {
  expect(equalValues([1], [new Double(1)])).toBe(false);
  expect(equalValues([new Double(1)], [new Double(1)])).toBe(true);
  expect(equalValues([new Double(0)], [new Double(-0)])).toBe(true);
  expect(equalValues([Number.NaN], [Number.NaN])).toBe(false);
  expect(equalValues([2n ** 60n], [new Double(2 ** 60)])).toBe(false);
});

test('equalValues() ignores the order of members, but not null members', () => {
  expect(equalValues(object(['a', 1], ['b', 2]), object(['b', 2], ['a', 1]))).toBe(true);
  expect(equalValues(object(['a', null]), object())).toBe(false);
  expect(equalValues(object(['a', null]), object(['b', null]))).toBe(false);
  expect(equalValues([1, 2], [2, 1])).toBe(false);
  expect(equalValues([1], [1, null])).toBe(false);
});

test('equalValues() is false for values of different types', () => {
  const samples: readonly Value[] = [
    null,
    true,
    false,
    1,
    'a',
    new Bytes(Uint8Array.of(1)),
    new Time(0n),
    new DateValue(0),
    new Uuid('a'),
    ref,
    new UnresolvedRef('index', 'a', '{}'),
    PENDING,
    [],
    object(),
    { kind: 'set', op: 'singleton', ref },
  ];
  for (const a of samples) {
    for (const b of samples) expect(equalValues(a, b)).toBe(a === b);
  }
});

const lambda: Lambda = {
  kind: 'lambda',
  pattern: 'x',
  body: undefined,
  captures: new Map(),
  apiVersion: '4',
  wire: '"lambda":"x","expr":1',
};
const document: Document = {
  kind: 'document',
  ref,
  ts: 5,
  created: false,
  fields: new Map([['data', object(['a', 1])]]),
  text: undefined,
};
const event: Event = { kind: 'event', ts: 1, action: 'add', document: ref, data: [1] };
const page: Page = { kind: 'page', before: [1], after: undefined, data: [1], cursors: undefined };
const match: SetValue = { kind: 'set', op: 'match', index: ref, terms: ['a'] };

/** Each value equals its copy, and no other value in its row. */
const FAMILIES: readonly (readonly Value[])[] = [
  [new Bytes(Uint8Array.of(1, 2)), new Bytes(Uint8Array.of(1)), new Bytes(Uint8Array.of(1, 3))],
  [new Time(1n), new Time(2n)],
  [new DateValue(1), new DateValue(2)],
  [new Uuid('a'), new Uuid('b')],
  [ref, new Ref(1, 1024, 1n), new Ref(0, 1025, 1n), new Ref(0, 1024, 2n)],
  [new UnresolvedRef('index', 'a', '{}'), new UnresolvedRef('index', 'a', '{"id":"a"}')],
  [new Action('add'), new Action('remove')],
  [lambda, { ...lambda, wire: '"lambda":"y","expr":1' }, { ...lambda, apiVersion: '5' }],
  [
    document,
    { ...document, created: true },
    { ...document, ts: 6 },
    { ...document, ref: new Ref(0, 1024, 2n) },
    { ...document, fields: new Map([['data', object(['a', 2])]]) },
    object(['ref', ref], ['ts', 5], ['data', object(['a', 1])]),
  ],
  [
    event,
    { ...event, ts: 2 },
    { ...event, action: 'remove' },
    { ...event, document: undefined },
    { ...event, data: undefined },
    { ...event, data: null },
  ],
  [page, { ...page, before: undefined }, { ...page, after: [1] }, { ...page, data: [] }],
  [
    { kind: 'sourced', value: 1, sources: [] },
    { kind: 'sourced', value: 2, sources: [] },
    { kind: 'sourced', value: 1, sources: [match] },
  ],
  [
    match,
    { ...match, terms: ['b'] },
    { ...match, index: new Ref(0, 3, 9n) },
    { kind: 'set', op: 'documents', collection: ref },
    { kind: 'set', op: 'singleton', ref },
    { kind: 'set', op: 'events', of: ref },
    { kind: 'set', op: 'events', of: match },
    { kind: 'set', op: 'union', sets: [match] },
    { kind: 'set', op: 'union', sets: [match, match] },
    { kind: 'set', op: 'intersection', sets: [match] },
    { kind: 'set', op: 'difference', sets: [match] },
    { kind: 'set', op: 'distinct', set: match },
    { kind: 'set', op: 'reverse', set: match },
    { kind: 'set', op: 'filter', set: match, lambda },
    { kind: 'set', op: 'filter', set: match, lambda: { ...lambda, wire: '' } },
    { kind: 'set', op: 'join', set: match, with: lambda },
    { kind: 'set', op: 'join', set: match, with: ref },
    { kind: 'set', op: 'range', set: match, from: [1], to: [] },
    { kind: 'set', op: 'range', set: match, from: [], to: [1] },
  ],
];

/** An equal value that shares no object with the original. */
function copy(value: Value): Value {
  if (isArray(value)) return value.map(copy);
  if (isObject(value)) return new Map([...value].map(([key, each]) => [key, copy(each)]));
  if (!isKinded(value)) return value;
  const parts = Object.entries(value).map(([key, part]) => [
    key,
    part instanceof Uint8Array ? part.slice() : copy(part as Value),
  ]);
  return Object.setPrototypeOf(Object.fromEntries(parts), Object.getPrototypeOf(value)) as Value;
}

test('equalValues() distinguishes different values of each kind', () => {
  for (const family of FAMILIES) {
    for (const [at, a] of family.entries()) {
      for (const [other, b] of family.entries()) {
        expect([at, other, equalValues(a, copy(b))]).toEqual([at, other, at === other]);
      }
    }
  }
});

test('equalValues() in loose mode treats "create" and "delete" as equal to several actions', () => {
  const actions = ['create', 'update', 'add', 'delete', 'remove'] as const;
  const equalTo = (text: string, mode: 'loose' | 'exact'): readonly string[] =>
    actions.filter(
      (name) =>
        equalValues(new Action(name), text, mode) && equalValues(text, new Action(name), mode),
    );
  expect(equalTo('create', 'loose')).toEqual(['create', 'update', 'add']);
  expect(equalTo('delete', 'loose')).toEqual(['delete', 'remove']);
  expect(equalTo('update', 'loose')).toEqual(['update']);
  expect(equalTo('x', 'loose')).toEqual([]);
  expect(equalTo('constructor', 'loose')).toEqual([]);
  for (const name of actions) expect(equalTo(name, 'exact')).toEqual([name]);
});

test('equalValues() treats a pending time as equal only to a pending time', () => {
  expect(equalValues(PENDING, new PendingTime())).toBe(true);
  expect(equalValues(PENDING, 1)).toBe(false);
});

test('equalValues() agrees with compareValues() on Integers', () => {
  fc.assert(
    fc.property(anyInteger, anyInteger, (a, b) => {
      expect(equalValues(a, b)).toBe(compareValues(a, b) === 0);
    }),
  );
});

test('equalValues() is symmetric', () => {
  fc.assert(
    fc.property(anyValue, anyValue, (a, b) => {
      expect(equalValues(a, b)).toBe(equalValues(b, a));
    }),
    { numRuns: 500 },
  );
});
