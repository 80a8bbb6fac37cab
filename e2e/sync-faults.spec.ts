/** Sync over an unreliable network, in browsers that crash or lose data. Ids of faults are those of the fault table. */
import { expect, type Page } from '@playwright/test';
import { appUrl, loadApp } from './support/browser-profile.ts';
import type { Fault, Passed } from './support/faulty-proxy.ts';
import { call, note, notes, type SyncHub } from './support/sync-hub.ts';
import {
  failureToSubmit,
  failureToSync,
  openSynced,
  shownIn,
  stateOf,
  submitNote,
  writesIn,
} from './support/sync-page.ts';
import { ALICE, BOB, test } from './support/sync-test.ts';

// In parallel, because all tests together take long, and each has its own database and browsers.
test.describe.configure({ mode: 'parallel' });

/** Texts of all notes at the hub. */
async function atHub(hub: SyncHub): Promise<string[]> {
  const { data } = await hub.admin.query(
    call(
      'Map',
      call('Paginate', call('Documents', notes()), { size: 1000 }),
      call('Lambda', 'n', call('Select', ['data', 'text'], call('Get', call('Var', 'n')))),
    ),
  );
  return (data as string[]).toSorted();
}

const settled = (page: Page): Promise<void> => page.evaluate(() => sync.whenSettled());

/** Injects each fault once, into successive requests of a path. @returns a function that returns the number of faults left */
function faultsTo(hub: SyncHub, path: string, faults: readonly Fault[]): () => number {
  const rest = [...faults];
  hub.proxy.judge = (passed: Passed) =>
    passed.path.startsWith(path) ? (rest.shift() ?? 'none') : 'none';
  return () => rest.length;
}

test('F16: an unstable network loses no write and duplicates none, and an unreachable hub is not asked all the time', async ({
  page,
  hub,
}) => {
  await openSynced(page, { url: hub.url, secret: await hub.token(ALICE) });
  await page.evaluate(() => sync.whenSynced());
  const texts = Array.from({ length: 20 }, (_, n) => `note ${String(n).padStart(2, '0')}`);
  for (const [i, text] of texts.entries()) {
    hub.proxy.set(i % 2 === 0 ? 'down' : 'up');
    await submitNote(page, text);
    await page.waitForTimeout(100);
  }
  hub.proxy.set('up');
  await settled(page);
  expect(await atHub(hub)).toEqual(texts);
  await expect.poll(() => shownIn(page)).toEqual(texts);
  hub.proxy.set('down');
  await expect.poll(() => stateOf(page)).toBe('offline');
  const before = hub.proxy.refused;
  const started = performance.now();
  for (let i = 0; i < 20; i++) {
    await submitNote(page, `afloat ${i}`);
    await page.waitForTimeout(100);
  }
  const seconds = (performance.now() - started) / 1000;
  // A browser may make two connections for one request: for a preflight, or for a retry.
  expect((hub.proxy.refused - before) / seconds).toBeLessThan(2 * 2 + 1);
});

test('a copy whose origin the hub refuses gives that as the reason, and not that the hub is down', async ({
  page,
  hub,
}) => {
  await openSynced(page, { url: hub.url, secret: await hub.token(ALICE) });
  await page.evaluate(() => sync.whenSynced());
  const { origin } = new URL(page.url());
  const reasons = page.evaluate(
    () =>
      new Promise<readonly [string, string]>((resolve) => {
        sync.addEventListener('state', ({ detail: { state, reason } }) => {
          if (reason !== undefined) resolve([state, reason]);
        });
      }),
  );
  hub.proxy.refusesOrigins = true;
  // Cuts all open connections.
  hub.proxy.set('down');
  hub.proxy.set('up');
  expect(await reasons).toEqual([
    'offline',
    `The hub does not answer pages of this origin (--cors ${origin}), or another server answers at its URL.`,
  ]);
  await submitNote(page, 'kept');
  hub.proxy.refusesOrigins = false;
  await settled(page);
  expect(await atHub(hub)).toEqual(['kept']);
});

const CUTS = [0, 1, 60, 300] as const;

