import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { decodeBase64, encodeBase64, encodeBase64Url } from './base64.ts';

const anyBytes = fc.uint8Array({ maxLength: 40 });

test('encodeBase64() and encodeBase64Url() agree with Buffer', () => {
  fc.assert(
    fc.property(anyBytes, (bytes) => {
      expect(encodeBase64(bytes)).toBe(Buffer.from(bytes).toString('base64'));
      expect(encodeBase64Url(bytes)).toBe(Buffer.from(bytes).toString('base64url'));
    }),
  );
});

test('decodeBase64() reads both alphabets, padded or not', () => {
  fc.assert(
    fc.property(anyBytes, (bytes) => {
      expect(decodeBase64(encodeBase64(bytes))).toEqual(bytes);
      expect(decodeBase64(encodeBase64Url(bytes))).toEqual(bytes);
    }),
  );
});

test('decodeBase64() refuses invalid text', () => {
  for (const text of [
    'A',
    'AB=',
    'ABC==',
    '====',
    'A===',
    'AB==CD==',
    'AB CD',
    'ABé=',
    'AB*=',
    '=',
  ]) {
    expect(decodeBase64(text)).toBeUndefined();
  }
});
