import { describe, expect } from 'vitest';
import { engines } from './support/browser-test.ts';
import { createNote, openNotes, readTexts, untilAlone, verify } from './support/notes.ts';
import type { Tab } from './support/tab.ts';

const idsFrom = (number: number): readonly string[] =>
  Array.from({ length: 10 }, (_, n) => String(number + n));
const first = idsFrom(100);
const second = idsFrom(200);
/** Ids that no note has. */
const free = idsFrom(300);

/** Creates two notes in one query. @returns `acknowledged`, or the code of the error */
const createBoth = (tab: Tab, ids: readonly [string, string]): Promise<string> =>
  tab.run(async ([one, other]) => {
    const { q } = burrow;
    const create = (id: string) =>
      q.Create(q.Ref(q.Collection('notes'), id), { data: { text: 'new' } });
    return db
      .client()
      .query(q.Do(create(one), create(other)))
      .then(
        () => 'acknowledged',
        (error: unknown) => (error instanceof burrow.QueryError ? error.code : String(error)),
      );
  }, ids);

describe.for(engines)('%s', ([, test]) => {
  test('creating a document whose id is taken, but not cached, rejects the whole query and keeps the document', async ({
    browser,
  }) => {
    const tab = await browser.start();
    await openNotes(tab, 'taken');
    for (const id of [...first, ...second])
      expect(await createNote(tab, { id, text: 'old' })).toBe('acknowledged');
    const outcomes: unknown[] = [];
    for (const [n, id] of first.entries()) {
      await tab.reload();
      await openNotes(tab, 'taken');
      await untilAlone(tab, 'taken');
      outcomes.push(await createNote(tab, { id, text: 'new' }));
      outcomes.push(await createBoth(tab, [second[n] ?? '', free[n] ?? '']));
      outcomes.push(await readTexts(tab, [id]));
    }
    const refused = 'instance already exists';
    expect(outcomes).toEqual(first.flatMap(() => [refused, refused, ['old']]));
    await tab.reload();
    await openNotes(tab, 'taken');
    expect(await readTexts(tab, [...first, ...second, ...free])).toEqual([
      ...[...first, ...second].map(() => 'old'),
      ...free.map(() => null),
    ]);
    expect(await verify(tab)).toEqual([]);
  });
});
