import { expect, test } from 'vitest';
import { countryName } from './format.ts';

test('countryName() returns an unknown code unchanged', () => {
  expect(['FR', 'XK', '', 'foo', 'fr-x', '123'].map(countryName)).toEqual([
    'France',
    'Kosovo',
    '',
    'foo',
    'fr-x',
    '123',
  ]);
});
