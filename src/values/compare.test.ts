import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { anyPair, anyStringPair, anyValue } from './arbitrary.ts';
import { compareRefs, compareStrings, compareValues, sortedKeys } from './compare.ts';
import {
  Action,
  Bytes,
  DateValue,
  Double,
  PENDING,
  Ref,
  Time,
  UnresolvedRef,
  Uuid,
  type Document,
  type Lambda,
  type Value,
} from './value.ts';

const lambda: Lambda = {
  kind: 'lambda',
  pattern: 'x',
  body: undefined,
  captures: new Map(),
  apiVersion: '4',
  wire: '"lambda":"x","expr":1',
};
const object = (...members: readonly (readonly [string, Value])[]): Value => new Map(members);

/** In ascending order: spec values 10, sets 3, and the decisions for strings. */
const ASCENDING: readonly Value[] = [
  -Infinity,
  -(2n ** 63n),
  -1.5,
  -1,
  new Double(-0),
  0,
  Number.MIN_VALUE,
  1,
  1.5,
  3,
  3.14,
  4,
  2n ** 53n,
  2n ** 53n + 1n,
  2n ** 63n - 1n,
  new Double(2 ** 63),
  Infinity,
  Number.NaN,
  new Bytes(Uint8Array.of()),
  new Bytes(Uint8Array.of(0)),
  new Bytes(Uint8Array.of(0, 0)),
  new Bytes(Uint8Array.of(1)),
  new Bytes(Uint8Array.of(255)),
  '',
  'A',
  'a',
  'a\0',
  'a\u0001',
  'ab',
  'b',
  'é',
  '～',
  '😀',
  '😁',
  [],
  [1],
  [1, 1],
  [2],
  ['a'],
  [null],
  object(),
  object(['a', 1]),
  object(['b', 0], ['a', 1]),
  object(['a', 1], ['b', 1]),
  object(['a', 2]),
  object(['b', 0]),
  new Ref(0, 1025, 1n),
  new Ref(0, 1024, 2n),
  new Ref(5, 1024, 2n),
  new Ref(0, 1025, 2n),
  new Ref(0, 1024, 10n),
  new Time(-1n),
  new Time(0n),
  new Time(1n),
  new DateValue(-1),
  new DateValue(0),
  lambda,
  { ...lambda, apiVersion: '5' },
  { ...lambda, wire: '"lambda":"y","expr":1' },
  PENDING,
  new Uuid('00000000-0000-0000-0000-000000000000'),
  new Uuid('f0000000-0000-0000-0000-000000000000'),
  false,
  true,
  null,
];

test('compareValues() orders all kinds of values as in the specification', () => {
  for (const [at, a] of ASCENDING.entries()) {
    for (const [other, b] of ASCENDING.entries()) {
      const order = Math.sign(compareValues(a, b));
      expect([at, other, order]).toEqual([at, other, Math.sign(at - other)]);
    }
  }
});

test('compareValues() compares an Integer and a Double exactly', () => {
  const double = new Double(2 ** 53);
  expect(compareValues(double, 2n ** 53n)).toBe(0);
  expect(compareValues(double, 2n ** 53n + 1n)).toBe(-1);
  expect(compareValues(2n ** 53n - 1n, double)).toBe(-1);
});

test('compareValues() is a total order', () => {
  fc.assert(
    fc.property(anyPair(anyValue), anyValue, ([a, b], c) => {
      expect(compareValues(a, a)).toBe(0);
      expect(Math.sign(compareValues(a, b))).toBe(-Math.sign(compareValues(b, a)) + 0);
      const [first, second, third] = [a, b, c].sort(compareValues);
      expect(compareValues(first!, second!)).toBeLessThanOrEqual(0);
      expect(compareValues(second!, third!)).toBeLessThanOrEqual(0);
      expect(compareValues(first!, third!)).toBeLessThanOrEqual(0);
    }),
    { numRuns: 2000 },
  );
});

