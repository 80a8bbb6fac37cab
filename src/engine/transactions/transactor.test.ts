import { randomBytes } from 'node:crypto';
import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { documentKey } from '../../codec/key.ts';
import { Refusal } from '../../errors.ts';
import { createMemoryStore } from '../../store/memory.ts';
import type { Store } from '../../store/port.ts';
import { scan } from '../../store/scan.ts';
import type { TransactionBody, BodyInput } from './execution.ts';
import { Transactor } from './transactor.ts';

const passwords = { hash: async (text: string) => `hash of ${text}`, verify: async () => true };

const transactorOn = (
  store: Store,
  term?: () => number | undefined,
  isPermanent?: boolean,
): Transactor =>
  new Transactor({
    store,
    clock: () => 0,
    passwords,
    random: (bytes) => new Uint8Array(randomBytes(bytes)),
    durability: 'relaxed',
    hashCost: 4,
    ...(term && { lease: { term, ...(isPermanent && { isPermanent }) } }),
  });

const address = (id: number) =>
  ({ space: 'documents', key: documentKey(0, 1024, BigInt(id)) }) as const;

const valueAt = ({ writer }: BodyInput, id: number): number =>
  Number(writer.row(address(id))?.value ?? 0);

const put = ({ writer }: BodyInput, id: number, value: number): void =>
  writer.put('documents', { key: address(id).key, entries: [], value: String(value) });

/** Adds `amount` to a counter and returns its new value. */
const adding =
  (id: number, amount: number): TransactionBody<number> =>
  (input) => {
    const value = valueAt(input, id) + amount;
    put(input, id, value);
    return { value, ts: input.head + 1 };
  };

const reading =
  (id: number): TransactionBody<number> =>
  (input) => ({ value: valueAt(input, id) });

test('concurrent calls of write() lose nothing, see the writes before them, and share commits', async () => {
  const store = createMemoryStore();
  const transactor = transactorOn(store);
  let commits = 0;
  transactor.onCommit(() => void commits++);
  const results = await Promise.all(
    Array.from({ length: 100 }, () => transactor.write(adding(1, 1))),
  );
  expect(results.map((each) => each.value)).toEqual(Array.from({ length: 100 }, (_, i) => i + 1));
  expect(new Set(results.map((each) => each.committed)).size).toBe(100);
  expect(commits).toBeLessThan(10);
});

test('write() in two engines on one store loses nothing: after a commit of the other engine it runs again (L2)', async () => {
  const store = createMemoryStore();
  const tabs = [transactorOn(store, () => 1), transactorOn(store, () => 1)];
  const all = tabs.flatMap((tab) => Array.from({ length: 200 }, () => tab));
  for (let i = 0; i < all.length; i += 4) {
    await Promise.all(all.slice(i, i + 4).map((tab) => tab.write(adding(1, 1))));
    await tabs[i % 2]?.write(adding(1, 1));
  }
  const { value } = await transactorOn(store).read(reading(1));
  expect(value).toBe(400 + 100);
});

test('read() of a snapshot that a later read has overtaken does not change the cache', async () => {
  const memory = createMemoryStore();
  const [tab, other] = [transactorOn(memory), transactorOn(memory)];
  await other.write(adding(1, 1));
  let release = (): void => undefined;
  const late = new Promise<void>((resolve) => (release = resolve));
  let isHeld = true;
  let rows = 0;
  const reader = transactorOn({
    ...memory,
    read: (body, options) =>
      memory.read(
        (tx) =>
          body({
            fetch: async (...asked) => {
              const holds = isHeld;
              isHeld = false;
              const found = await tx.fetch(...asked);
              rows += asked[0].length;
              if (holds) await late;
              return found;
            },
          }),
        options,
      ),
  });
  const overtaken = reader.read(reading(1));
  await tab.write(adding(2, 5));
  expect((await reader.read(reading(2))).value).toBe(5);
  release();
  expect((await overtaken).value).toBe(1);
  rows = 0;
  expect((await reader.read(reading(2))).value).toBe(5);
  // Only the head is fetched; the row itself is cached.
  expect(rows).toBe(1);
});

