import { expect, test } from 'vitest';
import { run, shown } from '../testing/pure-session.ts';
import { trigonometryRows } from './trigonometry.ts';

test('trigonometric functions return the mathematical results', () => {
  const half = { radians: 30 };
  const cases: readonly (readonly [object, string])[] = [
    [{ sin: half }, '0.5'],
    [{ cos: 0 }, '1.0'],
    [{ tan: { radians: 45 } }, '1.0'],
    [{ asin: 1 }, '1.5708'],
    [{ acos: 1 }, '0.0'],
    [{ atan: 1 }, '0.7854'],
    [{ sinh: 1 }, '1.1752'],
    [{ cosh: 0 }, '1.0'],
    [{ tanh: 100 }, '1.0'],
    [{ degrees: { acos: -1 } }, '180.0'],
    [half, '0.5236'],
  ];
  for (const [query, expected] of cases) {
    expect(shown({ round: query, precision: 4 })).toBe(expected);
  }
});

test('trigonometric functions return Doubles, also for Integers', () => {
  for (const row of trigonometryRows) expect(shown({ is_double: { [row.name]: 1 } })).toBe('true');
});

test('asin and acos refuse values outside -1 to 1', () => {
  for (const key of ['asin', 'acos']) {
    expect(shown({ is_double: { [key]: -1 } })).toBe('true');
    expect(run({ [key]: 1.5 })).toMatchObject({
      faults: [{ position: [], description: '1.5 must be between -1 and 1 inclusive' }],
    });
    expect(run({ [key]: -2 })).toMatchObject({
      faults: [{ description: '-2 must be between -1 and 1 inclusive' }],
    });
  }
});

test('trigonometric functions refuse other values than numbers', () => {
  for (const { name } of trigonometryRows) {
    expect(shown({ [name]: '1' })).toEqual([`invalid argument at ${JSON.stringify([name])}`]);
  }
});
