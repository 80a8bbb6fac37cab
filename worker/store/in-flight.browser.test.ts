/** Transactions that are in progress when a store closes, and transactions that run one at a time. */
import { describe, expect, test } from 'vitest';
import { metaKey } from '../../src/codec/key.ts';
import type { Store } from '../../src/store/port.ts';
import { loseConnection, withFault } from '../testing/idb-faults.ts';
import { OPEN, STORE_KINDS } from '../testing/store-kinds.ts';
import { freshName } from '../testing/store-kit.ts';

const COUNTER = { space: 'meta', key: metaKey('counter') } as const;

const countOf = (value: string | Uint8Array | undefined): number => Number(value ?? 0);

const increment = (store: Store): Promise<void> =>
  store.write(
    async (tx) => {
      const { rows } = await tx.fetch([COUNTER], []);
      const value = String(countOf(rows[0]?.value) + 1);
      const row = { key: COUNTER.key, entries: [], value };
      tx.apply({ puts: [{ space: COUNTER.space, row }], deletes: [] });
    },
    { durability: 'relaxed' },
  );

const read = (store: Store): Promise<number> =>
  store.read(async (tx) => countOf((await tx.fetch([COUNTER], [])).rows[0]?.value));

/** The greatest number of simultaneous transactions while the body runs, and the number of those left at its end. */
async function counting(body: () => Promise<void>): Promise<{ most: number; left: number }> {
  const alive = new Set<IDBTransaction>();
  const seen = { most: 0, left: 0 };
  const note = (_call: unknown, result: unknown): void => {
    if (!(result instanceof IDBTransaction)) return;
    alive.add(result);
    seen.most = Math.max(seen.most, alive.size);
    for (const end of ['complete', 'abort'])
      result.addEventListener(end, () => alive.delete(result));
  };
  await withFault({ after: note }, body);
  return { ...seen, left: alive.size };
}

describe.each(STORE_KINDS)('in the layout `%s`', (kind) => {
  test('close() leaves no transaction in progress', async () => {
    for (const isOneAtATime of [true, false]) {
      const store = await OPEN[kind](freshName(), { isOneAtATime });
      let works: Promise<unknown> = Promise.resolve();
      const { left } = await counting(async () => {
        works = Promise.allSettled([increment(store), read(store)]);
        // Both have begun, or wait for their turn.
        await read(store);
        await store.close();
      });
      expect(left).toBe(0);
      await works;
      await expect(read(store)).rejects.toMatchObject({ code: 'storage_unavailable' });
      await store.destroy();
    }
  });

  test('a store with isOneAtATime runs one transaction at a time and loses none', async () => {
    const store = await OPEN[kind](freshName(), { isOneAtATime: true });
    const { most, left } = await counting(async () => {
      const failing = store.read(() => Promise.reject(new Error('of the body')));
      const work = [increment, read, read].flatMap((each) =>
        Array.from({ length: 10 }, () => each(store)),
      );
      await expect(failing).rejects.toThrow('of the body');
      await Promise.all(work);
      await store.close();
    });
    expect([most, left]).toEqual([1, 0]);
    await store.destroy();
  });

  test('transactions that wait for their turn run after the connection was lost', async () => {
    const store = await OPEN[kind](freshName(), { isOneAtATime: true });
    await increment(store);
    const losing = loseConnection(store);
    await Promise.all([losing, ...Array.from({ length: 10 }, () => increment(store))]);
    expect(await read(store)).toBe(11);
    await store.destroy();
  });
});