test('write() that waits for another process shares its commit with the writes that arrive later', async () => {
  const memory = createMemoryStore();
  let turn = Promise.resolve();
  const store: Store = {
    ...memory,
    write: async (body, options) => {
      await turn;
      return memory.write(body, options);
    },
  };
  const own = transactorOn(store);
  const other = transactorOn(memory);
  await own.write(adding(1, 1));
  let commits = 0;
  own.onCommit(() => void commits++);
  let begin = (): void => undefined;
  turn = new Promise((resolve) => (begin = resolve));
  const first = own.write(adding(1, 1));
  const later = [own.write(adding(1, 1)), own.write(adding(2, 1))];
  await other.write(adding(1, 1));
  begin();
  const values = (await Promise.all([first, ...later])).map(({ value }) => value);
  expect(values).toEqual([3, 4, 1]);
  expect(commits).toBe(1);
});

test('many slow calls of write() pause between their commits', async () => {
  let now = 0;
  let pauses = 0;
  const transactor = new Transactor({
    store: createMemoryStore(),
    clock: () => now,
    passwords,
    random: (bytes) => new Uint8Array(randomBytes(bytes)),
    durability: 'relaxed',
    hashCost: 4,
    pause: async () => void pauses++,
  });
  const slow: TransactionBody<number> = (input) => {
    now += 4000;
    return adding(1, 1)(input);
  };
  const results = await Promise.all(Array.from({ length: 30 }, () => transactor.write(slow)));
  expect(results.map((each) => each.value)).toEqual(Array.from({ length: 30 }, (_, i) => i + 1));
  expect(pauses).toBeGreaterThanOrEqual(9);
});

test('a group pauses between slices of its evaluation, but not inside a transaction, and is one commit', async () => {
  let now = 0;
  let opened = 0;
  let open = 0;
  const inner = createMemoryStore();
  const store: Store = {
    ...inner,
    write: (body, options) =>
      inner.write(async (tx) => {
        open += 1;
        opened += 1;
        try {
          return await body(tx);
        } finally {
          open -= 1;
        }
      }, options),
  };
  const pauses: { readonly now: number; readonly open: number }[] = [];
  const transactor = new Transactor({
    store,
    clock: () => now,
    passwords,
    random: (bytes) => new Uint8Array(randomBytes(bytes)),
    durability: 'relaxed',
    hashCost: 4,
    sliceMicros: 3000,
    async pause() {
      pauses.push({ now, open });
      // So the group must be executed again, inside its transaction.
      await other.write(adding(2, 1));
    },
  });
  const other = transactorOn(inner);
  await transactor.read(reading(1));
  const slow: TransactionBody<number> = (input) => {
    now += 2000;
    return adding(1, 1)(input);
  };
  const results = await Promise.all(Array.from({ length: 5 }, () => transactor.write(slow)));
  expect(results.map((each) => each.value)).toEqual([1, 2, 3, 4, 5]);
  // The first write is alone, because the others come later.
  expect({ opened, pauses, now }).toEqual({
    opened: 2,
    pauses: [{ now: 6000, open: 0 }],
    now: 18_000,
  });
});

test('writes for which a group had no time are executed before writes that came later', async () => {
  let now = 0;
  const transactor = new Transactor({
    store: createMemoryStore(),
    clock: () => now,
    passwords,
    random: (bytes) => new Uint8Array(randomBytes(bytes)),
    durability: 'relaxed',
    hashCost: 4,
  });
  await transactor.read(reading(1));
  let late: ReturnType<typeof transactor.write<number>> | undefined;
  const slow: TransactionBody<number> = (input) => {
    now += 4000;
    // The first is executed before the others are there.
    if (now > 4000) late ??= transactor.write(adding(1, 1));
    return adding(1, 1)(input);
  };
  const results = await Promise.all(Array.from({ length: 30 }, () => transactor.write(slow)));
  expect(results.map(({ value }) => value)).toEqual(Array.from({ length: 30 }, (_, i) => i + 1));
  expect((await late)?.value).toBe(31);
});

