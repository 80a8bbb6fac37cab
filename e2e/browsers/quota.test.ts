import { randomBytes } from 'node:crypto';
import { appendFileSync, statfsSync } from 'node:fs';
import { rm, statfs, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { describe, expect, type TestContext } from 'vitest';
import type { Browser } from './support/browser.ts';
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

/** Runs `body` in Chromium, with its profile on a small disk. */
async function onSmallDisk(
  browser: Browser,
  skip: TestContext['skip'],
  body: (tab: Tab, filler: string) => Promise<void>,
): Promise<void> {
  const space = browser.kind === 'chromium' ? await makeSpaceScarce(browser) : undefined;
  if (!space) skip('Only Chromium is given a small disk, and only root can mount one.');
  try {
    const tab = await browser.start(space.startOptions);
    await body(tab, join(browser.profileDir, 'filler'));
  } finally {
    await browser.close();
    await space.remove();
  }
}

/**
 * Other programs fill the disk, and at once again whatever becomes free.
 * @returns ends them and makes space
 */
function keepFull(filler: string, freeBytes: number): () => Promise<void> {
  const fill = (): void => {
    try {
      for (;;) {
        const { bavail, bsize } = statfsSync(dirname(filler));
        const left = bavail * bsize - freeBytes;
        if (left <= 0) return;
        appendFileSync(filler, Buffer.alloc(Math.min(left, 1_000_000)));
      }
    } catch (reason) {
      if (Object(reason).code !== 'ENOSPC') throw reason;
    }
  };
  fill();
  const timer = setInterval(fill, 5);
  return async () => {
    clearInterval(timer);
    await rm(filler);
  };
}

/** Tries to open the database. @returns `opened`, or the code of the error */
const tryOpen = (tab: Tab, name: string): Promise<string> =>
  tab.run(async (name) => {
    try {
      globalThis.db = await burrow.openDatabase(name);
      return 'opened';
    } catch (error) {
      if (!(error instanceof burrow.QueryError)) throw error;
      return error.code;
    }
  }, name);

/** Starts the browser twice: what was acknowledged must be there each time. */
async function expectNotesAtNextStarts(
  browser: Browser,
  name: string,
  ids: readonly string[],
): Promise<void> {
  for (let start = 1; start <= 2; start++) {
    await browser.close();
    const again = await browser.start();
    expect((await openNotes(again, name)).loss).toBe(null);
    expect(await readTexts(again, ids)).not.toContain(null);
    expect(await verify(again)).toEqual([]);
  }
}

/** Resolves when no log is in doubt any more: then the empty files in this folder are gone. */
async function untilRenewed(tab: Tab): Promise<void> {
  await expect
    .poll(() =>
      tab.run(async () => {
        const root = await navigator.storage.getDirectory();
        const marks = await root.getDirectoryHandle('burrow-writing', { create: true });
        let doubted = 0;
        for await (const own of marks.values()) {
          if (!(own instanceof FileSystemDirectoryHandle)) continue;
          for await (const mark of own.values())
            if (mark instanceof FileSystemFileHandle && (await mark.getFile()).size === 0)
              doubted += 1;
        }
        return doubted;
      }),
    )
    .toBe(0);
}

async function untilWritable(tab: Tab, id: string): Promise<void> {
  await expect
    .poll(() => createNote(tab, { id, text: 'after' }))
    .toMatch(/acknowledged|instance already exists/);
}

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
    await onSmallDisk(browser, skip, async (tab, filler) => {
      await openNotes(tab, 'disk');
      expect(await createNote(tab, { id: '1', text: 'before' })).toBe('acknowledged');
      await expect(writeFile(filler, Buffer.alloc(200_000_000))).rejects.toMatchObject({
        code: 'ENOSPC',
      });
      const { outcome, description } = await createLarge(tab, '2');
      print(browser, 'disk full', { outcome, description });
      expect(description).toMatch(/storage quota|Free space/);
      // Chromium may close the database, so it may not be readable until there is space.
      await rm(filler);
      await untilWritable(tab, '3');
      expect(await readTexts(tab, ['1', '2', '3'])).toEqual(['before', null, 'after']);
      expect(await verify(tab)).toEqual([]);
    });
  });

  test('if the disk becomes full during writes, the database survives, also the next two starts (L5, L10)', async ({
    browser,
    skip,
  }) => {
    await onSmallDisk(browser, skip, async (tab, filler) => {
      await openNotes(tab, 'filling', 'relaxed');
      const { bavail, bsize } = await statfs(browser.profileDir);
      await writeFile(filler, Buffer.alloc(bavail * bsize - 4_000_000));
      const stored: string[] = [];
      const refused: string[] = [];
      for (let n = 1; n <= 100 && refused.length < 3; n++) {
        const text = randomBytes(60_000).toString('base64');
        const outcome = await createNote(tab, { id: String(n), text });
        if (outcome === 'acknowledged') stored.push(String(n));
        else refused.push(outcome);
      }
      print(browser, 'disk filled', { stored: stored.length, refused });
      expect(refused).toHaveLength(3);
      await rm(filler);
      await untilWritable(tab, '1000');
      await expectNotesAtNextStarts(browser, 'filling', [...stored, '1000']);
    });
  });

  for (const end of ['closes its database', 'is reloaded'])
    test(`a database that is opened on a full disk survives, also if its page ${end} (L5, L10)`, async ({
      browser,
      skip,
    }) => {
      await onSmallDisk(browser, skip, async (first, filler) => {
        await openNotes(first, 'full');
        expect(await createNote(first, { id: '1', text: 'before' })).toBe('acknowledged');
        await first.run(() => db.close());
        await browser.close();
        const makeSpace = keepFull(filler, 0);
        const tab = await browser.start();
        const outcomes: string[] = [];
        for (let n = 2; n <= 5; n++) {
          const outcome = await tryOpen(tab, 'full');
          outcomes.push(outcome);
          if (outcome !== 'opened') continue;
          outcomes.push(await createNote(tab, { id: String(n), text: 'x'.repeat(5000) }));
          if (end === 'is reloaded') await tab.reload();
          else await tab.run(() => db.close());
        }
        print(browser, `opened on a full disk, ${end}`, { outcomes });
        expect(outcomes).not.toContain('acknowledged');
        await makeSpace();
        expect((await openNotes(tab, 'full')).loss).toBe(null);
        await untilWritable(tab, '1000');
        await untilRenewed(tab);
        await expectNotesAtNextStarts(browser, 'full', ['1', '1000']);
      });
    });
});
