import { rm, statfs, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect } from 'vitest';
import { engines, print } from './support/browser-test.ts';
import { createNote, openNotes, readTexts, verify } from './support/notes.ts';
import { makeSpaceScarce } from './support/scarce-space.ts';
import type { Tab } from './support/tab.ts';

/** Creates a note that takes more than 1 MB even in browsers that compress what they store. */
const createLarge = (
  tab: Tab,
  id: string,
): Promise<{ readonly outcome: string; readonly text: string; readonly description: string }> =>
  tab.run(async (id) => {
    const bytes = (): string =>
      btoa(String.fromCharCode(...crypto.getRandomValues(new Uint8Array(60_000))));
    const text = Array.from({ length: 25 }, bytes).join('');
    const { q } = burrow;
    try {
      await db.client().query(q.Create(q.Ref(q.Collection('notes'), id), { data: { text } }));
      return { outcome: 'acknowledged', text, description: '' };
    } catch (error) {
      if (!(error instanceof burrow.QueryError)) throw error;
      return { outcome: error.code, text, description: error.description };
    }
  }, id);

describe.for(engines)('%s', ([, test]) => {
  test('if the quota is full, large documents are refused, and acknowledged ones survive a browser restart', async ({
    browser,
    skip,
  }) => {
    // Opens the database first, because WebKit must have a folder for the site.
    await openNotes(await browser.start(), 'full');
    await browser.close();
    const space = await makeSpaceScarce(browser);
    if (!space) {
      skip('Chromium is given a small disk, and only root can mount one.');
      return;
    }
    try {
      const tab = await browser.start(space.startOptions);
      await openNotes(tab, 'full');
      const stored = new Map<string, string>();
      const refused = new Map<string, string>();
      for (let n = 1; n <= 100 && refused.size < 3; n++) {
        const { outcome, text } = await createLarge(tab, String(n));
        if (outcome === 'acknowledged') stored.set(String(n), text);
        else refused.set(String(n), outcome);
      }
      print(browser, 'quota full', { acknowledged: stored.size, refused: [...refused.values()] });
      expect([...refused.values()]).toEqual(Array.from({ length: 3 }, () => 'quota_exceeded'));
      expect(stored.size).toBeGreaterThan(2);
      expect(await readTexts(tab, [...stored.keys()])).toEqual([...stored.values()]);
      expect(await readTexts(tab, [...refused.keys()])).toEqual([null, null, null]);
      await browser.close();

      await space.widen();
      const after = await browser.start();
      expect((await openNotes(after, 'full')).loss).toBe(null);
      expect(await readTexts(after, [...stored.keys()])).toEqual([...stored.values()]);
      expect(await readTexts(after, [...refused.keys()])).toEqual([null, null, null]);
      for (const id of refused.keys())
        expect(await createNote(after, { id, text: 'fits now' })).toBe('acknowledged');
      expect(await verify(after)).toEqual([]);
    } finally {
      await browser.close();
      await space.remove();
    }
  });

  test('if other programs fill the disk, the error says so, and with space writes succeed again without a reload (L10)', async ({
    browser,
    skip,
  }) => {
    const space = browser.kind === 'chromium' ? await makeSpaceScarce(browser) : undefined;
    if (!space) {
      skip('Only Chromium is given a small disk, and only root can mount one.');
      return;
    }
    try {
      const tab = await browser.start(space.startOptions);
      await openNotes(tab, 'disk');
      expect(await createNote(tab, { id: '1', text: 'before' })).toBe('acknowledged');
      const filler = join(browser.profileDir, 'filler');
      await expect(writeFile(filler, Buffer.alloc(200_000_000))).rejects.toMatchObject({
        code: 'ENOSPC',
      });
      const { outcome, description } = await createLarge(tab, '2');
      print(browser, 'disk full', { outcome, description });
      expect(description).toMatch(/storage quota|Free space/);
      // Chromium may close the database, so it may not be readable until there is space.
      await rm(filler);
      await expect
        .poll(() => createNote(tab, { id: '3', text: 'after' }))
        .toMatch(/acknowledged|instance already exists/);
      expect(await readTexts(tab, ['1', '2', '3'])).toEqual(['before', null, 'after']);
      expect(await verify(tab)).toEqual([]);
    } finally {
      await browser.close();
      await space.remove();
    }
  });

  test('if the disk becomes full during writes, the database survives, also the next two starts (L5, L10)', async ({
    browser,
    skip,
  }) => {
    const space = browser.kind === 'chromium' ? await makeSpaceScarce(browser) : undefined;
    if (!space) {
      skip('Only Chromium is given a small disk, and only root can mount one.');
      return;
    }
    try {
      const tab = await browser.start(space.startOptions);
      await openNotes(tab, 'filling', 'relaxed');
      const filler = join(browser.profileDir, 'filler');
      const { bavail, bsize } = await statfs(browser.profileDir);
      await writeFile(filler, Buffer.alloc(bavail * bsize - 4_000_000));
      const outcomes = await tab.run(async () => {
        const { q } = burrow;
        const found: string[] = [];
        for (
          let n = 1;
          n <= 100 && found.filter((each) => each !== 'acknowledged').length < 3;
          n++
        ) {
          const bytes = crypto.getRandomValues(new Uint8Array(60_000));
          const text = btoa(String.fromCharCode(...bytes));
          const outcome = await db
            .client()
            .query(q.Create(q.Ref(q.Collection('notes'), n), { data: { text } }))
            .then(
              () => 'acknowledged',
              (error: unknown) => (error instanceof burrow.QueryError ? error.code : String(error)),
            );
          found.push(outcome);
        }
        return found;
      });
      const stored = outcomes.flatMap((outcome, at) =>
        outcome === 'acknowledged' ? [at + 1] : [],
      );
      print(browser, 'disk filled', { stored: stored.length, codes: [...new Set(outcomes)] });
      expect(outcomes.length - stored.length).toBe(3);
      await rm(filler);
      await expect
        .poll(() => createNote(tab, { id: '1000', text: 'after' }))
        .toMatch(/acknowledged|instance already exists/);
      for (let start = 1; start <= 2; start++) {
        await browser.close();
        const again = await browser.start();
        expect((await openNotes(again, 'filling')).loss).toBe(null);
        const texts = await readTexts(again, [...stored.map(String), '1000']);
        expect(texts.filter((text) => text === null)).toEqual([]);
        expect(await verify(again)).toEqual([]);
      }
    } finally {
      await browser.close();
      await space.remove();
    }
  });
});
