import { expect, test } from 'vitest';
import { engines, enginesNamed } from './engines.mjs';

test('enginesNamed() reads a list, in the order of all', () => {
  expect(enginesNamed('webkit, chromium')).toEqual(['chromium', 'webkit']);
  expect(enginesNamed(engines.join(','))).toEqual(engines);
});

test('enginesNamed() refuses a name that nobody knows', () => {
  expect(() => enginesNamed('chromium,safari')).toThrow(
    'Unknown browsers: safari. Known browsers: chromium, firefox, webkit.',
  );
  expect(() => enginesNamed('')).toThrow('Unknown browsers: .');
});
