import { expect, test } from 'vitest';
import { QueryFailure } from '../errors.ts';
import { Bytes, DateValue, Double, Ref, Time, UnresolvedRef } from '../values/value.ts';
import type { Value } from '../values/value.ts';
import * as casts from './casts.ts';
import type { Cast } from './function-row.ts';
import { NATIVE } from '../values/native-kinds.ts';

const where = casts.argumentAt(undefined, 'key');
const collection = new Ref(0, NATIVE.collections, 1024n);
const native = new Ref(0, NATIVE.collections, BigInt(NATIVE.keys));
const index = new Ref(0, NATIVE.indexes, 32_768n);
const missing = new UnresolvedRef('collection', 'posts', '{}');

const outcome = (cast: Cast<unknown>, value: Value): unknown => {
  try {
    return cast(value, where);
  } catch (failure) {
    if (!(failure instanceof QueryFailure)) throw failure;
    return failure.faults.map(({ code, position, description }) =>
      [code, JSON.stringify(position), description].join(' | '),
    );
  }
};
const refused = (
  description: string,
  code = 'invalid argument',
  position = '["key"]',
): string[] => [`${code} | ${position} | ${description}`];

test('plain types accept only values of their type', () => {
  const plain: readonly (readonly [string, Cast<unknown>, Value])[] = [
    ['Integer', casts.integer, 2n ** 60n],
    ['Number', casts.number, new Double(1)],
    ['Boolean', casts.boolean, false],
    ['String', casts.string, ''],
    ['Object', casts.object, new Map()],
    ['Array', casts.array, []],
    ['Null', casts.nothing, null],
    ['Temporal', casts.temporal, new DateValue(0)],
  ];
  for (const [name, cast, value] of plain) {
    expect(outcome(cast, value)).toBe(value);
    expect(outcome(cast, new Bytes(new Uint8Array()))).toEqual(
      refused(`${name} expected, Bytes provided.`),
    );
  }
  expect(outcome(casts.integer, 1.5)).toEqual(refused('Integer expected, Double provided.'));
});

test('scalar accepts refs, and refuses arrays and objects', () => {
  expect(outcome(casts.scalar, missing)).toBe(missing);
  expect(outcome(casts.scalar, null)).toBeNull();
  expect(outcome(casts.scalar, [])).toEqual(refused('Scalar expected, Array provided.'));
  expect(outcome(casts.scalar, new Map())).toEqual(refused('Scalar expected, Object provided.'));
});

test('time accepts an Integer as microseconds, and refuses a date', () => {
  expect(outcome(casts.time, 5)).toEqual(new Time(5000n));
  expect(outcome(casts.time, new DateValue(0))).toEqual(refused('Time expected, Date provided.'));
});

test('readTime returns microseconds, rounded towards the past', () => {
  expect(outcome(casts.readTime, new Time(-1n))).toBe(-1);
  expect(outcome(casts.readTime, new Time(1999n))).toBe(1);
  expect(outcome(casts.readTime, 2n ** 62n)).toBe(Number.MAX_SAFE_INTEGER);
  expect(outcome(casts.readTime, '5')).toEqual(refused('Time expected, String provided.'));
  expect(outcome(casts.readTimeOrDigits, '5')).toBe(5);
  expect(outcome(casts.readTimeOrDigits, '5s')).toEqual(refused('Time expected, String provided.'));
});

test('unit accepts plurals and surrounding blanks', () => {
  expect(outcome(casts.unit, ' half days ')).toBe('half day');
  expect(outcome(casts.unit, 'dayss')).toEqual(refused('Time Unit expected, String provided.'));
  expect(outcome(casts.unit, 'week')).toEqual(refused('Time Unit expected, String provided.'));
});

test('casts to refs check the collection of a ref, and refuse undefined refs', () => {
  expect(outcome(casts.collectionRef, native)).toBe(native);
  expect(outcome(casts.indexRef, collection)).toEqual(
    refused('Index Ref expected, Collection Ref provided.'),
  );
  expect(outcome(casts.ref, missing)).toEqual(
    refused("Ref refers to undefined collection 'posts'", 'invalid ref'),
  );
  expect(outcome(casts.nameOrIndexRef, index)).toBe(index);
  expect(outcome(casts.nameOrRef, 5)).toEqual(refused('Identifier expected, Integer provided.'));
  expect(outcome(casts.term, missing)).toEqual(refused('Any expected, Collection Ref provided.'));
});

test('refs of native collections are accepted as sets, and other refs are not', () => {
  const members = { kind: 'set', op: 'documents', collection: native, native: true };
  expect(outcome(casts.set, native)).toEqual(members);
  expect(outcome(casts.iterable, native)).toEqual(members);
  expect(outcome(casts.refOrSet, native)).toBe(native);
  expect(outcome(casts.set, collection)).toEqual(refused('Set expected, Collection Ref provided.'));
  expect(outcome(casts.iterable, 5)).toEqual(
    refused('Array, Set, or Page expected, Integer provided.'),
  );
});

test('manyOf() accepts one value or an array, and reports every invalid element', () => {
  const many = casts.manyOf(casts.string);
  expect(outcome(many, 'a')).toEqual(['a']);
  expect(outcome(many, [])).toEqual([]);
  expect(outcome(many, ['a', 1, 'b', null])).toEqual([
    'invalid argument | ["key",1] | String expected, Integer provided.',
    'invalid argument | ["key",3] | String expected, Null provided.',
  ]);
  expect(outcome(casts.someOf(casts.string), [])).toEqual(refused('Non-empty array expected.'));
});
