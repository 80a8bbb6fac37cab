import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { utf8Length } from './utf8.ts';

test('utf8Length() counts the bytes of a text, short or long', () => {
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
