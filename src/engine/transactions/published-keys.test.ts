import { expect, test } from 'vitest';
import { EVERY_KEY } from '../../codec/ranges.ts';
import { Refusal } from '../../errors.ts';
import { createMemoryStore } from '../../store/memory.ts';
import type { Store } from '../../store/port.ts';
import { scan } from '../../store/scan.ts';
import { HostWork } from './host-work.ts';
import { PublishedKeys } from './published-keys.ts';

test('provider keys of recently used addresses are kept in memory, and others are read from the store', async () => {
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

test('expired provider keys are removed from the store when others are fetched', async () => {
  const store = createMemoryStore();
  let now = 1;
  const accessTokens = { fetchKeys: async () => '{"keys":[]}', isSigned: async () => true };
  const keys = new PublishedKeys({ store, clock: () => now, accessTokens });
  const stored = async (): Promise<number> => {
    const { ranges } = await store.read((tx) => tx.fetch([], [scan('meta', EVERY_KEY)]));
    return ranges[0]?.length ?? 0;
  };
  for (let n = 0; n < 100; n++) await keys.haveSigned('token', `https://example.org/${n}`);
  expect(await stored()).toBe(100);
  now += 30 * 86_400 * 1_000_000;
  expect(await keys.haveSigned('token', 'https://example.org/7')).toBe(true);
  expect(await stored()).toBe(1);
  now += 1_000_000;
  expect(await keys.haveSigned('token', 'https://example.org/100')).toBe(true);
  expect(await stored()).toBe(2);
});

test('provider keys are used even if they cannot be stored', async () => {
  const full: Store = {
    ...createMemoryStore(),
    write: () => Promise.reject(new Refusal('quota_exceeded', 'The disk is full.')),
  };
  const accessTokens = { fetchKeys: async () => '{"keys":[]}', isSigned: async () => true };
  const keys = new PublishedKeys({ store: full, clock: () => 1, accessTokens });
  expect(await keys.haveSigned('token', 'https://example.org')).toBe(true);
});

test('provider keys that were fetched while the clock was ahead are fetched again', async () => {
  const store = createMemoryStore();
  let now = 4_000_000_000 * 1_000_000;
  let published = 'old';
  const accessTokens = {
    fetchKeys: async () => `{"keys":["${published}"]}`,
    isSigned: async (_token: string, text: string) => text.includes('new'),
  };
  const isSigned = (): Promise<boolean> =>
    new PublishedKeys({ store, clock: () => now, accessTokens }).haveSigned('token', 'uri');
  expect(await isSigned()).toBe(false);
  published = 'new';
  now /= 2;
  expect(await isSigned()).toBe(true);
});

test('a new key of a provider is fetched, and a revoked one is noticed, after the clock was set back', async () => {
  let now = 4_000_000_000 * 1_000_000;
  let published = 'first';
  const accessTokens = {
    fetchKeys: async () => `{"keys":["${published}"]}`,
    isSigned: async (token: string, text: string) => text.includes(token) || 'unknown key',
  } as const;
  const keys = new PublishedKeys({ store: createMemoryStore(), clock: () => now, accessTokens });
  expect(await keys.haveSigned('first', 'uri')).toBe(true);
  now /= 2;
  published = 'second';
  expect(await keys.haveSigned('second', 'uri')).toBe(true);
  expect(await keys.haveSigned('first', 'uri')).toBe(false);
});

test('a signature is verified again after a minute, or if the clock was set back', async () => {
  let now = 1_000_000_000_000;
  const work = new HostWork({
    store: createMemoryStore(),
    clock: () => now,
    passwords: { hash: () => Promise.resolve(''), verify: () => Promise.resolve(false) },
    hashCost: 4,
    accessTokens: { fetchKeys: async () => '{"keys":[]}', isSigned: async () => true },
  });
  expect(await work.isSigned('token', 'uri')).toBe(true);
  const verified = now;
  const known = [0, 59_000_000, 60_000_000, -1].map((since) => {
    now = verified + since;
    return work.knownSignature('token', 'uri');
  });
  expect(known).toEqual([true, true, undefined, undefined]);
});
