/** Sync while no page of the app is open, by the browser's Background Sync. Its events are sent over the Chrome DevTools Protocol. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, type BrowserContext, type Page } from '@playwright/test';
import { loadApp } from './support/browser-profile.ts';
import { call, notes, type SyncHub } from './support/sync-hub.ts';
import { openSynced, shownIn, submitNote } from './support/sync-page.ts';
import { test } from './support/sync-test.ts';

/** The package's service worker, and that of an app that has its own, as in docs/sync.md. */
const WORKERS = ['/service-worker.js?engine=worker.js', '/own-service-worker.js'] as const;

const shown = readFileSync(join(import.meta.dirname, '../docs/sync.md'), 'utf8')
  .split('## When the app is closed')[1]
  ?.match(/```ts\n([\s\S]*?)```/)?.[1]
  ?.replace(/^import .*$/m, '');

/** Runs the code that docs/sync.md shows, with this service worker. */
async function syncInBackground(page: Page, worker: (typeof WORKERS)[number]): Promise<void> {
  if (shown === undefined) throw new Error('docs/sync.md does not show how.');
  const code = shown.replace(WORKERS[0], worker);
  expect(code).toContain(worker);
  await page.evaluate(async (code) => {
    const given = await loadBackground();
    // oxlint-disable-next-line typescript/no-implied-eval -- the document is ours
    const body = new Function(...Object.keys(given), `return (async () => {${code}})()`) as (
      ...values: unknown[]
    ) => Promise<void>;
    await body(...Object.values(given));
  }, code);
}

/** Tags of the syncs that were requested from the browser. */
const tagsIn = (page: Page): Promise<readonly string[]> =>
  page.evaluate(async () => {
    const registration = (await navigator.serviceWorker.ready) as unknown as {
      readonly sync: { getTags(): Promise<string[]> };
    };
    return registration.sync.getTags();
  });

/**
 * Sends an event to the app's service worker, from a tab that does not belong to the app. Resolves when the browser has accepted the event.
 */
async function dispatch(
  context: BrowserContext,
  kind: 'dispatchSyncEvent' | 'dispatchPeriodicSyncEvent',
  { origin, tag }: { readonly origin: string; readonly tag: string },
): Promise<void> {
  const elsewhere = await context.newPage();
  const session = await context.newCDPSession(elsewhere);
  const registered = new Promise<string>((resolve) => {
    session.on('ServiceWorker.workerRegistrationUpdated', ({ registrations }) => {
      const [own] = registrations.filter(({ scopeURL }) => scopeURL.startsWith(origin));
      if (own) resolve(own.registrationId);
    });
  });
  await session.send('ServiceWorker.enable');
  const registrationId = await registered;
  const event = { origin, registrationId, tag };
  if (kind === 'dispatchSyncEvent')
    await session.send(`ServiceWorker.${kind}`, { ...event, lastChance: false });
  else await session.send(`ServiceWorker.${kind}`, event);
  await elsewhere.close();
}

const notesAt = (hub: SyncHub): Promise<unknown> =>
  hub.admin.query(
    call(
      'Select',
      'data',
      call(
        'Map',
        call('Paginate', call('Documents', notes())),
        call('Lambda', 'ref', call('Select', ['data', 'text'], call('Get', call('Var', 'ref')))),
      ),
    ),
  );

async function openNotes(context: BrowserContext, hub: SyncHub, secret?: string): Promise<Page> {
  const page = await context.newPage();
  await loadApp(page);
  await openSynced(page, { url: hub.url, secret });
  return page;
}

/** Closes the page after a sync was requested from the browser. */
async function closeTagged(page: Page): Promise<{ readonly origin: string; readonly tag: string }> {
  await expect.poll(() => tagsIn(page)).toHaveLength(1);
  const [tag = ''] = await tagsIn(page);
  const { origin } = new URL(page.url());
  await page.close();
  return { origin, tag };
}

/** Opens a page without network when the service worker is done: it shows what is stored. */
async function openWithoutNetwork(context: BrowserContext, hub: SyncHub): Promise<Page> {
  const page = await context.newPage();
  await loadApp(page);
  // No lock is held any more, so the service worker is done.
  await expect
    .poll(() => page.evaluate(async () => (await navigator.locks.query()).held))
    .toEqual([]);
  hub.proxy.set('down');
  await openSynced(page, { url: hub.url });
  return page;
}

for (const worker of WORKERS)
  test(`with the service worker ${worker}, offline writes are sent after the last tab was closed`, async ({
    context,
    hub,
  }) => {
    const secret = await hub.token('alice@example.org');
    const page = await openNotes(context, hub, secret);
    await syncInBackground(page, worker);
    expect(await tagsIn(page)).toEqual([]);
    hub.proxy.set('down');
    for (const text of ['one', 'two', 'three']) await submitNote(page, text);
    const { origin, tag } = await closeTagged(page);
    expect(await notesAt(hub)).toEqual([]);
    hub.proxy.set('up');
    await dispatch(context, 'dispatchSyncEvent', { origin, tag });
    await expect.poll(() => notesAt(hub)).toEqual(['one', 'two', 'three']);

    // Each note was written once, and the copy has the verdicts.
    const later = await openNotes(context, hub);
    await later.evaluate(() => sync.whenSettled());
    expect(
      await later.evaluate(async () => (await sync.writes.list()).map(({ state }) => state)),
    ).toEqual(['confirmed', 'confirmed', 'confirmed']);
    // With a page open, the service worker does not send a write a second time.
    hub.proxy.set('down');
    await submitNote(later, 'four');
    hub.proxy.set('up');
    await dispatch(context, 'dispatchSyncEvent', { origin, tag });
    await later.evaluate(() => sync.whenSettled());
    expect(await notesAt(hub)).toEqual(['one', 'two', 'three', 'four']);
    expect(await later.evaluate(() => db.verify())).toEqual([]);
  });

