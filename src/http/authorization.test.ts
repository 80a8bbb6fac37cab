import { expect, test } from 'vitest';
import { secretOf } from './authorization.ts';

test.each([
  ['Bearer fnAx', 'fnAx'],
  ['Bearer eyJ.eyJ.c2ln', 'eyJ.eyJ.c2ln'],
  ['Bearer fnAx:db:server', 'fnAx:db:server'],
  ['  Bearer   fnAx ', 'fnAx'],
  [`Basic ${btoa('fnAx:')}`, 'fnAx'],
  [`Basic ${btoa('fnAx')}`, 'fnAx'],
  [`Basic ${btoa(' fnAx: \n')}`, 'fnAx'],
  [`Basic ${btoa('fnAx:server')}`, 'fnAx:server'],
  [`Basic ${btoa('fnAx:')}:`, 'fnAx'],
])('secretOf(%s) is %s', (header, secret) => {
  expect(secretOf(header)).toBe(secret);
});

test.each([
  undefined,
  '',
  'Bearer',
  'bearer x',
  'Digest x',
  'Basic !!!',
  `Basic ${btoa(':')}`,
  'Bearer a b',
  `Basic ${btoa('eyJ.eyJ.c2ln')}`,
])('secretOf(%s) is undefined', (header) => {
  expect(secretOf(header)).toBeUndefined();
});