test('F17: a push that is cut at any point is executed once and completely', async ({
  page,
  hub,
}) => {
  await openSynced(page, { url: hub.url, secret: await hub.token(ALICE) });
  await page.evaluate(() => sync.whenSynced());
  const faults: Fault[] = [
    ...CUTS.map((cutRequestAt) => ({ cutRequestAt })),
    ...CUTS.map((cutAnswerAt) => ({ cutAnswerAt })),
    'drop',
    'half-close',
  ];
  const texts: string[] = [];
  for (const [i, fault] of faults.entries()) {
    const left = faultsTo(hub, '/sync/push', [fault]);
    const text = `note ${String(i).padStart(2, '0')}`;
    texts.push(text);
    await submitNote(page, text);
    await settled(page);
    expect(left()).toBe(0);
    expect(await atHub(hub)).toEqual(texts);
  }
  expect((await writesIn(page)).map(({ state }) => state)).toEqual(texts.map(() => 'confirmed'));
});

test('F18: a pull that is cut at any point changes nothing and is repeated', async ({
  page,
  hub,
}) => {
  await openSynced(page, { url: hub.url, secret: await hub.token(ALICE) });
  await page.evaluate(() => sync.whenSynced());
  const texts: string[] = [];
  for (const [i, cutAnswerAt] of CUTS.entries()) {
    const left = faultsTo(hub, '/sync/pull', [{ cutAnswerAt }]);
    const two = [`note ${i}a`, `note ${i}b`];
    texts.push(...two);
    await hub.admin.query(
      call('Do', ...two.map((text) => call('Create', notes(), { data: { text } }))),
    );
    // The notes may have arrived together with a hint; this call makes a request.
    await page.evaluate(() => sync.whenSynced());
    await expect.poll(() => shownIn(page)).toEqual(texts);
    expect(left()).toBe(0);
  }
  // No result shows only one of two notes from the same transaction.
  const seen = await page.evaluate(() => answers);
  expect(seen.at(-1)).toHaveLength(texts.length);
  for (const answer of seen) expect(answer.length % 2).toBe(0);
});

test('F19: requests that are duplicated, delayed or answered with stale responses take effect exactly once', async ({
  page,
  hub,
  other,
}) => {
  await openSynced(page, { url: hub.url, secret: await hub.token(ALICE) });
  await openSynced(other, { url: hub.url, secret: await hub.token(BOB) });
  await hub.admin.query(call('Create', note('1'), { data: { n: 0, text: 'counter' } }));
  for (const each of [page, other]) await expect.poll(() => shownIn(each)).toEqual(['counter']);
  const kinds: readonly Fault[] = ['twice', { delayMs: 150 }, 'none', 'stale', { delayMs: 30 }];
  let n = 0;
  hub.proxy.judge = ({ path }) =>
    path.startsWith('/sync/events') ? 'none' : (kinds[n++ % kinds.length] ?? 'none');
  const count = async (each: Page): Promise<void> => {
    await each.evaluate(async () => {
      const { q } = burrow;
      const ref = q.Ref(q.Collection('notes'), '1');
      await sync.client.submit(
        q.Update(ref, { data: { n: q.Add(1, q.Select(['data', 'n'], q.Get(ref))) } }),
      );
    });
  };
  for (let i = 0; i < 10; i++) {
    await count(page);
    await count(other);
  }
  await Promise.all([settled(page), settled(other)]);
  // Replays all recorded requests, the latest first.
  for (const passed of [...hub.proxy.passed].toReversed())
    if (!passed.path.startsWith('/sync/events')) await hub.proxy.replay(passed);
  const counter = call('Select', ['data', 'n'], call('Get', note('1')));
  expect(await hub.admin.query(counter)).toBe(20);
  hub.proxy.judge = () => 'none';
  for (const each of [page, other]) {
    await each.evaluate(() => sync.whenSynced());
    const seen = await each.evaluate(() => {
      const { q } = burrow;
      return sync.client.query(q.Select(['data', 'n'], q.Get(q.Ref(q.Collection('notes'), '1'))));
    });
    expect(seen).toBe(20);
  }
});

