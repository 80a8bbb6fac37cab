import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { anyPlain } from '../values/arbitrary.ts';
import {
  documentKey,
  HIGHEST_KEY,
  keyAfter,
  keyBefore,
  keySuffix,
  keyUnder,
  LOWEST_KEY,
  metaKey,
  syncKey,
  termsPrefix,
  type Key,
} from './key.ts';
import { EVERY_KEY, isInRange, metaRange, prefixRange } from './ranges.ts';

const anyKey: fc.Arbitrary<Key> = fc.oneof(
  fc
    .tuple(fc.nat(), fc.nat(), fc.bigInt({ min: 0n, max: 2n ** 63n - 1n }))
    .map((parts) => documentKey(...parts)),
  fc.array(anyPlain, { maxLength: 3 }).map((terms) => termsPrefix(7, 32768, terms)),
  fc.string().map(metaKey),
  fc.tuple(fc.string(), fc.maxSafeInteger()).map(([list, part]) => syncKey(list, part)),
);

test('keyAfter() is the next higher key, and keyBefore() reverses it', () => {
  fc.assert(
    fc.property(anyKey, anyKey, (key, other) => {
      const next = keyAfter(key);
      expect(next > key).toBe(true);
      expect(other > key).toBe(other >= next);
      expect(keyBefore(next)).toBe(key);
    }),
  );
});

test('keyBefore() refuses a key that keyAfter() has not made', () => {
  expect(() => keyBefore(metaKey('head'))).toThrow('not the end of a scan');
});

test('keyUnder() adds another prefix to the result of keySuffix()', () => {
  const key = termsPrefix(7, 32768, ['a', 1]);
  const suffix = keySuffix(key, termsPrefix(7, 32768, []).slice(0, 8) as Key);
  expect(keyUnder(termsPrefix(9, 32770, []).slice(0, 8) as Key, suffix)).toBe(
    termsPrefix(9, 32770, ['a', 1]),
  );
  expect(() => keySuffix(key, metaKey('head'))).toThrow('it has another prefix');
});

test('prefixRange() contains the keys with the prefix, and no others', () => {
  fc.assert(
    fc.property(anyKey, anyKey, fc.nat(40), (key, other, length) => {
      const prefix = key.slice(0, 1 + (length % key.length)) as Key;
      expect(isInRange(key, prefixRange(prefix))).toBe(true);
      expect(isInRange(other, prefixRange(prefix))).toBe(other.startsWith(prefix));
    }),
  );
});

test('metaRange() contains the names in a folder, and no others', () => {
  const name = fc
    .constantFrom('', 'a', 'b', '/', '0', 'a/', 'a0', 'a/0', '\0', 'ä')
    .chain((start) => fc.string({ maxLength: 3 }).map((end) => start + end));
  fc.assert(
    fc.property(fc.constantFrom('a', 'ab', 'a/b'), name, (folder, other) => {
      const range = metaRange(folder);
      expect(isInRange(metaKey(`${folder}/${other}`), range)).toBe(true);
      expect(isInRange(metaKey(other), range)).toBe(other.startsWith(`${folder}/`));
    }),
  );
});

test('every key is between LOWEST_KEY and HIGHEST_KEY', () => {
  fc.assert(
    fc.property(anyKey, (key) => {
      expect(isInRange(key, EVERY_KEY)).toBe(true);
      expect(isInRange(keyAfter(key), EVERY_KEY)).toBe(true);
      expect([LOWEST_KEY <= key, key < HIGHEST_KEY]).toEqual([true, true]);
    }),
  );
});
