import { expect } from '@playwright/test';
import { print, test } from './support/app-test.ts';

const ACCOUNTS = 8;
const START_BALANCE = 1000;
const TRANSFERS_PER_TAB = 500;
const AT_ONCE = 4;

test('1,000 transfers from two tabs at once keep the sum, and each acknowledged one is there', async ({
  profile,
}) => {
  const tabs = [await profile.openTab(), await profile.openTab()];
  await Promise.all(
    tabs.map((page) =>
      page.evaluate(async () => {
        globalThis.db = await burrow.openDatabase('bank');
      }),
    ),
  );
  await tabs[0]?.evaluate(
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
  const runs = await Promise.all(
    tabs.map((page, tab) =>
      page.evaluate(
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
          const transfer = async (n: number): Promise<void> => {
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
              await transfer(n).catch((error: Error) => failures.push(error.message));
              if (n % 10 === 0) sums.add(await readSum());
            }
          };
          await Promise.all(Array.from({ length: atOnce }, work));
          return { acknowledged, failures, retries, sums: [...sums] };
        },
        { tab, count: TRANSFERS_PER_TAB, accounts: ACCOUNTS, atOnce: AT_ONCE },
      ),
    ),
  );
  const seconds = (performance.now() - started) / 1000;

  const end = await tabs[1]?.evaluate(async () => {
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
      problems: await db.verify(),
    };
  });
  const acknowledged = runs.flatMap((run) => run.acknowledged);
  print('transfers from two tabs', {
    acknowledged: acknowledged.length,
    perSecond: Math.round(acknowledged.length / seconds),
    retries: runs.map((run) => run.retries),
    failures: runs.flatMap((run) => run.failures),
  });
  expect(runs.flatMap((run) => run.failures)).toEqual([]);
  expect(acknowledged.length).toBe(tabs.length * TRANSFERS_PER_TAB);
  expect(Object.keys(end?.transfers ?? {}).sort()).toEqual(acknowledged.sort());
  // Every view of all accounts was one moment.
  expect(new Set(runs.flatMap((run) => run.sums))).toEqual(new Set([ACCOUNTS * START_BALANCE]));
  const expected = Array.from({ length: ACCOUNTS }, () => START_BALANCE);
  for (const { from, to, amount } of Object.values(end?.transfers ?? {})) {
    expected[from] = (expected[from] ?? 0) - amount;
    expected[to] = (expected[to] ?? 0) + amount;
  }
  const balances = expected.map((_, id) => end?.accounts[String(id + 1)]?.balance);
  expect(balances).toEqual(expected);
  expect(end?.problems).toEqual([]);
});

test('a live query in one tab follows what another writes: in order, to the last', async ({
  profile,
}) => {
  const [writer, watcher] = [await profile.openTab(), await profile.openTab()];
  await writer.evaluate(async () => {
    const { q } = burrow;
    globalThis.db = await burrow.openDatabase('live');
    await db.client().query(q.CreateCollection({ name: 'notes' }));
    await db.client().query(q.Create(q.Ref(q.Collection('notes'), '1'), { data: { n: 0 } }));
  });
  await watcher.evaluate(async () => {
    const { q } = burrow;
    globalThis.db = await burrow.openDatabase('live');
    const seen: unknown[] = [];
    Object.assign(globalThis, { seen });
    db.client().subscribe(q.Select(['data', 'n'], q.Get(q.Ref(q.Collection('notes'), '1'))), {
      next: (value) => seen.push(value),
      error: (error) => seen.push(error.message),
    });
  });
  const seen = () => watcher.evaluate(() => (globalThis as unknown as { seen: unknown[] }).seen);
  await expect.poll(seen).toEqual([0]);
  await writer.evaluate(async () => {
    const { q } = burrow;
    const ref = q.Ref(q.Collection('notes'), '1');
    for (let n = 1; n <= 50; n++) await db.client().query(q.Update(ref, { data: { n } }));
  });
  await expect.poll(async () => (await seen()).at(-1)).toBe(50);
  const numbers = await seen();
  print('live across tabs', { writes: 50, answers: numbers.length });
  expect(numbers).toEqual([...numbers].sort((a, b) => Number(a) - Number(b)));
  expect(new Set(numbers).size).toBe(numbers.length);
  await writer.evaluate(() =>
    db.client().query(burrow.q.Delete(burrow.q.Ref(burrow.q.Collection('notes'), '1'))),
  );
  await expect.poll(async () => (await seen()).at(-1)).toMatch(/^instance not found/);
});

test('of many who claim one unique value in two tabs at once, exactly one wins', async ({
  profile,
}) => {
  const tabs = [await profile.openTab(), await profile.openTab()];
  for (const page of tabs) {
    await page.evaluate(async () => {
      globalThis.db = await burrow.openDatabase('unique');
    });
  }
  await tabs[0]?.evaluate(async () => {
    const { q } = burrow;
    const admin = db.client();
    await admin.query(q.CreateCollection({ name: 'users' }));
    await admin.query(
      q.CreateIndex({
        name: 'users_by_email',
        source: q.Collection('users'),
        terms: [{ field: ['data', 'email'] }],
        unique: true,
      }),
    );
  });
  const runs = await Promise.all(
    tabs.map((page, tab) =>
      page.evaluate(async (tab) => {
        const { q } = burrow;
        const claim = async (email: string): Promise<string> => {
          try {
            await db.client().query(q.Create(q.Collection('users'), { data: { email, tab } }));
            return email;
          } catch (error) {
            return error instanceof burrow.QueryError ? error.code : String(error);
          }
        };
        const emails = Array.from({ length: 40 }, (_, n) => `user${n}@example.org`);
        // Two claims each, in both tabs: four for one address.
        return Promise.all([...emails, ...emails].map(claim));
      }, tab),
    ),
  );
  const outcomes = runs.flat();
  const winners = outcomes.filter((outcome) => outcome.includes('@'));
  const losers = outcomes.filter((outcome) => !outcome.includes('@'));
  const stored = await tabs[0]?.evaluate(() => {
    const { q } = burrow;
    return db.client().query(q.Count(q.Documents(q.Collection('users'))));
  });
  print('unique race', {
    claims: outcomes.length,
    winners: runs.map((run) => run.filter((outcome) => outcome.includes('@')).length),
    losers: losers.length,
  });
  expect(new Set(winners).size).toBe(40);
  expect(winners.length).toBe(40);
  expect(new Set(losers)).toEqual(new Set(['instance not unique']));
  expect(stored).toBe(40);
  expect(await tabs[1]?.evaluate(() => db.verify())).toEqual([]);
});