test('F19: a device that gets the hello response of another device repeats its request, without a login', async ({
  page,
  hub,
  other,
}) => {
  await openSynced(page, { url: hub.url, secret: await hub.token(ALICE) });
  await expect.poll(() => stateOf(page)).toBe('live');
  await openSynced(other, { url: hub.url, secret: await hub.token(BOB) });
  await expect.poll(() => stateOf(other)).toBe('live');
  const faults = new Map<string, Fault>([
    ['/sync/push', { cutAnswerAt: 10 }],
    ['/sync/hello', 'stale'],
  ]);
  hub.proxy.judge = ({ path }) => {
    const fault = faults.get(path) ?? 'none';
    faults.delete(path);
    return fault;
  };
  await submitNote(page, 'by Alice');
  await settled(page);
  expect(faults.size).toBe(0);
  expect(await page.evaluate(() => states)).not.toContain('needs-login');
  expect(await atHub(hub)).toEqual(['by Alice']);
});

test('responses from a captive portal neither lock the copy nor lose writes', async ({
  page,
  hub,
}) => {
  await openSynced(page, { url: hub.url, secret: await hub.token(ALICE) });
  await submitNote(page, 'before');
  await settled(page);
  const html = (status: number): Fault => ({
    says: { status, type: 'text/html', body: '<h1>Log in to the wireless network</h1>' },
  });
  const answers = [html(403), html(200), html(401)];
  let n = 0;
  hub.proxy.judge = () => answers[n++ % answers.length] ?? 'none';
  for (const text of ['one', 'two', 'three']) await submitNote(page, text);
  await expect.poll(() => n).toBeGreaterThanOrEqual(answers.length);
  expect(await stateOf(page)).toBe('offline');
  await expect.poll(() => shownIn(page)).toEqual(['before', 'one', 'three', 'two']);
  hub.proxy.judge = () => 'none';
  await submitNote(page, 'four');
  await settled(page);
  expect(await atHub(hub)).toEqual(['before', 'four', 'one', 'three', 'two']);
});

test('F32: a hub with another protocol version is reported, and writes wait until the versions match', async ({
  page,
  hub,
}) => {
  await openSynced(page, { url: hub.url, secret: await hub.token(ALICE) });
  await page.evaluate(() => sync.whenSynced());
  const body = JSON.stringify({
    code: 'upgrade_needed',
    description: 'This hub speaks another protocol.',
  });
  hub.proxy.judge = () => ({ says: { status: 426, type: 'application/json', body } });
  await page.evaluate(() => {
    sync.addEventListener('state', ({ detail }) =>
      Object.assign(globalThis, { reason: detail.reason }),
    );
  });
  await submitNote(page, 'waits');
  await expect.poll(() => stateOf(page)).toBe('offline');
  expect(await page.evaluate(() => (globalThis as unknown as { reason?: string }).reason)).toMatch(
    /another protocol/,
  );
  hub.proxy.judge = () => 'none';
  await submitNote(page, 'goes on');
  await settled(page);
  expect(await atHub(hub)).toEqual(['goes on', 'waits']);
});

/** Id of the page's renderer process: the one that uses CPU time when the page does. */
async function rendererOf(page: Page): Promise<number> {
  const session = await page.context().browser()?.newBrowserCDPSession();
  if (!session) throw new Error('This browser has no session of its own.');
  const times = async () => {
    const { processInfo } = await session.send('SystemInfo.getProcessInfo');
    return processInfo.filter(({ type }) => type === 'renderer');
  };
  const before = new Map((await times()).map(({ id, cpuTime }) => [id, cpuTime]));
  await page.evaluate(() => {
    const end = performance.now() + 1500;
    while (performance.now() < end);
  });
  const worked = (await times()).map(({ id, cpuTime }) => [id, cpuTime - (before.get(id) ?? 0)]);
  const [most] = worked.toSorted(([, a = 0], [, b = 0]) => b - a);
  await session.detach();
  if (most?.[0] === undefined) throw new Error('No process works for this page.');
  return most[0];
}

declare global {
  /** Whether the transaction of `holdStore()` continues. */
  var isHolding: boolean;
}

