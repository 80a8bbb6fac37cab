import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import type { Key } from '../../../codec/key.ts';
import { isInRange } from '../../../codec/ranges.ts';
import { SortedKeys } from './sorted-keys.ts';

const key = fc.string({ unit: fc.constantFrom('\0', 'a', 'b', '\u{fffd}'), maxLength: 6 });

test('hasIn() agrees with a check of every key, also when keys are added between calls', () => {
  const step = fc.record({ added: fc.array(key, { maxLength: 400 }), lower: key, upper: key });
  fc.assert(
    fc.property(fc.array(step, { maxLength: 6 }), (steps) => {
      const keys = new SortedKeys();
      const all = new Set<Key>();
      for (const { added, ...bounds } of steps) {
        for (const each of added as Key[]) {
          keys.add(each);
          all.add(each);
        }
        const range = bounds as { lower: Key; upper: Key };
        expect(keys.size).toBe(all.size);
        expect(keys.has(range.lower)).toBe(all.has(range.lower));
        expect(keys.hasIn(range)).toBe([...all].some((each) => isInRange(each, range)));
      }
    }),
  );
});