test('compareValues() treats an Integer and a Double of the same size as equal', () => {
  expect(compareValues(1, new Double(1))).toBe(0);
  expect(compareValues([1], [new Double(1)])).toBe(0);
  expect(compareValues(2n ** 53n, new Double(2 ** 53))).toBe(0);
  expect(compareValues(2n ** 53n + 1n, new Double(2 ** 53))).toBeGreaterThan(0);
  expect(compareValues(1, 2n ** 60n)).toBeLessThan(0);
  expect(compareValues(2n ** 60n, Number.NaN)).toBeLessThan(0);
  expect(compareValues(Number.NaN, 2n ** 60n)).toBeGreaterThan(0);
});

test('compareStrings() has the order of UTF-8 bytes', () => {
  fc.assert(
    fc.property(anyStringPair, ([a, b]) => {
      expect(Math.sign(compareStrings(a, b))).toBe(Buffer.compare(bytesOf(a), bytesOf(b)));
    }),
    { numRuns: 3000 },
  );
});

/** UTF-8 as the JVM encodes it: lone surrogates become `?`. */
const bytesOf = (text: string): Buffer => Buffer.from(text.replace(/\p{Surrogate}/gu, '?'));

test('compareStrings() treats a lone surrogate as ?', () => {
  expect(compareStrings('a\ud800', 'a?')).toBe(0);
  expect(compareStrings('\ud83d\ude00', '\ud83d')).toBeGreaterThan(0);
  expect(compareStrings('\ud83dx', '\ud83d\ude00')).toBeLessThan(0);
});

test('compareValues() treats documents, events, pages, sets and actions like objects and strings', () => {
  const ref = new Ref(0, 1024, 1n);
  const document: Document = {
    kind: 'document',
    ref,
    ts: 5,
    created: false,
    fields: new Map([['data', 1]]),
    text: undefined,
  };
  const collection = new Ref(0, 1, 1024n);
  const seen = object(
    ['ref', ref],
    ['ts', 5],
    ['data', 1],
    ['class', collection],
    ['collection', collection],
  );
  expect(compareValues(document, seen)).toBe(0);
  expect(compareValues(new Action('add'), 'add')).toBe(0);
  expect(
    compareValues(
      { kind: 'event', ts: 1, action: 'add', document: ref, data: [1] },
      object(['ts', 1], ['action', 'add'], ['document', ref], ['data', [1]]),
    ),
  ).toBe(0);
  expect(
    compareValues(
      { kind: 'page', before: undefined, after: [1], data: [], cursors: undefined },
      object(['after', [1]], ['data', []]),
    ),
  ).toBe(0);
  expect(
    compareValues(
      { kind: 'sourced', value: 1, sources: [{ kind: 'set', op: 'singleton', ref }] },
      object(['value', 1], ['sources', [object(['@set', object(['singleton', ref])])]]),
    ),
  ).toBe(0);
});

test('compareValues() orders unresolved refs after refs and before times', () => {
  const missing = new UnresolvedRef('index', 'x', '{}');
  expect(compareValues(missing, new Ref(0, 1, 2n ** 63n - 1n))).toBeGreaterThan(0);
  expect(compareValues(missing, new Time(0n))).toBeLessThan(0);
  expect(compareValues(missing, new UnresolvedRef('index', 'y', '{}'))).toBeLessThan(0);
});

test('compareRefs() orders by id, then by collection', () => {
  expect(compareRefs(new Ref(0, 1025, 2n), new Ref(0, 1024, 10n))).toBeLessThan(0);
  expect(compareRefs(new Ref(0, 1025, 2n), new Ref(0, 1024, 2n))).toBeGreaterThan(0);
});

test('sortedKeys() orders by UTF-16 code units', () => {
  expect(
    sortedKeys(
      new Map([
        ['～', 1],
        ['😀', 2],
        ['a', 3],
      ]),
    ),
  ).toEqual(['a', '😀', '～']);
});