test('a write() that fails changes nothing, and the other writes of its group are committed', async () => {
  const transactor = transactorOn(createMemoryStore());
  const failing: TransactionBody<number> = (input) => {
    put(input, 1, 99);
    throw new Error('no');
  };
  const dropping: TransactionBody<number> = (input) => {
    put(input, 2, 99);
    return { value: 0 };
  };
  const settled = await Promise.allSettled([
    transactor.write(adding(1, 1)),
    transactor.write(failing),
    transactor.write(dropping),
    transactor.write(adding(1, 1)),
  ]);
  expect(settled.map((each) => each.status)).toEqual([
    'fulfilled',
    'rejected',
    'fulfilled',
    'fulfilled',
  ]);
  expect((await transactor.read(reading(1))).value).toBe(2);
  expect((await transactor.read(reading(2))).value).toBe(0);
});

test('write() whose commit the store refuses fails with the reason and changes nothing', async () => {
  const store = createMemoryStore();
  let isFull = false;
  const full: Store = {
    ...store,
    write: (body, options) =>
      store.write(async (tx) => {
        const value = await body(tx);
        if (isFull) throw new Error('disk is full');
        return value;
      }, options),
  };
  const transactor = transactorOn(full);
  await transactor.write(adding(1, 1));
  isFull = true;
  const refused = await Promise.allSettled([
    transactor.write(adding(1, 1)),
    transactor.write(adding(1, 1)),
  ]);
  expect(refused.map((each) => each.status)).toEqual(['rejected', 'rejected']);
  isFull = false;
  expect((await transactor.read(reading(1))).value).toBe(1);
  expect((await transactor.write(adding(1, 1))).value).toBe(2);
});

test('a transaction that waits for a hash delays no other, and runs again with the hash', async () => {
  const transactor = transactorOn(createMemoryStore());
  const order: string[] = [];
  const hashing: TransactionBody<string> = (input) => {
    const value = input.answers.hash('secret');
    put(input, 7, 1);
    return { value, ts: input.head + 1 };
  };
  const slow = transactor.write(hashing).then(({ value }) => order.push(value));
  const fast = transactor.write(adding(1, 1)).then(() => order.push('fast'));
  await Promise.all([slow, fast]);
  expect(order).toEqual(['fast', 'hash of secret']);
});

test('read() under a lease answers from the cache, which drops what another tab changes', async () => {
  const store = createMemoryStore();
  let reads = 0;
  const counted: Store = { ...store, read: (body) => (reads++, store.read(body)) };
  const tab = transactorOn(counted, () => 1);
  const other = transactorOn(store);
  await tab.write(adding(1, 1));
  expect((await tab.read(reading(1))).value).toBe(1);
  expect(reads).toBe(0);
  other.onCommit((notice) => tab.applyCommit(notice));
  await other.write(adding(1, 5));
  expect((await tab.read(reading(1))).value).toBe(6);
});

test('read() that loses its lease during a fetch shows one commit, not a mixture of two (L3)', async () => {
  const store = createMemoryStore();
  const other = transactorOn(store);
  const both: TransactionBody<string> = (input) => ({
    value: `${valueAt(input, 1)} ${valueAt(input, 2)}`,
  });
  let term: number | undefined = 1;
  let isFrozen = false;
  const whileFrozen = async (): Promise<void> => {
    term = undefined;
    await other.write(adding(1, 1));
    await other.write(adding(2, 1));
  };
  const frozen: Store = {
    ...store,
    read: (body) =>
      body({
        async fetch(...asked) {
          if (isFrozen) await whileFrozen();
          isFrozen = false;
          return store.read((tx) => tx.fetch(...asked));
        },
      }),
  };
  const tab = transactorOn(frozen, () => term);
  await tab.write(adding(1, 1));
  isFrozen = true;
  expect((await tab.read(both)).value).toBe('2 1');
});

