import { describe, expect } from 'vitest';
import { browsers } from './support/browser-test.ts';
import { createNote, openNotes, readTexts, untilAlone, verify } from './support/notes.ts';

const ids = Array.from({ length: 10 }, (_, n) => String(n + 1));

describe.for(browsers)('%s', ([, test]) => {
  test('an id that is taken, and not in the cache, is refused, and its document stays as it was', async ({
    browser,
  }) => {
    const tab = await browser.start();
    await openNotes(tab, 'taken');
    for (const id of ids) expect(await createNote(tab, { id, text: 'old' })).toBe('acknowledged');
    const outcomes: string[] = [];
    for (const id of ids) {
      await tab.reload();
      await openNotes(tab, 'taken');
      await untilAlone(tab, 'taken');
      outcomes.push(await createNote(tab, { id, text: 'new' }));
      outcomes.push(...(await readTexts(tab, [id])).map(String));
    }
    expect(outcomes).toEqual(ids.flatMap(() => ['instance already exists', 'old']));
    await tab.reload();
    await openNotes(tab, 'taken');
    expect(await readTexts(tab, ids)).toEqual(ids.map(() => 'old'));
    expect(await verify(tab)).toEqual([]);
  });

  test('a query that creates a taken id and another one stores neither', async ({ browser }) => {
    const tab = await browser.start();
    await openNotes(tab, 'both');
    for (const id of ids) expect(await createNote(tab, { id, text: 'old' })).toBe('acknowledged');
    const outcomes: string[] = [];
    for (const id of ids) {
      await tab.reload();
      await openNotes(tab, 'both');
      await untilAlone(tab, 'both');
      outcomes.push(
        await tab.run(async (id) => {
          const { q } = burrow;
          const create = (id: string) =>
            q.Create(q.Ref(q.Collection('notes'), id), { data: { text: 'new' } });
          return db
            .client()
            .query(q.Do(create(id), create(`${id}00`)))
            .then(
              () => 'acknowledged',
              (error: unknown) => (error instanceof burrow.QueryError ? error.code : String(error)),
            );
        }, id),
      );
    }
    expect(outcomes).toEqual(ids.map(() => 'instance already exists'));
    await tab.reload();
    await openNotes(tab, 'both');
    expect(await readTexts(tab, [...ids, ...ids.map((id) => `${id}00`)])).toEqual([
      ...ids.map(() => 'old'),
      ...ids.map(() => null),
    ]);
    expect(await verify(tab)).toEqual([]);
  });
});
