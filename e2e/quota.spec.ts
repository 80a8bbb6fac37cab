import { expect } from '@playwright/test';
import { print, test } from './support/app-test.ts';
import { appUrl } from './support/browser-profile.ts';
import { countRound, openNotes } from './support/notes.ts';

const QUOTA_BYTES = 4_000_000;

test('without space a query fails as a whole with an error code; stored data stays readable; with space writes succeed again (L10, F10)', async ({
  profile,
}) => {
  const before = await profile.openTab();
  await openNotes(before, 'full');
  await before.evaluate(() =>
    db.client().query(burrow.q.Create(burrow.q.Collection('notes'), { data: { round: 'early' } })),
  );
  // A database that was not closed may have been killed: then a new log is written, which for a moment needs more than all of this space.
  await before.evaluate(() => db.close());
  // A browser remembers the available space, so it is restarted.
  await profile.close();

  const page = await profile.openTab();
  const session = await profile.debug(page);
  const { origin } = new URL(appUrl());
  await session.send('Storage.overrideQuotaForOrigin', { origin, quotaSize: QUOTA_BYTES });
  await openNotes(page, 'full');
  const filled = await page.evaluate(async () => {
    const { q } = burrow;
    /** Text that no storage can compress. */
    const randomText = (): string => {
      const bytes = crypto.getRandomValues(new Uint8Array(48_000));
      return btoa(String.fromCharCode(...bytes));
    };
    const acknowledged: number[] = [];
    for (let query = 1; query <= 200; query++) {
      const documents = Array.from({ length: 4 }, (_, n) =>
        q.Create(q.Ref(q.Collection('notes'), query * 10 + n), {
          data: { round: 'big', query, text: randomText() },
        }),
      );
      try {
        await db.client().query(q.Do(...(documents as [(typeof documents)[number]])));
        acknowledged.push(query);
      } catch (error) {
        const { code, description, status } = error as InstanceType<typeof burrow.QueryError>;
        return { acknowledged, failed: query, code, description, status };
      }
    }
    return { acknowledged, failed: 0, code: 'never full', description: '', status: 0 };
  });
  const { acknowledged, ...failure } = filled;
  print('quota', { quota: QUOTA_BYTES, acknowledged: acknowledged.length, ...failure });
  expect(filled.code).toBe('quota_exceeded');
  expect(filled.description).toMatch(/quota of this site is exceeded/);
  expect(acknowledged.length).toBeGreaterThan(0);

  const read = () =>
    page.evaluate(async () => {
      const { q } = burrow;
      const set = q.Match(q.Index('notes_by_round'), 'big');
      const numbers: number[] = [];
      const field = (name: string) => (ref: unknown) =>
        q.Select(['data', name], q.Get(ref as ReturnType<typeof q.Var>));
      await db
        .client()
        .paginate(set, { size: 100 })
        .map(field('query'))
        .each((page) => {
          numbers.push(...(page as number[]));
        });
      return numbers;
    });
  const whole = (queries: readonly number[]) =>
    queries.flatMap((query) => [query, query, query, query]);
  expect(await read()).toEqual(whole(acknowledged));
  expect(await countRound(page, 'early')).toBe(1);

  await session.send('Storage.overrideQuotaForOrigin', { origin });
  await page.evaluate(async () => {
    const { q } = burrow;
    const documents = [0, 1, 2, 3].map((n) =>
      q.Create(q.Ref(q.Collection('notes'), 9000 + n), {
        data: { round: 'big', query: 900, text: 'x' },
      }),
    );
    await db.client().query(q.Do(...(documents as [(typeof documents)[number]])));
  });
  expect(await read()).toEqual(whole([...acknowledged, 900]));
  expect(await page.evaluate(() => db.verify())).toEqual([]);
  // All of it is on disk, not only in memory.
  await page.evaluate(() => db.close());
  await openNotes(page, 'full');
  expect(await read()).toEqual(whole([...acknowledged, 900]));
});