test('read() under a lease sees the commit of a thread just before the snapshot is taken', async () => {
  const store = createMemoryStore();
  let beforeRead = (): Promise<unknown> => Promise.resolve();
  const late: Store = {
    ...store,
    read: (body) =>
      body({
        async fetch(rows, ranges) {
          const before = beforeRead;
          beforeRead = () => Promise.resolve();
          await before();
          return store.read((tx) => tx.fetch(rows, ranges));
        },
      }),
  };
  const tab = transactorOn(late, () => 1);
  const thread = transactorOn(store);
  thread.onCommit((notice) => tab.applyCommit(notice));
  const move: TransactionBody<number> = (input) => {
    put(input, 1, 0);
    put(input, 2, 5);
    return { value: 0, ts: input.head + 1 };
  };
  const both: TransactionBody<string> = (input) => ({
    value: `${valueAt(input, 1)} ${valueAt(input, 2)} at ${input.head}`,
  });
  await tab.write(adding(1, 5));
  expect((await tab.read(reading(1))).value).toBe(5);
  let committed: number | undefined;
  beforeRead = async () => {
    ({ committed } = await thread.write(move));
  };
  expect((await tab.read(both)).value).toBe(`0 5 at ${committed}`);
});

test('read() under a lease during a commit shows one state, not a mixture of two', async () => {
  const store = createMemoryStore();
  let answer = Promise.resolve();
  let onStored = (): void => undefined;
  const slow: Store = {
    ...store,
    write: async (body, options) => {
      const value = await store.write(body, options);
      onStored();
      await answer;
      return value;
    },
  };
  const tab = transactorOn(slow, () => 1);
  const both: TransactionBody<string> = (input) => ({
    value: `${valueAt(input, 1)} ${valueAt(input, 2)}`,
  });
  await tab.write(adding(1, 5));
  expect((await tab.read(reading(1))).value).toBe(5);
  let go = (): void => undefined;
  answer = new Promise((resolve) => (go = resolve));
  const stored = new Promise<void>((resolve) => (onStored = resolve));
  const moving = tab.write((input) => {
    put(input, 1, 0);
    put(input, 2, 5);
    return { value: 0, ts: input.head + 1 };
  });
  await stored;
  // The commit is stored, but the tab does not know it yet, and has cached the first row only.
  expect((await tab.read(both)).value).toBe('0 5');
  go();
  await moving;
  expect((await tab.read(both)).value).toBe('0 5');
});

test('read() of stale data is never older than what the tab has shown', async () => {
  const [store, behind] = [createMemoryStore(), createMemoryStore()];
  for (const each of [store, behind]) await transactorOn(each).write(adding(1, 1));
  await transactorOn(store).write(adding(1, 1));
  const stale: Store = {
    ...store,
    read: (body, options) => (options?.allowsStale ? behind : store).read(body, options),
  };
  const tab = transactorOn(stale);
  const minSnapshot = 1;
  expect((await tab.read(reading(1), { minSnapshot })).value).toBe(1);
  expect((await tab.read(reading(1))).value).toBe(2);
  expect((await tab.read(reading(1), { minSnapshot })).value).toBe(2);
});

test('results do not depend on what is cached', async () => {
  const step = fc.record({
    tab: fc.integer({ min: 0, max: 1 }),
    id: fc.integer({ min: 0, max: 3 }),
    amount: fc.integer({ min: -5, max: 5 }),
    isWrite: fc.boolean(),
  });
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 40 }), async (steps) => {
      const store = createMemoryStore();
      const tabs = [transactorOn(store), transactorOn(store)];
      const model = new Map<number, number>();
      for (const { tab, id, amount, isWrite } of steps) {
        const transactor = tabs[tab] ?? transactorOn(store);
        if (isWrite) model.set(id, (model.get(id) ?? 0) + amount);
        const body = isWrite ? adding(id, amount) : reading(id);
        const { value } = isWrite ? await transactor.write(body) : await transactor.read(body);
        expect(value).toBe(model.get(id) ?? 0);
      }
    }),
  );
});