test('a periodic sync fetches new notes while the app is closed; they are shown without a network', async ({
  context,
  hub,
}) => {
  const page = await openNotes(context, hub, await hub.token('alice@example.org'));
  await syncInBackground(page, WORKERS[0]);
  hub.proxy.set('down');
  await submitNote(page, 'from here');
  const { origin, tag } = await closeTagged(page);
  await hub.admin.query(call('Create', notes(), { data: { text: 'from elsewhere' } }));
  hub.proxy.set('up');
  await dispatch(context, 'dispatchPeriodicSyncEvent', { origin, tag });
  await expect.poll(async () => ((await notesAt(hub)) as unknown[]).length).toBe(2);
  const later = await openWithoutNetwork(context, hub);
  await expect.poll(() => shownIn(later)).toEqual(['from elsewhere', 'from here']);
});

const fileStates = (page: Page): Promise<readonly string[]> =>
  page.evaluate(async () => (await db.files.list()).map(({ state }) => state));

/** Submits a photo of which the hub gets the write, but not the bytes. */
async function submitPhoto(page: Page, hub: SyncHub): Promise<void> {
  hub.proxy.judge = ({ path }) => (path.startsWith('/files/') ? 'drop' : 'none');
  await page.evaluate(async () => {
    const photo = await db.files.put(new Blob(['a heron'], { type: 'image/jpeg' }));
    const { q } = burrow;
    await sync.client.submit(q.Create(q.Collection('notes'), { data: { text: 'seen', photo } }));
    await sync.whenSettled();
  });
  await expect.poll(() => fileStates(page)).toEqual(['unsent']);
}

test('an unsent photo is sent after the last tab was closed, even if no write is pending', async ({
  context,
  hub,
}) => {
  const page = await openNotes(context, hub, await hub.token('alice@example.org'));
  await syncInBackground(page, WORKERS[0]);
  await submitPhoto(page, hub);
  hub.proxy.set('down');
  const { origin, tag } = await closeTagged(page);
  hub.proxy.judge = () => 'none';
  const before = hub.proxy.of('/files/').length;
  hub.proxy.set('up');
  await dispatch(context, 'dispatchSyncEvent', { origin, tag });
  await expect.poll(() => hub.proxy.of('/files/').length).toBeGreaterThan(before);
  const later = await openWithoutNetwork(context, hub);
  expect(await fileStates(later)).toEqual(['sent']);
});

test('the browser asks before it leaves a page with an unsent photo', async ({ context, hub }) => {
  const page = await openNotes(context, hub, await hub.token('alice@example.org'));
  await page.evaluate(async () => {
    const { askBeforeLeaving } = await loadBackground();
    askBeforeLeaving(sync, db);
  });
  await submitPhoto(page, hub);
  await expect.poll(() => wouldAsk(page)).toBe(true);
  hub.proxy.judge = () => 'none';
  await page.evaluate(() => db.files.whenSent());
  await expect.poll(() => wouldAsk(page)).toBe(false);
});

/** Whether the page makes the browser ask for a confirmation before the page is closed. */
const wouldAsk = (page: Page): Promise<boolean> =>
  page.evaluate(() => !dispatchEvent(new Event('beforeunload', { cancelable: true })));

test('the browser asks before it leaves a page with unsent writes, and does not ask otherwise', async ({
  context,
  hub,
}) => {
  const page = await openNotes(context, hub, await hub.token('alice@example.org'));
  const asked: string[] = [];
  page.on('dialog', (dialog) => {
    asked.push(dialog.type());
    void dialog.accept();
  });
  await page.evaluate(async () => {
    const { askBeforeLeaving } = await loadBackground();
    askBeforeLeaving(sync);
  });
  const leave = async (): Promise<void> => {
    // Browsers only ask users who have interacted with the page.
    await page.mouse.click(5, 5);
    await page.reload();
    await page.waitForFunction(() => 'burrow' in globalThis);
    await openSynced(page, { url: hub.url });
    await page.evaluate(async () => {
      const { askBeforeLeaving } = await loadBackground();
      askBeforeLeaving(sync);
    });
  };
  await leave();
  expect(asked).toEqual([]);
  hub.proxy.set('down');
  await submitNote(page, 'unsent');
  await expect.poll(() => wouldAsk(page)).toBe(true);
  await leave();
  expect(asked).toEqual(['beforeunload']);
  // A page that was just loaded knows of the unsent writes too.
  await expect.poll(() => wouldAsk(page)).toBe(true);
  await leave();
  expect(asked).toHaveLength(2);
  // Waits until the page knows of them: before that, it would not ask either.
  await expect.poll(() => wouldAsk(page)).toBe(true);
  hub.proxy.set('up');
  await expect.poll(() => wouldAsk(page)).toBe(false);
  await leave();
  expect(asked).toHaveLength(2);
});

test('`syncInBackground()` without a service worker asks for one', async ({ context, hub }) => {
  const page = await openNotes(context, hub, await hub.token('alice@example.org'));
  const told = await page.evaluate(async () => {
    const { syncInBackground } = await loadBackground();
    return syncInBackground(db, sync).catch((error: Error) => error.message);
  });
  expect(told).toContain('Register one first');
});
