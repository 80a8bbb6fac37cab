/** F32: tabs of two builds of an app with one copy. The newer build stores its data in a way that the older one does not know. */
import { expect, type Page } from '@playwright/test';
import { loadApp } from './support/browser-profile.ts';
import { changes, serveNewerWorker, update } from './support/newer-worker.ts';
import { call, notes, type SyncHub } from './support/sync-hub.ts';
import { failureToSubmit, openSynced, shownIn, submitNote } from './support/sync-page.ts';
import { ALICE, test } from './support/sync-test.ts';

declare global {
  /** Texts of writes that were acknowledged, and the error that ended the writing. */
  var written: {
    readonly texts: string[];
    end?: { readonly code: string; readonly message: string };
  };
}

/** Writes one note after the other until a write fails. */
const writeOn = (page: Page): Promise<void> =>
  page.evaluate(() => {
    const { q } = burrow;
    globalThis.written = { texts: [] };
    void (async () => {
      for (let n = 0; ; n++) {
        const text = `old ${String(n).padStart(4, '0')}`;
        await sync.client.submit(q.Create(q.Collection('notes'), { data: { text } }));
        written.texts.push(text);
      }
    })().catch(({ code, message }: { readonly code: string; readonly message: string }) => {
      written.end = { code, message };
    });
  });

const writtenIn = (page: Page): Promise<typeof written> => page.evaluate(() => written);

/** How the database is stored, by its stamps and its object stores. */
const storedIn = (page: Page) =>
  page.evaluate(async () => {
    const asking = indexedDB.open('field-notes');
    const idb = await new Promise<IDBDatabase>((resolve, reject) => {
      asking.addEventListener('success', () => resolve(asking.result));
      asking.addEventListener('error', () => reject(new Error('not opened')));
    });
    const spaces = ['commits', 'blocks', 'meta', 'log', 'files'];
    const tx = idb.transaction(spaces);
    const formats = new Set<number>();
    for (const space of spaces) {
      const stamp = tx.objectStore(space).get(0);
      await new Promise((resolve) => stamp.addEventListener('success', resolve));
      formats.add((stamp.result as { readonly format: number }).format);
    }
    const { version } = idb;
    idb.close();
    return { version, formats: [...formats] };
  });

const textsAt = async (hub: SyncHub): Promise<string[]> => {
  const { data } = await hub.admin.query(
    call(
      'Map',
      call('Paginate', call('Documents', notes()), { size: 10_000 }),
      call('Lambda', 'n', call('Select', ['data', 'text'], call('Get', call('Var', 'n')))),
    ),
  );
  return (data as string[]).toSorted();
};

const UPDATE = /newer version of the app.*reload the page/i;

for (const change of changes)
  test(`F32: a newer build with another ${change} takes over from a tab that writes: acknowledged writes are sent, and the old tab stops writing`, async ({
    page,
    context,
    hub,
  }) => {
    const worker = await serveNewerWorker(change);
    await openSynced(page, { url: hub.url, secret: await hub.token(ALICE) });
    await submitNote(page, 'common');
    await page.evaluate(() => sync.whenSettled());
    hub.proxy.set('down');
    await submitNote(page, 'unsent');
    await writeOn(page);
    await expect.poll(async () => (await writtenIn(page)).texts.length).toBeGreaterThan(3);

    const newer = await context.newPage();
    await update(newer, worker);
    await loadApp(newer);
    await openSynced(newer, { url: hub.url });
    await submitNote(newer, 'new');

    await expect.poll(async () => (await writtenIn(page)).end).toBeDefined();
    const { texts, end } = await writtenIn(page);
    expect(end).toEqual({ code: 'storage_unavailable', message: expect.stringMatching(UPDATE) });
    expect(await failureToSubmit(page, 'never')).toBe('storage_unavailable');
    // A write that was in flight when the old tab lost the database may be stored, although it was not acknowledged.
    await expect.poll(() => shownIn(newer)).toContain('new');
    const all = await shownIn(newer);
    const underWay = all.filter((text) => text.startsWith('old') && !texts.includes(text));
    expect(underWay.length).toBeLessThanOrEqual(1);
    expect(all).toEqual(['common', 'new', ...texts, ...underWay, 'unsent'].toSorted());

    hub.proxy.set('up');
    await newer.evaluate(() => sync.whenSettled());
    expect(await textsAt(hub)).toEqual(all);
    const stored = await storedIn(newer);
    expect(stored).toEqual(
      change === 'format of rows' ? { version: 30, formats: [2] } : { version: 40, formats: [1] },
    );

    // The older build cannot open the database any more. After an update, the same tab can.
    await loadApp(page);
    const again = page.evaluate(() => burrow.openDatabase('field-notes'));
    await expect(again).rejects.toThrow(/storage_unavailable: .*newer version of the app.*reload/i);
    await update(page, worker);
    await loadApp(page);
    await openSynced(page, { url: hub.url });
    await expect.poll(() => shownIn(page)).toEqual(all);
    await submitNote(page, 'up to date');
    await page.evaluate(() => sync.whenSettled());
    expect(await textsAt(hub)).toEqual([...all, 'up to date'].toSorted());
  });
