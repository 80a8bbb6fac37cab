import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { anyValue } from '../../values/arbitrary.ts';
import { equalValues } from '../../values/equal.ts';
import { Action, Double, type Value } from '../../values/value.ts';
import { pureSession } from '../testing/pure-session.ts';
import { Multiset, multisetOf } from './multiset.ts';

/** Lists in which some values occur more than once. */
const repeating: fc.Arbitrary<readonly Value[]> = fc
  .array(anyValue, { minLength: 1, maxLength: 5 })
  .chain((pool) => fc.array(fc.constantFrom(...pool), { maxLength: 8 }));

const isEqual = (a: Value, b: Value): boolean => equalValues([a], [b]);

const context = { session: pureSession() };

test('countOf() counts the equal elements of arrays', () => {
  fc.assert(
    fc.property(repeating, anyValue, (values, other) => {
      const counted = multisetOf(values, context);
      for (const value of [...values, other]) {
        const first = values.find((each) => isEqual(each, value));
        const naive = values.filter((each) => first !== undefined && isEqual(first, each)).length;
        expect(counted.countOf(value)).toBe(naive);
      }
    }),
  );
});

test('take() succeeds as often as the value was added', () => {
  const values = multisetOf([1, 1, new Double(1)], context);
  expect([1, 1, 1].map((value) => values.take(value))).toEqual([true, true, false]);
  expect(values.take(new Double(1))).toBe(true);
});

test('countOf() treats actions as the strings they equal, and -0.0 as 0.0', () => {
  const values = new Multiset(context);
  values.add(new Action('update'));
  expect(values.countOf('create')).toBe(1);
  values.add(new Double(0));
  expect(values.countOf(new Double(-0))).toBe(1);
});