/** Starts a transaction that blocks others as long as `isHolding` is true. */
const holdStore = (page: Page, name: string): Promise<void> =>
  page.evaluate(
    (name) =>
      new Promise((resolve, reject) => {
        globalThis.isHolding = true;
        const opening = indexedDB.open(name);
        opening.addEventListener('error', () => reject(opening.error ?? new Error('No store.')));
        opening.addEventListener('success', () => {
          const { result: db } = opening;
          const [first = '', ...others] = db.objectStoreNames;
          const store = db.transaction([first, ...others], 'readwrite').objectStore(first);
          const goOn = (): void => {
            resolve();
            if (isHolding) store.count().addEventListener('success', goOn);
            else db.close();
          };
          store.count().addEventListener('success', goOn);
        });
      }),
    name,
  );

/**
 * Submits a note, and retries while the store is blocked: a stopped tab may have a transaction open, which makes writes of other tabs fail
 * with `storage_blocked` until the browser aborts it after a minute or two.
 */
async function submitUnlessBlocked(page: Page, text: string): Promise<void> {
  const blocked = 'storage_blocked';
  await expect.poll(() => failureToSubmit(page, text), { timeout: 150_000 }).not.toBe(blocked);
}

test('F5, F33: another tab replaces a leader that is stopped, and the old leader does no harm when it wakes', async ({
  page,
  context,
  hub,
}) => {
  const secret = await hub.token(ALICE);
  await openSynced(page, { url: hub.url, secret });
  await expect.poll(() => stateOf(page)).toBe('live');
  const renderer = await rendererOf(page);
  const second = await context.newPage();
  await loadApp(second);
  expect(await rendererOf(second)).not.toBe(renderer);
  await openSynced(second, { url: hub.url });
  await expect.poll(() => stateOf(second)).toBe('live');
  await submitNote(page, 'by the leader');
  await settled(second);
  process.kill(renderer, 'SIGSTOP');
  try {
    await submitUnlessBlocked(second, 'by the other');
    await settled(second);
    expect(await atHub(hub)).toEqual(['by the leader', 'by the other']);
  } finally {
    process.kill(renderer, 'SIGCONT');
  }
  await submitNote(page, 'awake');
  await settled(page);
  await submitNote(second, 'both');
  await settled(second);
  const all = ['awake', 'both', 'by the leader', 'by the other'];
  for (const each of [page, second]) await expect.poll(() => shownIn(each)).toEqual(all);
  expect(await atHub(hub)).toEqual(all);
});

test('F5: while a tab is stopped during a transaction, writes of other tabs fail as a whole', async ({
  page,
  context,
  hub,
}) => {
  await openSynced(page, { url: hub.url, secret: await hub.token(ALICE) });
  const renderer = await rendererOf(page);
  const second = await context.newPage();
  await loadApp(second);
  await openSynced(second, { url: hub.url });
  await expect.poll(() => stateOf(second)).toBe('live');
  await holdStore(page, 'field-notes');
  process.kill(renderer, 'SIGSTOP');
  try {
    expect(await failureToSubmit(second, 'refused')).toBe('storage_blocked');
  } finally {
    process.kill(renderer, 'SIGCONT');
  }
  await page.evaluate(() => {
    globalThis.isHolding = false;
  });
  await submitUnlessBlocked(second, 'kept');
  await settled(second);
  expect(await atHub(hub)).toEqual(['kept']);
  for (const each of [page, second]) await expect.poll(() => shownIn(each)).toEqual(['kept']);
});

test('F6: when the leading tab is closed, the other tab takes over', async ({
  page,
  context,
  hub,
}) => {
  await openSynced(page, { url: hub.url, secret: await hub.token(ALICE) });
  const second = await context.newPage();
  await loadApp(second);
  await openSynced(second, { url: hub.url });
  await submitNote(page, 'last words');
  await page.close();
  await submitNote(second, 'heir');
  await settled(second);
  expect(await atHub(hub)).toEqual(['heir', 'last words']);
});

