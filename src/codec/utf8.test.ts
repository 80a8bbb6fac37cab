import * as fc from 'fast-check';
import { expect, test, vi } from 'vitest';
import { utf8Length } from './utf8.ts';

test('utf8Length() counts the UTF-8 bytes of short and long texts', () => {
  const text = fc.string({ unit: 'grapheme', maxLength: 200 });
  fc.assert(
    fc.property(text, fc.integer({ min: 1, max: 2000 }), (part, times) => {
      const long = part.repeat(times);
      expect(utf8Length(part)).toBe(Buffer.byteLength(part));
      expect(utf8Length(long)).toBe(Buffer.byteLength(long));
    }),
    { numRuns: 50 },
  );
});

test('utf8Length() encodes each part of a long text once, and splits no character', () => {
  const given = vi.spyOn(TextEncoder.prototype, 'encodeInto');
  const text = `a${'🦔'.repeat(500_000)}`;
  expect(utf8Length(text)).toBe(2_000_001);
  const lengths = given.mock.calls.map(([part]) => part.length);
  given.mockRestore();
  expect(lengths.reduce((sum, length) => sum + length, 0)).toBe(text.length);
});
