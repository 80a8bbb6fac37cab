import { expect, test } from 'vitest';
import { engines, enginesNamed } from './engines.mjs';

test('enginesNamed() reads a list of browsers, and returns it in the usual order', () => {
  expect(enginesNamed('webkit, chromium')).toEqual(['chromium', 'webkit']);
  expect(enginesNamed(engines.join(','))).toEqual(engines);
});

test('enginesNamed() refuses an unknown name', () => {
  expect(() => enginesNamed('chromium,safari')).toThrow(
    'Unknown browsers: safari. Known browsers: chromium, firefox, webkit.',
  );
  expect(() => enginesNamed('')).toThrow('Unknown browsers: .');
});
