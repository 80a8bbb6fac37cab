import { expect, type Page, type Worker } from '@playwright/test';
import { print, test } from './support/app-test.ts';
import { loadApp } from './support/browser-profile.ts';
import { countRound, openNotes } from './support/notes.ts';

const BULK = 3000;

/** Starts one query that creates many documents. Its outcome is kept in the page, for tests in which the page survives. */
const startBulk = (page: Page, round: number): Promise<void> =>
  page.evaluate(
    ({ round, count }) => {
      const { q } = burrow;
      const numbers = Array.from({ length: count }, (_, n) => round * 100_000 + n + 1);
      const bulk = db
        .client()
        .query(
          q.Foreach(numbers, (n) =>
            q.Create(q.Ref(q.Collection('notes'), n), { data: { round, kind: 'bulk' } }),
          ),
        )
        .then(
          () => 'acknowledged',
          (error: unknown) => (error instanceof burrow.QueryError ? error.code : String(error)),
        );
      Object.assign(globalThis, { bulk });
    },
    { round, count: BULK },
  );

const bulkOutcome = (page: Page): Promise<string> =>
  page.evaluate(() => (globalThis as unknown as { bulk: Promise<string> }).bulk);

/** Records the worker that the package started last: only the page can access it. */
const rememberWorkers = (page: Page): Promise<unknown> =>
  page.addInitScript(() => {
    const Native = globalThis.Worker;
    globalThis.Worker = class extends Native {
      constructor(...args: ConstructorParameters<typeof globalThis.Worker>) {
        super(...args);
        Object.assign(globalThis, { lastWorker: this });
      }
    };
  });

/** The worker that serves the page. Workers that were killed disappear with a delay. */
async function onlyWorker(page: Page): Promise<Worker> {
  await expect.poll(() => page.workers().length).toBe(1);
  const [worker] = page.workers();
  if (!worker) throw new Error('The page has no worker.');
  return worker;
}

const WAYS = {
  /** Terminated by the page, which causes no event. */
  terminated: (page: Page, ms: number) =>
    page.evaluate((ms) => {
      const { lastWorker } = globalThis as unknown as { lastWorker: globalThis.Worker };
      setTimeout(() => lastWorker.terminate(), ms);
    }, ms),
  /** Ended by an uncaught error inside the worker. */
  'thrown in': async (page: Page, ms: number) =>
    (await onlyWorker(page)).evaluate((ms) => {
      setTimeout(() => {
        throw new Error('a fault nobody catches');
      }, ms);
    }, ms),
  /** Closed by the worker itself, which causes no event either. */
  'closed from inside': async (page: Page, ms: number) =>
    (await onlyWorker(page)).evaluate((ms) => {
      setTimeout(() => globalThis.close(), ms);
    }, ms),
} as const;

/** Three deaths in each way; more if too few of them interrupt a write. */
const DEATHS = 9;

test('a worker that dies during a bulk write rejects pending calls, and all or none of the write is stored (L5, L8, F4)', async ({
  profile,
}) => {
  const page = await profile.openTab();
  await rememberWorkers(page);
  await loadApp(page);
  await openNotes(page, 'bulk');
  let usualMs = 0;
  // The first write is slower than later ones.
  for (const round of [0, 1]) {
    const started = performance.now();
    await startBulk(page, round);
    expect(await bulkOutcome(page)).toBe('acknowledged');
    usualMs = performance.now() - started;
  }

  const outcomes: string[] = [];
  const lost = (): number => outcomes.filter((outcome) => outcome.includes('worker_lost')).length;
  // `usualMs` is updated after each write that succeeds, because the machine may have become faster.
  const deaths = function* (): Iterable<[name: string, kill: (typeof WAYS)[keyof typeof WAYS]]> {
    while (outcomes.length < DEATHS || lost() <= 3) yield* Object.entries(WAYS);
  };
  for (const [name, kill] of deaths()) {
    const i = outcomes.length;
    const round = i + 2;
    const gone = (await onlyWorker(page)).waitForEvent('close');
    await kill(page, (usualMs * ((i % DEATHS) + 0.5)) / DEATHS);
    const started = performance.now();
    await startBulk(page, round);
    const outcome = await bulkOutcome(page);
    if (outcome === 'acknowledged') usualMs = Math.min(usualMs, performance.now() - started);
    await gone;
    // The next call starts a new worker. A call that was in flight when the loss was noticed rejects too.
    const count = await countRound(page, round).catch(() => countRound(page, round));
    outcomes.push(`${name}: ${outcome}, ${count}`);
    expect([0, BULK]).toContain(count);
    if (outcome === 'acknowledged') expect(count).toBe(BULK);
    else expect(outcome).toBe('worker_lost');
  }
  print('worker killed amid bulk writes', { usualMs: Math.round(usualMs), outcomes });
  expect(await page.evaluate(() => db.verify())).toEqual([]);
});

test('a worker that hangs is given up: pending calls reject, and the next call starts a new worker (L8, F4)', async ({
  profile,
}) => {
  const page = await profile.openTab();
  await page.clock.install();
  await loadApp(page);
  await openNotes(page, 'hung');
  const worker = await onlyWorker(page);
  const told = page.waitForEvent('console', (message) => message.text() === 'hangs');
  // In a separate task: Chromium cannot terminate a worker during an evaluation of the debugger, nor release the worker's hold on the
  // database.
  await worker.evaluate(() => {
    setTimeout(() => {
      console.log('hangs');
      for (;;);
    });
  });
  await told;
  const outcome = page.evaluate(() =>
    db
      .client()
      .query(1)
      .catch((error: unknown) => String(error)),
  );
  await page.clock.runFor('01:30');
  expect(await outcome).toMatch(/worker_lost: The database worker does not respond/);
  expect(await page.evaluate(() => db.client().query(burrow.q.Add(1, 2)))).toBe(3);
});

test('if a tab crashes during a bulk write, all or none of it is stored, and another tab continues to work (L5, F3)', async ({
  profile,
}) => {
  const survivor = await profile.openTab();
  await openNotes(survivor, 'crash');
  const doomed = await profile.openTab();
  await openNotes(doomed, 'crash');
  const started = performance.now();
  await startBulk(doomed, 1);
  expect(await bulkOutcome(doomed)).toBe('acknowledged');
  const usualMs = performance.now() - started;
  const session = await profile.debug(doomed);
  await startBulk(doomed, 2);
  await survivor.evaluate((ms) => new Promise((resolve) => setTimeout(resolve, ms)), usualMs / 2);
  // The crashed page never responds.
  session.send('Page.crash').catch(() => undefined);
  await doomed.waitForEvent('crash');
  const crashed = performance.now();
  await survivor.evaluate(() =>
    db.client().query(burrow.q.Create(burrow.q.Collection('notes'), { data: { round: 3 } })),
  );
  const waitedMs = performance.now() - crashed;
  const count = await countRound(survivor, 2);
  print('tab crashed amid a bulk write', {
    usualMs: Math.round(usualMs),
    count,
    waitedMs: Math.round(waitedMs),
  });
  expect([0, BULK]).toContain(count);
  expect(await survivor.evaluate(() => db.verify())).toEqual([]);
});
