import { expect, test } from 'vitest';
import { countryName } from './format.ts';

test('countryName() takes whatever stands in an address', () => {
  expect(['FR', 'XK', '', 'foo', 'fr-x', '123'].map(countryName)).toEqual([
    'France',
    'Kosovo',
    '',
    'foo',
    'fr-x',
    '123',
  ]);
});
