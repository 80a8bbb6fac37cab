import { describe, expect } from 'vitest';
import { createUsers } from '../support/users.ts';
import { engines, print } from './support/browser-test.ts';
import { verify } from './support/notes.ts';
import type { Tab } from './support/tab.ts';

const ACCOUNTS = 8;
const START_BALANCE = 1000;
const TRANSFERS_PER_TAB = 500;
const AT_ONCE = 4;

const openBank = (tab: Tab): Promise<void> =>
  tab.run(async () => {
    globalThis.db = await burrow.openDatabase('bank');
  });

/** Moves amounts between accounts, and sometimes reads the sum of all of them. */
const transfer = (tab: Tab, number: number) =>
  tab.run(
    async ({ tab, count, accounts, atOnce }) => {
      const { q } = burrow;
      const admin = db.client();
      const account = (id: number) => q.Ref(q.Collection('accounts'), String(id + 1));
      const add = (ref: ReturnType<typeof account>, amount: number) =>
        q.Update(ref, {
          data: { balance: q.Add(q.Select(['data', 'balance'], q.Get(ref)), amount) },
        });
      const acknowledged: string[] = [];
      const failures: string[] = [];
      const sums = new Set<number>();
      let retries = 0;
      let next = 0;
      const move = async (n: number): Promise<void> => {
        const from = (n * 7 + tab) % accounts;
        const to = (from + 1 + (n % (accounts - 1))) % accounts;
        const id = String(tab * 100_000 + n + 1);
        const data = { from, to, amount: n % 5 };
        const { metrics } = await admin.queryWithMetrics(
          q.Do(
            add(account(from), -data.amount),
            add(account(to), data.amount),
            q.Create(q.Ref(q.Collection('transfers'), id), { data }),
          ),
        );
        retries += metrics.retries;
        acknowledged.push(id);
      };
      const readSum = () =>
        admin.query(
          q.Sum(
            q.Map(
              Array.from({ length: accounts }, (_, id) => String(id + 1)),
              (id) => q.Select(['data', 'balance'], q.Get(q.Ref(q.Collection('accounts'), id))),
            ),
          ),
        );
      const work = async (): Promise<void> => {
        while (next < count) {
          const n = next++;
          await move(n).catch((error: Error) => failures.push(error.message));
          if (n % 10 === 0) sums.add(await readSum());
        }
      };
      await Promise.all(Array.from({ length: atOnce }, work));
      return { acknowledged, failures, retries, sums: [...sums] };
    },
    { tab: number, count: TRANSFERS_PER_TAB, accounts: ACCOUNTS, atOnce: AT_ONCE },
  );

const readBank = (tab: Tab) =>
  tab.run(async () => {
    const { q } = burrow;
    const read = async <T>(name: string): Promise<Record<string, T>> => {
      const documents = await db
        .client()
        .query<{ data: { ref: { id: string }; data: T }[] }>(
          q.Map(q.Paginate(q.Documents(q.Collection(name)), { size: 10_000 }), (ref) => q.Get(ref)),
        );
      return Object.fromEntries(documents.data.map(({ ref, data }) => [ref.id, data]));
    };
    return {
      accounts: await read<{ balance: number }>('accounts'),
      transfers: await read<{ from: number; to: number; amount: number }>('transfers'),
    };
  });