test('F1: after a browser was killed during writes, no acknowledged write is missing and none is duplicated', async ({
  profile,
  hub,
}) => {
  const secret = await hub.token(ALICE);
  const acknowledged: string[] = [];
  let given: string | undefined = secret;
  for (const round of [1, 2]) {
    const page = await profile.openTab();
    hub.proxy.set(round === 2 ? 'down' : 'up');
    await openSynced(page, { url: hub.url, secret: given });
    given = undefined;
    await page.exposeFunction('note', (text: string) => acknowledged.push(text));
    const started = acknowledged.length;
    await page.evaluate((round) => {
      const { q } = burrow;
      const { note } = globalThis as unknown as { note: (text: string) => Promise<void> };
      void (async () => {
        for (let n = 0; ; n++) {
          const text = `${round}.${String(n).padStart(4, '0')}`;
          await sync.client.submit(q.Create(q.Collection('notes'), { data: { text } }));
          await note(text);
        }
      })();
    }, round);
    await expect.poll(() => acknowledged.length - started).toBeGreaterThan(8);
    await profile.kill();
  }
  hub.proxy.set('up');
  const page = await profile.openTab();
  await openSynced(page, { url: hub.url });
  await settled(page);
  const found = await atHub(hub);
  expect(new Set(found).size).toBe(found.length);
  expect(acknowledged.filter((text) => !found.includes(text))).toEqual([]);
  // Each kill may leave at most one write that is stored, but was not acknowledged.
  expect(found.length - acknowledged.length).toBeLessThanOrEqual(2);
  await expect.poll(() => shownIn(page)).toEqual(found);
});

/** Deletes storage as a browser does when it needs space. */
async function evict(page: Page, storageTypes: string): Promise<void> {
  const session = await page.context().newCDPSession(page);
  const { origin } = new URL(appUrl());
  await session.send('Storage.clearDataForOrigin', { origin, storageTypes });
  await session.detach();
}

test('F9: if the browser drops IndexedDB, unsent writes are restored from the second copy, once, also those after a stop', async ({
  page,
  hub,
}) => {
  await openSynced(page, { url: hub.url, secret: await hub.token(ALICE) });
  await submitNote(page, 'confirmed');
  await settled(page);
  let pushes = 0;
  hub.proxy.judge = ({ path }) => {
    if (!path.startsWith('/sync/push')) return 'none';
    // After the first push, no response arrives, however soon the request is repeated.
    return (pushes += 1) === 1 ? { cutAnswerAt: 10 } : 'drop';
  };
  await submitNote(page, 'known to the hub');
  await expect.poll(() => pushes).toBeGreaterThan(0);
  await expect.poll(() => atHub(hub)).toContain('known to the hub');
  hub.proxy.set('down');
  await submitNote(page, 'unsent 1');
  await page.evaluate(() => sync.stop());
  await submitNote(page, 'unsent 2');
  await evict(page, 'indexeddb');
  await loadApp(page);
  const forgetting = page.evaluate(() => burrow.forgetDatabase('field-notes'));
  await expect(forgetting).rejects.toThrow('3 write(s) or file(s) have not reached the hub.');
  hub.proxy.judge = () => 'none';
  hub.proxy.set('up');
  await openSynced(page, { url: hub.url, secret: await hub.token(ALICE) });
  await settled(page);
  const all = ['confirmed', 'known to the hub', 'unsent 1', 'unsent 2'];
  expect(await atHub(hub)).toEqual(all);
  await expect.poll(() => shownIn(page)).toEqual(all);
  await submitNote(page, 'goes on');
  await settled(page);
  expect(await atHub(hub)).toEqual(['confirmed', 'goes on', ...all.slice(1)]);
});

test('F11: if the browser drops all storage, a login loads the copy from the hub again', async ({
  page,
  hub,
}) => {
  await openSynced(page, { url: hub.url, secret: await hub.token(ALICE) });
  for (const text of ['one', 'two']) await submitNote(page, text);
  await settled(page);
  hub.proxy.set('down');
  await submitNote(page, 'lost');
  await evict(page, 'all');
  await loadApp(page);
  hub.proxy.set('up');
  expect(await failureToSync(page, { url: hub.url })).toBe('login_needed');
  await page.evaluate(() => db.close());
  await openSynced(page, { url: hub.url, secret: await hub.token(ALICE) });
  await expect.poll(() => shownIn(page)).toEqual(['one', 'two']);
  await submitNote(page, 'three');
  await settled(page);
  expect(await atHub(hub)).toEqual(['one', 'three', 'two']);
});

