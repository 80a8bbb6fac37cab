import { expect, test } from 'vitest';
import { createMemoryStore } from '../../store/memory.ts';
import { PublishedKeys } from './published-keys.ts';

test('keys of the addresses that were asked last are in memory, and those of the others in the store', async () => {
  const store = createMemoryStore();
  let [reads, fetches] = [0, 0];
  const keys = new PublishedKeys({
    store: {
      ...store,
      read: (...read) => {
        reads += 1;
        return store.read(...read);
      },
      write: (...write) => store.write(...write),
    },
    clock: () => 1,
    accessTokens: {
      fetchKeys: async () => {
        fetches += 1;
        return '{"keys":[]}';
      },
      isSigned: async () => true,
    },
  });
  const ask = (n: number) => keys.haveSigned('token', `https://example.org/${n}`);
  for (let n = 0; n < 100; n++) expect(await ask(n)).toBe(true);
  expect([reads, fetches]).toEqual([100, 100]);
  await ask(99);
  expect([reads, fetches]).toEqual([100, 100]);
  await ask(0);
  expect([reads, fetches]).toEqual([101, 100]);
});
