import { describe, expect } from 'vitest';
import { engines, print } from './support/browser-test.ts';
import { loops } from './support/loops.ts';
import { startNotes, untilAcknowledged } from './support/note-stream.ts';
import { openNotes, readTexts } from './support/notes.ts';

const LOOPS = loops(5);

describe.for(engines)('%s', ([, test]) => {
  test('`forgetDatabase()` deletes a database that was closed during reads and writes', async ({
    browser,
  }) => {
    const tab = await browser.start();
    const took: number[] = [];
    for (let loop = 0; loop < LOOPS; loop++) {
      await openNotes(tab, 'forgotten');
      expect(await readTexts(tab, ['1'])).toEqual([null]);
      await startNotes(tab, 1);
      await untilAcknowledged(tab, 1 + (loop % 7) * 3);
      took.push(
        await tab.run(async () => {
          const { q } = burrow;
          for (let id = 1_000_000; id < 1_000_030; id++)
            // Rejects if the database is closed before the query is executed.
            db.client()
              .query(q.Exists(q.Ref(q.Collection('notes'), String(id))))
              .catch(() => undefined);
          const started = performance.now();
          await db.close();
          await burrow.forgetDatabase('forgotten');
          return Math.round(performance.now() - started);
        }),
      );
    }
    print(browser, 'closed amid writes and forgotten', { took });
    await openNotes(tab, 'forgotten');
    expect(await readTexts(tab, ['1'])).toEqual([null]);
  });
});