/** Resolves when the page has ended a worker. */
const endOfWorker = (page: Page): Promise<boolean> =>
  page.evaluate(
    () =>
      new Promise((resolve) => {
        const terminate = Reflect.get(Worker.prototype, 'terminate');
        Worker.prototype.terminate = function (this: Worker) {
          terminate.call(this);
          resolve(true);
        };
      }),
  );

test('F11: pages that notice that all storage was dropped do not block the next one', async ({
  profile,
  hub,
}) => {
  // With a profile on disk, because Chromium does not block workers of a private window.
  const page = await profile.openTab();
  const other = await profile.openTab();
  const secret = await hub.token(ALICE);
  const ends: Promise<boolean>[] = [];
  for (const each of [page, other]) {
    ends.push(endOfWorker(each));
    await openSynced(each, { url: hub.url, secret });
  }
  await submitNote(page, 'one');
  await settled(page);
  hub.proxy.set('down');
  await submitNote(page, 'lost');
  await evict(page, 'all');
  // The pages end their workers, which Chromium may block for ever while they close their files.
  for (const each of [page, other])
    expect(await failureToSubmit(each, 'refused')).toBe('storage_unavailable');
  expect(await Promise.all(ends)).toEqual([true, true]);
  await other.close();
  await loadApp(page);
  hub.proxy.set('up');
  await openSynced(page, { url: hub.url, secret });
  await expect.poll(() => shownIn(page)).toEqual(['one']);
});

test('F13, S11: a copied profile becomes another device: both agree, and no write is lost or duplicated', async ({
  profile,
  hub,
}) => {
  const secret = await hub.token(ALICE);
  let page = await profile.openTab();
  await openSynced(page, { url: hub.url, secret });
  await submitNote(page, 'common');
  await settled(page);
  hub.proxy.set('down');
  await submitNote(page, 'before the copy');
  await profile.close();
  const copy = await profile.copy();
  try {
    // The original writes and syncs; the copy writes too, without network.
    page = await profile.openTab();
    await openSynced(page, { url: hub.url });
    await submitNote(page, 'original 1');
    hub.proxy.set('up');
    await settled(page);
    hub.proxy.set('down');
    const twin = await copy.openTab();
    await openSynced(twin, { url: hub.url });
    for (const text of ['copy 1', 'copy 2']) await submitNote(twin, text);
    hub.proxy.set('up');
    await settled(twin);
    await submitNote(page, 'original 2');
    await settled(page);
    const all = ['before the copy', 'common', 'copy 1', 'copy 2', 'original 1', 'original 2'];
    expect(await atHub(hub)).toEqual(all);
    for (const each of [page, twin]) await expect.poll(() => shownIn(each)).toEqual(all);
  } finally {
    await copy.remove();
  }
});

test('F12: a profile restored to an earlier state loads all that the hub has', async ({
  profile,
  hub,
}) => {
  const secret = await hub.token(ALICE);
  const page = await profile.openTab();
  await openSynced(page, { url: hub.url, secret });
  await submitNote(page, 'one');
  await settled(page);
  await profile.close();
  const earlier = await profile.copy();
  try {
    const later = await profile.openTab();
    await openSynced(later, { url: hub.url });
    for (const text of ['two', 'three']) await submitNote(later, text);
    await settled(later);
    await profile.close();
    const back = await earlier.openTab();
    await openSynced(back, { url: hub.url });
    await submitNote(back, 'four');
    await settled(back);
    const all = ['four', 'one', 'three', 'two'];
    expect(await atHub(hub)).toEqual(all);
    await expect.poll(() => shownIn(back)).toEqual(all);
  } finally {
    await earlier.remove();
  }
});

