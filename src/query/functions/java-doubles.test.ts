/** Functions of Doubles, against Java and against exact integers. */
import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { double } from '../../values/value.ts';
import { JAVA_DOUBLES } from '../testing/java-doubles.ts';
import { run } from '../testing/pure-session.ts';
import * as fdlibm from './fdlibm.ts';
import * as nearest from './nearest-double.ts';

test.each(JAVA_DOUBLES)('%j is %d, as in Java', (query, result) => {
  expect(run(query)).toEqual({ value: double(result) });
});

test('a power of integers is the double nearest to the exact one', () => {
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 2 ** 30 }), fc.nat(40), (base, power) => {
      expect(nearest.pow(base, power)).toBe(Number(BigInt(base) ** BigInt(power)));
    }),
  );
});

/** Whether the last digits at most differ. The smallest numbers have fewer bits. */
const isNear = (found: number, expected: number): boolean =>
  Object.is(found, expected) ||
  Math.abs(found - expected) <= Math.abs(expected) * 2 ** -51 + Number.MIN_VALUE;

const any = fc.double();
const angles = fc.oneof(any, fc.double({ min: -20, max: 20 }));
const positive = fc.double({ min: 0, minExcluded: true });
const inverse = fc.double({ min: -1, max: 1 });

test.each([
  ['exp', nearest.exp, angles],
  ['sin', nearest.sin, angles],
  ['cos', nearest.cos, angles],
  ['tan', nearest.tan, angles],
  ['log', nearest.ln, positive],
  ['log10', nearest.log10, positive],
  ['asin', fdlibm.asin, inverse],
  ['acos', fdlibm.acos, inverse],
  ['atan', fdlibm.atan, angles],
  ['sinh', fdlibm.sinh, angles],
  ['cosh', fdlibm.cosh, angles],
  ['tanh', fdlibm.tanh, angles],
] as const)(
  '%s is near that of Math, also for NaN, infinities and the smallest numbers',
  (name, call, values) => {
    fc.assert(
      fc.property(values, (value) => {
        expect([value, call(value), isNear(call(value), Math[name](value))]).toEqual([
          value,
          call(value),
          true,
        ]);
      }),
    );
  },
);

test('pow is near that of Math, also for NaN, infinities and the smallest numbers', () => {
  fc.assert(
    fc.property(fc.oneof(angles, fc.integer()), angles, (base, power) => {
      const found = nearest.pow(base, power);
      const expected = Math.pow(base, power);
      // Node's error grows with the result.
      const isNearEnough =
        Math.abs(found - expected) <= Math.abs(expected) * 2 ** -40 + Number.MIN_VALUE;
      expect([base, power, found, isNearEnough || Object.is(found, expected)]).toEqual([
        base,
        power,
        found,
        true,
      ]);
    }),
  );
});
