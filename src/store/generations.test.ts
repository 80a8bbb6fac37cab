import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { Generations } from './generations.ts';

const cacheOf = (weightMax: number) => new Generations(weightMax, () => new Map<string, number>());

describe('Generations, a cache in two generations', () => {
  test('a full recent generation becomes the former one, and the former one is evicted', () => {
    const cache = cacheOf(4);
    cache.put('a', 1, 1);
    cache.put('b', 2, 2);
    expect([cache.recent('a'), cache.former('a')]).toEqual([undefined, 1]);
    cache.put('c', 3, 3);
    expect(['a', 'b', 'c'].map((key) => cache.former(key))).toEqual([undefined, undefined, 3]);
  });

  test('a value that is put again on each read from the former generation is never evicted', () => {
    const cache = cacheOf(4);
    cache.put('kept', 0, 1);
    for (let i = 0; i < 20; i++) {
      cache.put(`other ${i}`, i, 1);
      const value = cache.recent('kept') ?? cache.former('kept');
      expect(value).toBe(0);
      if (cache.recent('kept') === undefined) cache.put('kept', 0, 1);
    }
  });

  test('delete() removes a value from both generations and frees its weight', () => {
    const cache = cacheOf(4);
    cache.put('a', 1, 2);
    cache.delete('a', 2);
    cache.put('b', 1, 1);
    cache.put('c', 1, 1);
    expect([cache.recent('a'), cache.former('a')]).toEqual([undefined, undefined]);
    expect(cache.recent('b')).toBe(1);
    cache.put('d', 1, 1);
    cache.delete('b');
    expect(cache.former('b')).toBeUndefined();
    cache.clear();
    expect([cache.recent('d'), cache.former('c')]).toEqual([undefined, undefined]);
  });

  test('each generation holds at most its weight and one more value', () => {
    fc.assert(
      fc.property(
        fc.array(fc.tuple(fc.nat(30), fc.integer({ min: 1, max: 10 })), { maxLength: 200 }),
        (puts) => {
          const cache = cacheOf(20);
          const weights = new Map(puts.map(([key, weight]) => [String(key), weight]));
          for (const [key] of puts) {
            const name = String(key);
            const weight = weights.get(name) ?? 0;
            if (cache.recent(name) === undefined) cache.put(name, weight, weight);
            expect(cache.recent(name) ?? cache.former(name)).toBe(weight);
            const held = (of: (key: string) => number | undefined) =>
              [...weights.keys()].reduce((sum, each) => sum + (of(each) ?? 0), 0);
            expect(held((each) => cache.recent(each))).toBeLessThanOrEqual(10);
            expect(held((each) => cache.former(each))).toBeLessThanOrEqual(10 + 10);
          }
        },
      ),
    );
  });
});
