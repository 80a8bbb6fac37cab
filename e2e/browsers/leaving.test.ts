import { describe, expect } from 'vitest';
import { engines, print } from './support/browser-test.ts';
import { loops } from './support/loops.ts';
import { startNotes, takeAcknowledged, untilAcknowledged } from './support/note-stream.ts';
import { openNotes, readTexts, untilAlone, verify } from './support/notes.ts';
import type { Tab } from './support/tab.ts';

const LOOPS = loops(6);

/** Notes that were acknowledged to earlier pages and that this page does not find. */
async function missingIn(tab: Tab, acknowledged: readonly string[]): Promise<readonly string[]> {
  const texts = await readTexts(tab, acknowledged);
  return acknowledged.filter((id, n) => texts[n] !== id.repeat(20));
}

/** Number of acknowledged writes after which to leave the page, spread over the stream of writes. */
const instantOf = (loop: number): number => 1 + (loop % 7) * 3;

/** Locks for this database that any page holds. */
const locksOf = (tab: Tab, name: string): Promise<readonly (string | undefined)[]> =>
  tab.run(async (name) => {
    const { held = [] } = await navigator.locks.query();
    return held.map((lock) => lock.name).filter((held) => held?.includes(name));
  }, name);

describe.for(engines)('%s', ([, test]) => {
  test('a reload during writes loses no acknowledged write and does not block the next page', async ({
    browser,
  }) => {
    const tab = await browser.start();
    await openNotes(tab, 'reloaded');
    const all: string[] = [];
    const opens: number[] = [];
    for (let loop = 0; loop < LOOPS; loop++) {
      await startNotes(tab, 1 + loop * 10_000);
      await untilAcknowledged(tab, instantOf(loop));
      await tab.reload();
      const acknowledged = await takeAcknowledged(tab);
      opens.push((await openNotes(tab, 'reloaded')).openMs);
      expect(await missingIn(tab, acknowledged)).toEqual([]);
      all.push(...acknowledged);
    }
    print(browser, 'reloads amid writes', { acknowledged: all.length, opens });
    expect(await missingIn(tab, all)).toEqual([]);
    expect(await verify(tab)).toEqual([]);
  });

  test('leaving the page during writes loses no acknowledged write and does not block the next page', async ({
    browser,
  }) => {
    const tab = await browser.start();
    await openNotes(tab, 'left');
    const all: string[] = [];
    const opens: number[] = [];
    for (let loop = 0; loop < LOOPS; loop++) {
      await startNotes(tab, 1 + loop * 10_000);
      await untilAcknowledged(tab, instantOf(loop));
      await tab.leave(String(loop));
      const acknowledged = await takeAcknowledged(tab);
      opens.push((await openNotes(tab, 'left')).openMs);
      expect(await missingIn(tab, acknowledged)).toEqual([]);
      all.push(...acknowledged);
    }
    print(browser, 'leaves amid writes', { acknowledged: all.length, opens });
    expect(await missingIn(tab, all)).toEqual([]);
    expect(await verify(tab)).toEqual([]);
  });

  test('a page that was left idle releases its locks, and the next page is the only user of the database', async ({
    browser,
  }) => {
    const tab = await browser.start();
    await openNotes(tab, 'idle');
    const opens: number[] = [];
    for (let loop = 0; loop < 3; loop++) {
      await untilAlone(tab, 'idle');
      await tab.leave(String(loop));
      await expect.poll(() => locksOf(tab, 'idle'), { timeout: 10_000 }).toEqual([]);
      opens.push((await openNotes(tab, 'idle')).openMs);
    }
    await untilAlone(tab, 'idle');
    print(browser, 'leaves idle', { opens });
  });
});
