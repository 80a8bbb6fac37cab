import { describe, expect } from 'vitest';
import { engines, print } from './support/browser-test.ts';
import { startNotes, takeAcknowledged, untilAcknowledged } from './support/note-stream.ts';
import { createNote, openNotes, readTexts, untilAlone } from './support/notes.ts';
import type { Tab } from './support/tab.ts';

/** Tells the test each text that the note has. */
const watchNote = (tab: Tab, id: string): Promise<void> =>
  tab.run((id) => {
    const { q } = burrow;
    const note = q.Ref(q.Collection('notes'), id);
    db.client().subscribe(q.If(q.Exists(note), q.Select(['data', 'text'], q.Get(note)), null), {
      next: (value) => void tell(value),
      error: (error) => void tell(error.message),
    });
  }, id);

describe.for(engines)('%s', ([, test]) => {
  test('a page shown again as it was goes on: its queries, its live queries, its lock', async ({
    browser,
  }) => {
    const tab = await browser.start();
    await openNotes(tab, 'shown');
    await watchNote(tab, '1');
    await tab.untilTold(1);
    await createNote(tab, { id: '1', text: 'first' });
    await tab.untilTold(2);
    expect(await tab.leave('next')).toBe('load');
    await openNotes(tab, 'shown');
    await createNote(tab, { id: '2', text: 'by the next page' });
    await tab.run(() =>
      db.client().query(
        burrow.q.Update(burrow.q.Ref(burrow.q.Collection('notes'), '1'), {
          data: { text: 'second' },
        }),
      ),
    );
    const arrival = await tab.back();
    print(browser, 'back to a page with a live query', { arrival });
    // Others keep no page that holds a lock, or waits for one: theirs was loaded anew.
    expect(['show', browser.kind.startsWith('webkit') ? 'show' : 'load']).toContain(arrival);
    if (arrival === 'load') {
      await openNotes(tab, 'shown');
      await watchNote(tab, '1');
    }
    await tab.untilTold(3);
    expect(tab.told).toEqual([null, 'first', 'second']);
    expect(await readTexts(tab, ['1', '2'])).toEqual(['second', 'by the next page']);
    await createNote(tab, { id: '3', text: 'here again' });
    expect(await readTexts(tab, ['3'])).toEqual(['here again']);
    await untilAlone(tab, 'shown');
  });

  test('a page that was left amid writes, shown again, knows what it was acknowledged', async ({
    browser,
  }) => {
    const tab = await browser.start();
    await openNotes(tab, 'amid');
    await startNotes(tab, 1);
    await untilAcknowledged(tab, 5);
    await tab.leave('next');
    const { openMs } = await openNotes(tab, 'amid');
    const arrival = await tab.back();
    print(browser, 'back to a page left amid writes', { openMs, arrival });
    if (arrival === 'load') await openNotes(tab, 'amid');
    expect(await createNote(tab, { id: '999999', text: 'here again' })).toBe('acknowledged');
    const acknowledged = await takeAcknowledged(tab);
    expect(acknowledged.length).toBeGreaterThanOrEqual(5);
    expect(await readTexts(tab, acknowledged)).toEqual(acknowledged.map((id) => id.repeat(20)));
  });
});
