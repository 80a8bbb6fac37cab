import { describe, expect } from 'vitest';
import { engines, print } from './support/browser-test.ts';
import type { Browser } from './support/browser.ts';
import { loops } from './support/loops.ts';
import { startNotes, takeAcknowledged, untilAcknowledged } from './support/note-stream.ts';
import { createNote, openNotes, readTexts, untilAlone } from './support/notes.ts';
import type { Arrival } from './support/page-messages.ts';
import type { Tab } from './support/tab.ts';

/** Tells the test each text of the note. */
const watchNote = (tab: Tab, id: string): Promise<void> =>
  tab.run((id) => {
    const { q } = burrow;
    const note = q.Ref(q.Collection('notes'), id);
    db.client().subscribe(q.If(q.Exists(note), q.Select(['data', 'text'], q.Get(note)), null), {
      next: (value) => void tell(value),
      error: (error) => void tell(error.message),
    });
  }, id);

/** Updates the note. Called in another tab. */
const updateNote = (tab: Tab, id: string, text: string): Promise<unknown> =>
  tab.run(
    ({ id, text }) => {
      const { q } = burrow;
      return db.client().query(q.Update(q.Ref(q.Collection('notes'), id), { data: { text } }));
    },
    { id, text },
  );

const LOOPS = loops(3);

/**
 * Browsers other than WebKit do not keep a page in the back/forward cache while it holds or requests a lock, so they may load it again.
 */
const arrivalsOf = ({ kind }: Browser): readonly Arrival[] =>
  kind.startsWith('webkit') ? ['show'] : ['show', 'load'];

describe.for(engines)('%s', ([, test]) => {
  test('a page restored from the back/forward cache continues its queries and live queries, and can lock again', async ({
    browser,
  }) => {
    const tab = await browser.start();
    await openNotes(tab, 'shown');
    await createNote(tab, { id: '1', text: 'first' });
    await watchNote(tab, '1');
    await tab.untilTold(1);
    const expected = ['first'];
    const arrivals: Arrival[] = [];
    for (let loop = 0; loop < LOOPS; loop++) {
      expect(await tab.leave(String(loop))).toBe('load');
      await openNotes(tab, 'shown');
      await updateNote(tab, '1', `by page ${loop}`);
      expected.push(`by page ${loop}`);
      const arrival = await tab.back();
      expect(arrivalsOf(browser)).toContain(arrival);
      arrivals.push(arrival);
      if (arrival === 'load') {
        await openNotes(tab, 'shown');
        await watchNote(tab, '1');
      }
      await expect.poll(() => tab.told).toEqual(expected);
      expect(await createNote(tab, { id: String(10 + loop), text: 'here' })).toBe('acknowledged');
      expect(await readTexts(tab, ['1', String(10 + loop)])).toEqual([`by page ${loop}`, 'here']);
      await untilAlone(tab, 'shown');
    }
    print(browser, 'back to a page with a live query', { arrivals });
  });

  test('a page that was left during writes and is shown again finds its acknowledged writes', async ({
    browser,
  }) => {
    const tab = await browser.start();
    await openNotes(tab, 'amid');
    const arrivals: Arrival[] = [];
    const opens: number[] = [];
    for (let loop = 0; loop < LOOPS; loop++) {
      await startNotes(tab, 1 + loop * 10_000);
      await untilAcknowledged(tab, 5);
      await tab.leave(String(loop));
      opens.push((await openNotes(tab, 'amid')).openMs);
      const arrival = await tab.back();
      expect(arrivalsOf(browser)).toContain(arrival);
      arrivals.push(arrival);
      if (arrival === 'load') await openNotes(tab, 'amid');
      expect(await createNote(tab, { id: String(9_000_000 + loop), text: 'here' })).toBe(
        'acknowledged',
      );
      const acknowledged = await takeAcknowledged(tab);
      expect(acknowledged.length).toBeGreaterThanOrEqual(5);
      expect(await readTexts(tab, acknowledged)).toEqual(acknowledged.map((id) => id.repeat(20)));
    }
    print(browser, 'back to a page left amid writes', { opens, arrivals });
  });
});