test('an engine without a lease drops only rows from its cache that the other engine changed', async () => {
  const store = createMemoryStore();
  let asked = 0;
  const counted: Store = {
    ...store,
    read: (body) =>
      store.read((tx) =>
        body({
          fetch: (rows, ranges) => ((asked += rows.length + ranges.length), tx.fetch(rows, ranges)),
        }),
      ),
  };
  const [tab, other] = [transactorOn(counted), transactorOn(store)];
  for (let id = 1; id <= 5; id++) await tab.write(adding(id, id));
  const readAll: TransactionBody<number> = (input) => {
    const sum = [1, 2, 3, 4, 5].reduce((total, id) => total + valueAt(input, id), 0);
    return { value: sum };
  };
  await other.write(adding(1, 10));
  await other.write(adding(2, 10));
  asked = 0;
  expect((await tab.read(readAll)).value).toBe(35);
  // The head, then the two changed rows that its tail lists, each found missing in turn.
  expect(asked).toBeLessThanOrEqual(3);
});

/** Creates a row that is assumed absent. Returns `taken` if it exists. */
const creating =
  (id: number): TransactionBody<string> =>
  (input) => {
    if (input.writer.row(address(id), 'absent')) {
      return { value: 'taken' };
    }
    put(input, id, id);
    return { value: 'made', ts: input.head + 1 };
  };

test('read() under a new lease sees the commit of a tab that sent no notice of it', async () => {
  const store = createMemoryStore();
  let term: number | undefined = 1;
  const [tab, killed] = [transactorOn(store, () => term), transactorOn(store)];
  await tab.write(adding(1, 1));
  expect((await tab.read(reading(1))).value).toBe(1);
  term = undefined;
  await killed.write(adding(1, 10));
  term = 2;
  expect((await tab.read(reading(1))).value).toBe(11);
});

test('write() can assume that a row is absent, and notices if it exists', async () => {
  const store = createMemoryStore();
  for (const term of [1, undefined]) {
    const [tab, other] = [transactorOn(store, () => term), transactorOn(store)];
    const id = term === undefined ? 200 : 100;
    await other.write(creating(id));
    await tab.read(reading(1));
    expect((await tab.write(creating(id))).value).toBe('taken');
    expect((await tab.write(creating(id + 1))).value).toBe('made');
    const both = await Promise.all([tab.write(creating(id + 2)), other.write(creating(id + 2))]);
    expect(both.map((each) => each.value).sort()).toEqual(['made', 'taken']);
    const twice = await Promise.all([tab.write(creating(id + 3)), tab.write(creating(id + 3))]);
    expect(twice.map((each) => each.value)).toEqual(['made', 'taken']);
    expect((await transactorOn(store).read(reading(id + 2))).value).toBe(id + 2);
  }
});

test.each([
  ['without a lease', transactorOn],
  ['under a lease', (store: Store) => transactorOn(store, () => 1)],
  ['under a permanent lease', (store: Store) => transactorOn(store, () => 1, true)],
])('write() can assume that a range is empty, and notices if it is not: %s', async (_, open) => {
  const store = createMemoryStore();
  const tab = open(store);
  const some = { lower: address(300).key, upper: address(310).key };
  const claiming =
    (id: number): TransactionBody<string> =>
    (input) => {
      if (input.writer.range(scan('documents', some, { limit: 1 }), 'empty').length > 0)
        return { value: 'taken' };
      put(input, id, 1);
      return { value: 'made', ts: input.head + 1 };
    };
  await transactorOn(store).write(adding(305, 1));
  await tab.read(reading(1));
  expect((await tab.write(claiming(306))).value).toBe('taken');
  expect((await transactorOn(store).read(reading(306))).value).toBe(0);
});

