import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import {
  globalIdNumber,
  globalIdText,
  isSameText,
  looksLikeToken,
  parseSecret,
  secretText,
  type Secret,
} from './secrets.ts';

const random = fc.uint8Array({ minLength: 20, maxLength: 20 });
const id = fc.bigInt({ min: 0n, max: 2n ** 63n - 1n });

test('parseSecret() returns the secret that secretText() has encoded (A3)', () => {
  fc.assert(
    fc.property(id, id, random, fc.boolean(), (own, databaseGlobalId, bytes, isKey) => {
      const secret: Secret = isKey
        ? { kind: 'key', id: own, random: bytes }
        : { kind: 'token', id: own, databaseGlobalId, random: bytes };
      const text = secretText(secret);
      expect(text).toMatch(isKey ? /^fn[AB][\w-]{37}$/ : /^fn[EF][\w-]{48}$/);
      expect(parseSecret(text)).toEqual(secret);
      expect(looksLikeToken(text)).toBe(!isKey);
    }),
  );
});

test('parseSecret() refuses wrong lengths, alphabets, prefixes and padding', () => {
  const secret = { kind: 'key', id: 5n, random: new Uint8Array(20).fill(0xff) } as const;
  const text = secretText(secret);
  expect(parseSecret(text)).toEqual(secret);
  for (const other of [
    `${text}A`,
    text.slice(1),
    `${text}=`,
    text.replaceAll('_', '/'),
    `x${text.slice(1)}`,
    '',
  ]) {
    expect(parseSecret(other), other).toBeUndefined();
  }
});

test('parseSecret() accepts one text for each secret, although base64 has several', () => {
  const random = new Uint8Array(20);
  const secret = { kind: 'token', id: 5n, databaseGlobalId: 6n, random } as const;
  const text = secretText(secret);
  expect(parseSecret(text)).toEqual(secret);
  // The last character has two bits that belong to no byte.
  expect(text.at(-1)).toBe('A');
  for (const last of ['B', 'C', 'D'])
    expect(parseSecret(text.slice(0, -1) + last), last).toBeUndefined();
});

test('globalIdNumber() is the inverse of globalIdText()', () => {
  fc.assert(
    fc.property(id, (given) => {
      expect(globalIdNumber(globalIdText(given))).toBe(given);
    }),
  );
  expect(globalIdText(0n)).toBe('aaaaaaaaaaaaa');
  expect(globalIdNumber('not one!')).toBe(0n);
});

test('isSameText() is true for equal texts only', () => {
  fc.assert(
    fc.property(fc.string(), fc.string(), (a, b) => {
      expect(isSameText(a, b)).toBe(a === b);
      expect(isSameText(a, a)).toBe(true);
    }),
  );
});
