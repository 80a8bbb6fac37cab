/** `burrowdb/data` in a browser: imports of many documents, and the warning before the quota is reached. */
import { expect } from '@playwright/test';
import { print, test } from './support/app-test.ts';
import { appUrl } from './support/browser-profile.ts';
import { openNotes } from './support/notes.ts';

const QUOTA_BYTES = 30_000_000;

declare global {
  /** Thresholds of the warnings from `watchStorage()`. */
  var warned: number[];
  /** How often `watchStorage()` has started to check the storage. */
  var looks: number;
}

test('`watchStorage()` warns before a write fails, and warns again after space was freed and used up', async ({
  profile,
}) => {
  const page = await profile.openTab();
  const session = await profile.debug(page);
  const { origin } = new URL(appUrl());
  await session.send('Storage.overrideQuotaForOrigin', { origin, quotaSize: QUOTA_BYTES });
  await openNotes(page, 'filling');
  await page.evaluate(async () => {
    const { watchStorage } = await loadData();
    globalThis.warned = [];
    globalThis.looks = 0;
    const { storage } = navigator;
    const counted = {
      estimate: () => {
        looks += 1;
        return storage.estimate();
      },
      persisted: () => storage.persisted(),
      getDirectory: () => storage.getDirectory(),
    };
    watchStorage({ storage: counted, onWarning: ({ threshold }) => void warned.push(threshold) });
  });
  /**
   * Makes `watchStorage()` check now, by a change of visibility; otherwise it checks after minutes. When this resolves, one check that was
   * started after the call has ended.
   */
  const look = async () => {
    const before = await page.evaluate(() => looks);
    const begun = () =>
      page.evaluate(() => {
        document.dispatchEvent(new Event('visibilitychange'));
        return looks;
      });
    await expect.poll(begun, { intervals: [5] }).toBeGreaterThan(before + 1);
    return page.evaluate(() => [...warned]);
  };
  /** @returns the code of the error, or undefined */
  const write = (id: number) =>
    page.evaluate(async (id) => {
      const { q } = burrow;
      const bytes = crypto.getRandomValues(new Uint8Array(48_000));
      const text = btoa(String.fromCharCode(...bytes));
      try {
        await db
          .client()
          .query(q.Create(q.Ref(q.Collection('notes'), id), { data: { round: 'big', text } }));
        return undefined;
      } catch (error) {
        return (error as { readonly code?: string }).code;
      }
    }, id);

  expect(await look()).toEqual([]);
  let warnedAt = 0;
  let written = 0;
  let code: string | undefined;
  while (code === undefined && written < 400) {
    code = await write(written + 1);
    if (code !== undefined) break;
    written += 1;
    if (warnedAt === 0 && (await look()).length > 0) warnedAt = written;
  }
  await look();
  const first = await page.evaluate(() => warned.splice(0));
  print('watchStorage', { quota: QUOTA_BYTES, warnedAt, written, code, warned: first });
  expect(code).toBe('quota_exceeded');
  expect(warnedAt).toBeGreaterThan(0);
  expect(warnedAt).toBeLessThan(written);
  // While a log is rewritten, both versions exist for a moment, so usage may jump to more than 0.8.
  expect(first[0]).toBeGreaterThanOrEqual(0.8);

  // With a larger quota there are no warnings, and writes succeed again.
  await session.send('Storage.overrideQuotaForOrigin', { origin, quotaSize: QUOTA_BYTES * 4 });
  expect(await look()).toEqual([]);
  expect(await write(1000)).toBeUndefined();
  // With a smaller quota there is a new warning.
  const { usage = 0 } = await page.evaluate(() => navigator.storage.estimate());
  await session.send('Storage.overrideQuotaForOrigin', {
    origin,
    quotaSize: Math.ceil(usage * 1.1),
  });
  await look();
  expect((await look()).length).toBeGreaterThan(0);
});

test('`importDatabase()` imports 20,000 documents of JSON lines in a page', async ({ profile }) => {
  const page = await profile.openTab();
  const found = await page.evaluate(async () => {
    const { importDatabase } = await loadData();
    const { q } = burrow;
    const count = 20_000;
    const text = Array.from(
      { length: count },
      (_, no) => `{"no":${no + 1},"title":"note ${no}","kind":"bird ${no % 50}","done":false}\n`,
    );
    const lines = new Blob(text);
    const rounds: number[] = [];
    let there = 0;
    for (let round = 0; round < 3; round++) {
      const database = await burrow.openDatabase(`many ${round}`);
      await database.client().query(q.CreateCollection({ name: 'notes' }));
      const began = performance.now();
      await importDatabase(database, lines, { format: 'jsonl', collection: 'notes', id: 'no' });
      rounds.push(Math.round((count / (performance.now() - began)) * 1000));
      there = await database.client().query(q.Count(q.Documents(q.Collection('notes'))));
      await database.destroy();
    }
    return { there, rounds };
  });
  print('import', { documentsPerSecond: found.rounds });
  expect(found.there).toBe(20_000);
});
