/** S5: writes that the hub will never accept. Ids of faults are those of the fault table. */
import { expect, type Page } from '@playwright/test';
import { loadApp } from './support/browser-profile.ts';
import type { Fault } from './support/faulty-proxy.ts';
import { call, note, notes, type SyncHub } from './support/sync-hub.ts';
import { openSynced, shownIn, submitNote, writesIn } from './support/sync-page.ts';
import { ALICE, test } from './support/sync-test.ts';

declare global {
  /** Ids and error codes of refused writes, as reported to the app. */
  var told: [string, string | undefined][];
}

const listen = (page: Page): Promise<void> =>
  page.evaluate(() => {
    globalThis.told = [];
    sync.addEventListener('verdict', ({ detail }) => {
      if (detail.state === 'refused') told.push([detail.id, detail.error.code]);
    });
  });

/**
 * Creates a note in a query that also does work for each pair of letters of a text. The field `n` of note 1 sets the length of the text:
 * with a thousand letters, the work exceeds the limit of any query.
 */
const submitWithPairs = (page: Page, text: string): Promise<string> =>
  page.evaluate(async (text) => {
    const { q } = burrow;
    const counter = q.Get(q.Ref(q.Collection('notes'), '1'));
    const letters = q.FindStrRegex(q.Repeat('x', q.Select(['data', 'n'], counter)), 'x', 0, 1000);
    const { id } = await sync.client.submit(
      q.Do(
        q.Create(q.Collection('notes'), { data: { text } }),
        q.Foreach(letters, (x) => q.Foreach(letters, (y) => q.Select('start', q.Merge(x, y)))),
      ),
    );
    return id;
  }, text);

/** Restores the connection to the hub, but cuts the next pushes and their responses, and sends one push twice. */
function healSlowly({ proxy }: SyncHub): () => number {
  const cuts: Fault[] = [{ cutAnswerAt: 0 }, { cutRequestAt: 60 }, 'twice'];
  proxy.judge = ({ path }) => (path.startsWith('/sync/push') ? (cuts.shift() ?? 'none') : 'none');
  proxy.set('up');
  return () => cuts.length;
}

test('F29: a write that the hub always refuses is reported and kept until it is discarded; later writes are executed', async ({
  page,
  hub,
}) => {
  await hub.admin.query(call('Create', note('1'), { data: { text: 'counter', n: 1 } }));
  await openSynced(page, { url: hub.url, secret: await hub.token(ALICE) });
  await page.evaluate(() => sync.whenSynced());
  await listen(page);
  hub.proxy.set('down');
  await submitNote(page, 'before');
  const taken = await submitNote(page, 'poison 1', { slug: 'taken' });
  await submitNote(page, 'between');
  const heavy = await submitWithPairs(page, 'poison 2');
  await submitNote(page, 'behind');
  await expect.poll(() => shownIn(page)).toContain('poison 2');
  await hub.admin.query(call('Update', note('1'), { data: { n: 1000 } }));
  await hub.admin.query(call('Create', notes(), { data: { text: 'theirs', slug: 'taken' } }));
  const cutsLeft = healSlowly(hub);
  await page.evaluate(() => sync.whenSettled());
  expect(cutsLeft()).toBe(0);

  const codes = [
    [taken, 'instance not unique'],
    [heavy, 'bad request'],
  ];
  expect(await page.evaluate(() => told)).toEqual(codes);
  const refused = await writesIn(page, ['refused']);
  expect(refused.map(({ id, code }) => [id, code])).toEqual(codes);
  const all = ['before', 'behind', 'between', 'counter', 'theirs'];
  await expect.poll(() => shownIn(page)).toEqual(all);
  expect(await hub.admin.query(call('Count', call('Documents', notes())))).toBe(all.length);

  // Neither a reload nor further writes send the refused writes again or remove them from the list.
  await loadApp(page);
  await openSynced(page, { url: hub.url });
  await listen(page);
  await submitNote(page, 'later');
  await page.evaluate(() => sync.whenSettled());
  expect(await writesIn(page, ['refused'])).toEqual(refused);
  expect(await page.evaluate(() => told)).toEqual([]);
  const sent = hub.proxy.of('/sync/push').at(-1)?.body.toString();
  expect(sent).toContain('later');
  expect(sent).not.toContain('poison');
  await page.evaluate(
    async (ids) => {
      for (const id of ids) await sync.writes.resolve(id, { discard: true });
    },
    [taken, heavy],
  );
  expect(await writesIn(page, ['refused'])).toEqual([]);
  await expect.poll(() => shownIn(page)).toEqual([...all, 'later'].toSorted());
});
