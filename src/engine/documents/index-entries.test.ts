import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { decodeEntry } from '../../codec/key.ts';
import { QueryFailure, Refusal } from '../../errors.ts';
import { compareValues } from '../../values/compare.ts';
import { anyValue } from '../../values/arbitrary.ts';
import { double, isArray, isObject, Ref } from '../../values/value.ts';
import type { ObjectValue, Value } from '../../values/value.ts';
import { indexDefinitionOf } from '../catalog/definitions.ts';
import { indexEntries } from './index-entries.ts';
import { field, object, SetWorld, DATABASE } from '../testing/set-world.ts';

const COLLECTION = new Ref(DATABASE, 1, 1024n);
const REF = new Ref(DATABASE, 1024, 5n);
const TS = 1000;

/** The entries of a document with this data, as [terms, values]. */
function entriesOf(
  definition: Readonly<Record<string, Value>>,
  data: ObjectValue,
  world = new SetWorld(),
): unknown[] {
  const index = indexDefinitionOf({
    ref: new Ref(DATABASE, 3, 32_768n),
    name: 'i',
    ts: 1,
    fields: object({ source: COLLECTION, ...definition }),
  });
  return world.read((context) =>
    indexEntries(context, index, REF, { ts: TS, ttl: undefined, fields: object({ data }) }).map(
      (key) => {
        // Terms cannot be decoded from a key, so only values are decoded, and entries with the same terms are compared.
        const found = decodeEntry(key, index.values.length, index.reverse);
        expect(found.ref).toEqual(REF);
        return found.values;
      },
    ),
  );
}

const values = (...fields: readonly Value[]) => ({ values: fields });
const path = (...steps: readonly (string | number)[]): Value =>
  new Map([['field', ['data', ...steps]]]);

test('indexEntries() combines the values of all fields, and omits an entry that is all null', () => {
  const [a, b] = [field('a'), field('b')];
  const cases: readonly (readonly [Value[], Readonly<Record<string, Value>>, unknown[]])[] = [
    [[a], { a: 1 }, [[1]]],
    [[a], {}, []],
    [[a], { a: [] }, []],
    [[a], { a: object({ x: 1 }) }, []],
    [[a, b], { b: 1 }, [[null, 1]]],
    [
      [a, b],
      { a: [1, 2], b: [5, 6] },
      [
        [1, 5],
        [1, 6],
        [2, 5],
        [2, 6],
      ],
    ],
    [[a], { a: [1, 1, 2] }, [[1], [2]]],
    [[a], { a: [1, double(1)] }, [[1], [double(1)]]],
    [[a], { a: [[7, [8]], 9] }, [[7], [8], [9]]],
    [[a], { a: [object({}), 1] }, [[1]]],
    [[], {}, [[]]],
    [[field('ref')], {}, [[REF]]],
    [[field('ts')], {}, [[TS]]],
  ];
  for (const [fields, data, expected] of cases) {
    expect(entriesOf(values(...fields), object(data))).toEqual(expected);
  }
});

test('indexEntries() follows paths into every element of an array, or into one by its number', () => {
  const data = object({
    kids: [object({ name: 'Mo' }), object({ name: ['Bo', 'Jo'] }), object({ age: 2 })],
    'a.b': 1,
  });
  const cases: readonly (readonly [Value, unknown[]])[] = [
    [path('kids', 'name'), [['Mo'], ['Bo'], ['Jo']]],
    [path('kids', 0, 'name'), [['Mo']]],
    [path('kids', 9, 'name'), []],
    [path('kids', -1, 'name'), []],
    [path('a.b'), [[1]]],
    [path('a', 'b'), []],
    [path('kids', 'name', 'first'), []],
  ];
  for (const [each, expected] of cases) expect(entriesOf(values(each), data)).toEqual(expected);
});

