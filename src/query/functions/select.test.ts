import { expect, test } from 'vitest';
import { PENDING, Ref } from '../../values/value.ts';
import type { Document, Page, Value } from '../../values/value.ts';
import { valueAt, valuesAt } from '../navigate.ts';
import { pureSession, shown } from '../testing/pure-session.ts';

const session = pureSession();
const parcel = new Ref(0, 1024, 7n);
const document: Document = {
  kind: 'document',
  ref: parcel,
  ts: PENDING,
  created: true,
  fields: new Map<string, Value>([['data', new Map([['kg', 4]])]]),
  text: undefined,
};
const page: Page = { kind: 'page', before: undefined, after: [9], data: ['x'], cursors: undefined };

test('valueAt() follows paths into objects, arrays, documents, pages and refs', () => {
  expect(valueAt(document, ['data', 'kg'], session)).toBe(4);
  expect(valueAt(document, ['ts'], session)).toBe(PENDING);
  expect(valueAt(document, ['class'], session)).toEqual(new Ref(0, 1, 1024n));
  expect(valueAt(document, ['collection'], session)).toBeUndefined();
  expect(valueAt(page, ['data', 0], session)).toBe('x');
  expect(valueAt(page, [0], session)).toBe('x');
  expect(valueAt(page, ['after', 0], session)).toBe(9);
  expect(valueAt(page, ['before'], session)).toBeUndefined();
  expect(valueAt(parcel, ['id'], session)).toBe('7');
  expect(valueAt(parcel, ['collection'], session)).toEqual(new Ref(0, 1, 1024n));
  expect(valueAt(parcel, ['database'], session)).toBeUndefined();
  expect(valueAt(new Ref(0, 1, 6n), ['id'], session)).toBe('keys');
});

test('valueAt() is undefined for a string in an array, an index out of range, or a scalar', () => {
  expect(valueAt([new Map([['a', 1]])], ['a'], session)).toBeUndefined();
  expect(valueAt([1], [-1], session)).toBeUndefined();
  expect(valueAt('text', ['length'], session)).toBeUndefined();
  expect(valueAt(new Map(), ['__proto__'], session)).toBeUndefined();
  expect(valueAt('text', [], session)).toBe('text');
});

test('valuesAt() follows paths through arrays, and flattens the result', () => {
  const items = new Map([['items', [new Map([['sku', ['a', ['b']]]]), new Map([['sku', 'c']])]]]);
  expect(valuesAt(items, ['items', 'sku'], session)).toEqual(['a', 'b', 'c']);
  expect(valuesAt(items, ['items', 1, 'sku'], session)).toEqual(['c']);
  expect(valuesAt(items, ['nothing'], session)).toBeUndefined();
});

test('select refuses parts of an undefined ref', () => {
  expect(shown({ select: 'id', from: { collection: 'nowhere' } })).toEqual([
    'invalid ref at ["from"]',
  ]);
  expect(shown({ contains_path: 'id', in: { collection: 'nowhere' } })).toEqual([
    'invalid ref at ["in"]',
  ]);
});

test('select with all returns an array, and its default only if nothing is found', () => {
  const from = { object: { a: [{ object: { b: 1 } }, { object: { b: [] } }] } };
  expect(shown({ select: ['a', 'b'], from, all: true })).toBe('[1]');
  expect(shown({ select: 'c', from, all: true })).toBe('[]');
  expect(shown({ select_all: 'c', from, default: 5 })).toBe('5');
  expect(shown({ select_as_index: ['a', 'b'], from })).toBe('[1]');
});

test('select can read the parts of sets', () => {
  const from = { documents: { keys: null } };
  expect(shown({ select: ['@set', 'documents', 'id'], from })).toBe('"keys"');
});

test('contains_value searches elements and members, and distinguishes 1 from 1.0', () => {
  expect(shown('{"contains_value":1.0,"in":[1]}')).toBe('false');
  expect(shown({ contains_value: [1], in: { object: { a: [1] } } })).toBe('true');
  expect(shown({ contains_value: 'keys', in: { keys: null } })).toBe('true');
  expect(shown({ contains_value: 1, in: 'text' })).toEqual(['invalid argument at ["in"]']);
});
