import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { equalValues } from './equal.ts';
import { changesOf, objectWithoutNulls, patchedObject } from './object-changes.ts';
import { Double, type ObjectValue, type Value } from './value.ts';

const { object: anyObject } = fc.letrec<{ object: ObjectValue; value: Value }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 3, withCrossShrink: true },
    fc.constantFrom<Value>(null, true, 1, 2, 'x'),
    fc.array(tie('value'), { maxLength: 2 }),
    tie('object'),
  ),
  object: fc
    .array(fc.tuple(fc.constantFrom('a', 'b', 'c'), tie('value')), { maxLength: 3 })
    .map((members) => new Map(members)),
}));

test('patchedObject() with the result of changesOf() yields the second object', () => {
  fc.assert(
    fc.property(anyObject, anyObject, (first, second) => {
      const [before, after] = [objectWithoutNulls(first), objectWithoutNulls(second)];
      const changes = changesOf(before, after);
      const patched = changes ? patchedObject(before, changes) : before;
      expect(equalValues(patched, after)).toBe(true);
    }),
  );
});

test('changesOf() distinguishes 1 from 1.0, also in nested objects', () => {
  const inner = (value: Double | number): ObjectValue => new Map([['x', value]]);
  const one = new Map([['a', inner(1)]]);
  expect(changesOf(one, new Map([['a', inner(1)]]))).toBe(null);
  expect(changesOf(one, new Map([['a', inner(new Double(1))]]))).toEqual(
    new Map([['a', inner(new Double(1))]]),
  );
  expect(changesOf(one, new Map())).toEqual(new Map([['a', null]]));
});