for (const days of [-1, 1])
  test(`F26: a clock that is ${days === 1 ? 'a day ahead' : 'a day behind'}, or is changed during sync, does not change the times of writes`, async ({
    page,
    hub,
    other,
  }) => {
    await openSynced(other, { url: hub.url, secret: await hub.token(BOB) });
    await page.evaluate((days) => {
      const url = (code: string): string =>
        URL.createObjectURL(new Blob([code], { type: 'text/javascript' }));
      const clock = url(`
        const real = Date.now;
        let ms = ${days} * 86_400_000;
        Date.now = () => real() + ms;
        new BroadcastChannel('clock').onmessage = ({ data }) => (ms = data);`);
      const main = url(`import '${clock}'; import '${new URL(workerUrl, location.href)}';`);
      const Native = globalThis.Worker;
      globalThis.Worker = class extends Native {
        constructor(given: string | URL, options?: WorkerOptions) {
          super(String(given).includes('hash') ? given : main, options);
        }
      };
    }, days);
    const secret = await hub.token(ALICE);
    await openSynced(page, { url: hub.url, secret });
    const times = async (text: string, states = ['confirmed']): Promise<number> => {
      const off = await page.evaluate(async (text) => {
        const { q } = burrow;
        const { settled } = await sync.client.submit(
          q.Create(q.Collection('notes'), { data: { text, at: q.ToMillis(q.Now()) } }),
        );
        const verdict = await settled;
        if (verdict.state === 'refused') throw verdict.error;
        const { at } = (verdict.value as unknown as { data: { at: number } }).data;
        return { state: verdict.state, at };
      }, text);
      expect(states).toContain(off.state);
      return off.at - Date.now();
    };
    // `Now()` is the hub's time, as far as the device knows it.
    expect(Math.abs(await times('1'))).toBeLessThan(60_000);
    await page.evaluate(() => new BroadcastChannel('clock').postMessage(0));
    // The first write after the clock has changed may have a time that the hub does not accept: its verdict says so. Later ones are
    // correct.
    const either = ['confirmed', 'amended'];
    expect(Math.abs(await times('2', either))).toBeLessThan(3 * 60_000);
    await submitNote(other, '3');
    await page.evaluate(() => sync.whenSynced());
    expect(Math.abs(await times('4'))).toBeLessThan(60_000);
    await page.evaluate((ms) => new BroadcastChannel('clock').postMessage(ms), -days * 86_400_000);
    expect(Math.abs(await times('5', either))).toBeLessThan(3 * 60_000);
    await page.evaluate(() => sync.whenSynced());
    expect(Math.abs(await times('6'))).toBeLessThan(60_000);
    await settled(other);
    for (const each of [page, other])
      await expect.poll(() => shownIn(each)).toEqual(['1', '2', '3', '4', '5', '6']);
  });

test('F10: without space a write is refused as a whole, reads and unsent writes survive, and with space sync continues', async ({
  profile,
  hub,
}) => {
  const before = await profile.openTab();
  await openSynced(before, { url: hub.url, secret: await hub.token(ALICE) });
  await submitNote(before, 'early');
  await settled(before);
  // A database that was not closed may have been killed: then a new log is written, which for a moment needs more than all of this space.
  await before.evaluate(() => db.close());
  await profile.close();
  hub.proxy.set('down');
  const page = await profile.openTab();
  const session = await profile.debug(page);
  const { origin } = new URL(appUrl());
  await session.send('Storage.overrideQuotaForOrigin', { origin, quotaSize: 3_000_000 });
  await openSynced(page, { url: hub.url });
  let kept = 0;
  let failure = '';
  for (; failure === '' && kept < 60;) {
    const outcome = await page.evaluate(async () => {
      const { q } = burrow;
      const bytes = crypto.getRandomValues(new Uint8Array(60_000));
      const big = btoa(String.fromCharCode(...bytes));
      return sync.client
        .submit(q.Create(q.Collection('notes'), { data: { text: 'big', big } }))
        .then(
          () => '',
          (error: { code?: string }) => error.code ?? 'no code',
        );
    });
    if (outcome === '') kept += 1;
    failure = outcome;
  }
  expect(failure).toBe('quota_exceeded');
  expect(kept).toBeGreaterThan(0);
  await expect.poll(async () => (await shownIn(page)).length).toBe(kept + 1);
  await session.send('Storage.overrideQuotaForOrigin', { origin });
  hub.proxy.set('up');
  await settled(page);
  expect((await atHub(hub)).length).toBe(kept + 1);
  await submitNote(page, 'late');
  await settled(page);
  expect((await atHub(hub)).length).toBe(kept + 2);
});