test('indexEntries() follows paths into the id and the collection of a ref, as select does', () => {
  const friends = object({ friends: [new Ref(DATABASE, 1025, 7n), new Ref(DATABASE, 1024, 8n)] });
  const other = new Ref(DATABASE, 1, 1025n);
  const at = (...steps: readonly string[]): Value => new Map([['field', steps]]);
  const cases: readonly (readonly [Value, unknown[]])[] = [
    [at('ref', 'id'), [['5']]],
    [at('ref', 'collection'), [[COLLECTION]]],
    [at('class'), [[COLLECTION]]],
    [path('friends', 'id'), [['7'], ['8']]],
    [path('friends', 0, 'id'), [['7']]],
    [path('friends', 'class'), [[other], [COLLECTION]]],
    [path('friends', 'database'), []],
    [path('friends', 'id', 'id'), []],
  ];
  for (const [each, expected] of cases) {
    expect(entriesOf(values(each), friends)).toEqual(expected);
    expect(entriesOf({ terms: [each] }, friends)).toHaveLength(expected.length);
  }
});

test('indexEntries() ignores the names of schema objects, which can change without the document', () => {
  expect(entriesOf(values(path('of', 'id')), object({ of: COLLECTION }))).toEqual([]);
});

test('indexEntries() treats arrays and objects as single values if mva is false', () => {
  const whole = new Map<string, Value>([
    ['field', ['data', 'v']],
    ['mva', false],
  ]);
  expect(entriesOf(values(whole), object({ v: [2, 1] }))).toEqual([[[2, 1]]]);
  expect(entriesOf(values(whole), object({ v: object({ x: 1 }) }))).toEqual([[object({ x: 1 })]]);
  const inside = new Map<string, Value>([
    ['field', ['data', 'v', 'x']],
    ['mva', false],
  ]);
  expect(entriesOf(values(inside, path('n')), object({ v: [object({ x: 1 })], n: 1 }))).toEqual([
    [null, 1],
  ]);
});

test('indexEntries() evaluates bindings; a binding that fails or gives an object has the value null', () => {
  const world = new SetWorld();
  const bound = (name: string, body: (data: ObjectValue) => Value) => {
    const lambda = world.lambda(name, (document) => {
      const data =
        isObject(document) || isArray(document) || document === null
          ? undefined
          : (document as unknown as { fields: ObjectValue }).fields.get('data');
      return body(data !== undefined && isObject(data) ? data : object({}));
    });
    const source = object({ collection: COLLECTION, fields: object({ bound: lambda }) });
    return entriesOf(
      { source, values: [new Map([['binding', 'bound']]), path('n')] },
      object({ n: 1, a: 4 }),
      world,
    );
  };
  expect(bound('scalar', (data) => data.get('a') ?? null)).toEqual([[4, 1]]);
  expect(bound('array', () => [1, [2], object({})])).toEqual([
    [1, 1],
    [null, 1],
  ]);
  expect(bound('object', () => object({ a: 1 }))).toEqual([[null, 1]]);
  expect(
    bound('failing', () => {
      throw new QueryFailure([]);
    }),
  ).toEqual([[null, 1]]);
  expect(() =>
    bound('refused', () => {
      throw new Refusal('bad request', 'too much');
    }),
  ).toThrow(Refusal);
});

test('indexEntries() makes no entry for a term `ts`', () => {
  expect(entriesOf({ terms: [field('ts')] }, object({}))).toEqual([]);
});

test('indexEntries() refuses terms, values and entries that are too large or too many', () => {
  const long = 'x'.repeat(32_768);
  expect(() => entriesOf(values(field('a')), object({ a: long }))).toThrow(Refusal);
  expect(() => entriesOf({ terms: [field('a')] }, object({ a: long }))).toThrow(Refusal);
  const half = 'x'.repeat(30_000);
  const abc = [field('a'), field('b'), field('c')];
  expect(() => entriesOf(values(...abc), object({ a: half, b: half, c: half }))).toThrow(Refusal);
  const many = Array.from({ length: 1000 }, (_, i) => i);
  expect(() => entriesOf(values(...abc), object({ a: many, b: many, c: many }))).toThrow(Refusal);
});

test('indexEntries() makes at most one entry for each scalar of an array', () => {
  fc.assert(
    fc.property(fc.array(anyValue, { maxLength: 6 }), (list) => {
      const scalars = list.filter((each) => !isArray(each) && !isObject(each) && each !== null);
      const found = entriesOf(values(field('a')), object({ a: scalars }));
      expect(found.length).toBeLessThanOrEqual(scalars.length);
      for (const entry of found) {
        const [value = null] = entry as readonly Value[];
        expect(scalars.some((each) => compareValues(each, value) === 0 || value === null)).toBe(
          true,
        );
      }
    }),
  );
});