describe.for(engines)('%s', ([, test]) => {
  test('1,000 concurrent transfers from two tabs keep the sum, and each acknowledged transfer is stored (L2)', async ({
    browser,
  }) => {
    const first = await browser.start();
    const second = await browser.openTab(first);
    await Promise.all([openBank(first), openBank(second)]);
    await first.run(
      async ({ accounts, balance }) => {
        const { q } = burrow;
        const admin = db.client();
        await admin.query(q.CreateCollection({ name: 'accounts' }));
        await admin.query(q.CreateCollection({ name: 'transfers' }));
        await admin.query(
          q.Foreach(
            Array.from({ length: accounts }, (_, id) => id + 1),
            (id) => q.Create(q.Ref(q.Collection('accounts'), id), { data: { balance } }),
          ),
        );
      },
      { accounts: ACCOUNTS, balance: START_BALANCE },
    );

    const started = performance.now();
    const runs = await Promise.all([transfer(first, 0), transfer(second, 1)]);
    const seconds = (performance.now() - started) / 1000;
    const { accounts, transfers } = await readBank(second);
    const acknowledged = runs.flatMap((run) => run.acknowledged);
    print(browser, 'transfers from two tabs', {
      acknowledged: acknowledged.length,
      perSecond: Math.round(acknowledged.length / seconds),
      retries: runs.map((run) => run.retries),
      failures: runs.flatMap((run) => run.failures),
    });
    expect(runs.flatMap((run) => run.failures)).toEqual([]);
    expect(acknowledged.length).toBe(2 * TRANSFERS_PER_TAB);
    expect(Object.keys(transfers).sort()).toEqual(acknowledged.sort());
    // Each read of all accounts saw a consistent snapshot.
    expect(new Set(runs.flatMap((run) => run.sums))).toEqual(new Set([ACCOUNTS * START_BALANCE]));
    const expected = Array.from({ length: ACCOUNTS }, () => START_BALANCE);
    for (const { from, to, amount } of Object.values(transfers)) {
      expected[from] = (expected[from] ?? 0) - amount;
      expected[to] = (expected[to] ?? 0) + amount;
    }
    expect(expected.map((_, id) => accounts[String(id + 1)]?.balance)).toEqual(expected);
    expect(await verify(second)).toEqual([]);
  });

  test('a live query in one tab reports the writes of another tab in order, up to the last one', async ({
    browser,
  }) => {
    const writer = await browser.start();
    await writer.run(async () => {
      const { q } = burrow;
      globalThis.db = await burrow.openDatabase('live');
      await db.client().query(q.CreateCollection({ name: 'notes' }));
      await db.client().query(q.Create(q.Ref(q.Collection('notes'), '1'), { data: { n: 0 } }));
    });
    const watcher = await browser.openTab(writer);
    await watcher.run(async () => {
      const { q } = burrow;
      globalThis.db = await burrow.openDatabase('live');
      db.client().subscribe(q.Select(['data', 'n'], q.Get(q.Ref(q.Collection('notes'), '1'))), {
        next: (value) => void tell(value),
        error: (error) => void tell(error.message),
      });
    });
    await expect.poll(() => watcher.told).toEqual([0]);
    await writer.run(async () => {
      const { q } = burrow;
      const ref = q.Ref(q.Collection('notes'), '1');
      for (let n = 1; n <= 50; n++) await db.client().query(q.Update(ref, { data: { n } }));
    });
    await expect.poll(() => watcher.told.at(-1)).toBe(50);
    const numbers = [...watcher.told];
    print(browser, 'live across tabs', { writes: 50, answers: numbers.length });
    expect(numbers).toEqual([...numbers].sort((a, b) => Number(a) - Number(b)));
    expect(new Set(numbers).size).toBe(numbers.length);
    await writer.run(() =>
      db.client().query(burrow.q.Delete(burrow.q.Ref(burrow.q.Collection('notes'), '1'))),
    );
    await expect.poll(() => watcher.told.at(-1)).toMatch(/^instance not found/);
  });

  test('if two tabs claim each unique value several times at once, exactly one claim succeeds', async ({
    browser,
  }) => {
    const first = await browser.start();
    await first.run(async () => {
      globalThis.db = await burrow.openDatabase('unique');
    });
    await first.run(createUsers, {});
    const second = await browser.openTab(first);
    await second.run(async () => {
      globalThis.db = await burrow.openDatabase('unique');
    });
    const claim = (tab: Tab) =>
      tab.run(async () => {
        const { q } = burrow;
        const claim = (email: string): Promise<string> =>
          db
            .client()
            .query(q.Create(q.Collection('users'), { data: { email } }))
            .then(
              () => email,
              (error: unknown) => (error instanceof burrow.QueryError ? error.code : String(error)),
            );
        const emails = Array.from({ length: 40 }, (_, n) => `user${n}@example.org`);
        // Each tab claims each address twice, which makes four claims per address.
        return Promise.all([...emails, ...emails].map(claim));
      });
    const runs = await Promise.all([claim(first), claim(second)]);
    const outcomes = runs.flat();
    const winners = outcomes.filter((outcome) => outcome.includes('@'));
    const losers = outcomes.filter((outcome) => !outcome.includes('@'));
    print(browser, 'unique race', {
      claims: outcomes.length,
      winners: runs.map((run) => run.filter((outcome) => outcome.includes('@')).length),
    });
    expect(new Set(winners).size).toBe(40);
    expect(winners.length).toBe(40);
    expect(new Set(losers)).toEqual(new Set(['instance not unique']));
    expect(
      await first.run(() =>
        db.client().query(burrow.q.Count(burrow.q.Documents(burrow.q.Collection('users')))),
      ),
    ).toBe(40);
    expect(await verify(second)).toEqual([]);
  });
});