test('write() without retries fails after a commit of another engine, and for no other reason', async () => {
  const store = createMemoryStore();
  const [tab, other] = [transactorOn(store, () => 1), transactorOn(store)];
  await tab.write(adding(1, 1));
  await other.write(adding(1, 10));
  const [hasty, patient] = await Promise.allSettled([
    tab.write(adding(1, 100), { retriesMax: 0 }),
    tab.write(adding(1, 1000), { retriesMax: 1 }),
  ]);
  expect(hasty).toMatchObject({ reason: { code: 'contended transaction' } });
  expect(patient).toMatchObject({ value: { value: 1011 } });
  await other.write(creating(300));
  await tab.read(reading(1));
  // The row is found to exist although no other commit intervened.
  expect((await tab.write(creating(300), { retriesMax: 0 })).value).toBe('taken');
});

test('an exception in a commit listener does not repeat the commit', async () => {
  const transactor = transactorOn(createMemoryStore());
  const thrown: unknown[] = [];
  const note = (reason: unknown) => void thrown.push(reason);
  process.on('unhandledRejection', note);
  transactor.onCommit(() => {
    throw new Error('the listener is broken');
  });
  expect((await transactor.write(adding(1, 1))).value).toBe(1);
  expect((await transactor.read(reading(1))).value).toBe(1);
  await expect.poll(() => thrown).toHaveLength(1);
  process.off('unhandledRejection', note);
});

test('writes whose commit may have succeeded are not retried, and the cache is no longer trusted', async () => {
  const store = createMemoryStore();
  let failure: Refusal | undefined;
  const unsure: Store = {
    ...store,
    write: async (body, options) => {
      const value = await store.write(body, options);
      if (failure?.code === 'storage_unavailable') throw failure;
      return value;
    },
  };
  const transactor = transactorOn(unsure, () => 1);
  await transactor.write(adding(1, 1));
  failure = new Refusal('storage_unavailable', 'The answer was lost.');
  const three = () => Promise.allSettled([1, 2, 3].map(() => transactor.write(adding(1, 1))));
  const lost = await three();
  expect(lost.every((each) => each.status === 'rejected')).toBe(true);
  failure = undefined;
  // The first write was committed alone, and the other two shared a commit. Each of the three took effect once.
  expect((await transactorOn(store).read(reading(1))).value).toBe(4);
  // A tab with the lease does not trust its cache after that either.
  expect((await transactor.read(reading(1))).value).toBe(4);
});

test('if one commit of a split group may have succeeded, the cache is no longer trusted', async () => {
  const store = createMemoryStore();
  const failures: (Refusal | undefined)[] = [];
  const unsure: Store = {
    ...store,
    write: async (body, options) => {
      const failure = failures.shift();
      const value = await store.write(async (tx) => {
        const result = await body(tx);
        if (failure?.code === 'quota_exceeded') throw failure;
        return result;
      }, options);
      if (failure) throw failure;
      return value;
    },
  };
  const transactor = transactorOn(unsure, () => 1);
  await transactor.write(adding(1, 1));
  // The first write is committed alone. The next two share a commit that exceeds the quota, so each is retried alone. The commit of the
  // second succeeds, but its response is lost.
  failures.push(
    undefined,
    new Refusal('quota_exceeded', 'No room for both.'),
    undefined,
    new Refusal('storage_unavailable', 'The answer was lost.'),
  );
  const settled = await Promise.allSettled([1, 2, 3].map(() => transactor.write(adding(1, 1))));
  expect(settled.map((each) => each.status)).toEqual(['fulfilled', 'fulfilled', 'rejected']);
  expect((await transactorOn(store).read(reading(1))).value).toBe(4);
  expect((await transactor.read(reading(1))).value).toBe(4);
});
