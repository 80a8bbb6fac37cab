import { expect, test } from 'vitest';
import { TextCache } from './text-cache.ts';

/** How often the value is made when `text` is requested `times` times. */
function makings(cache: TextCache<number>, text: string, times: number): number {
  let made = 0;
  for (let i = 0; i < times; i += 1) {
    cache.get(text, () => {
      made += 1;
      return made;
    });
  }
  return made;
}

test('get() caches a short text at once, a longer text on its second use, and a very long text never', () => {
  const cache = new TextCache<number>();
  expect(makings(cache, 'x'.repeat(4096), 5)).toBe(1);
  expect(makings(cache, 'x'.repeat(4097), 5)).toBe(2);
  expect(makings(cache, 'x'.repeat(64 * 1024 + 1), 5)).toBe(5);
});

test('get() drops a text that is not used while 2 MiB of other texts are', () => {
  const cache = new TextCache<number>();
  const others = (from: number) => {
    for (let i = from; i < from + 20; i += 1) makings(cache, `${i}`.padStart(60_000), 1);
  };
  makings(cache, 'often', 1);
  others(0);
  expect(makings(cache, 'often', 1)).toBe(0);
  others(20);
  expect(makings(cache, 'often', 1)).toBe(0);
  others(40);
  others(60);
  expect(makings(cache, 'often', 1)).toBe(1);
});

test('get() remembers that a long text was used once, even after many other texts', () => {
  const cache = new TextCache<number>();
  const long = 'y'.repeat(5000);
  makings(cache, long, 1);
  for (let i = 0; i < 20; i += 1) makings(cache, `${i}`.padStart(60_000), 1);
  expect(makings(cache, long, 3)).toBe(1);
});

test.each([
  [
    'a password',
    '{"login":{"ref":{"collection":"users"},"id":"1"},"params":{"object":{"password":"hunter2"}}}',
  ],
  ['a password under an escaped name', '{"object":{"pass\\u0077ord":"hunter2"}}'],
  ['the arguments of a call', '{"call":{"function":"sign_in"},"arguments":["ada","hunter2"]}'],
  ['the secret of a key', '{"key_from_secret":"fnAD7S2jHAACAP__tVvaDfoQ5uK5O1rqDmqYg0Zw"}'],
  ['a password and many characters', `{"password":"hunter2","more":"${'x'.repeat(5000)}"}`],
])('get() does not cache a text that has %s', (_, text) => {
  const cache = new TextCache<number>();
  expect(makings(cache, `4 ${text}`, 3)).toBe(3);
});
