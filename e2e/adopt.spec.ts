/** Adopting notes that were written without an account into a hub, while tabs are closed in the middle of it. */
import { expect, type Page } from '@playwright/test';
import { loadApp } from './support/browser-profile.ts';
import { call, notes } from './support/sync-hub.ts';
import { openSynced, shownIn } from './support/sync-page.ts';
import { test } from './support/sync-test.ts';

const NOTES = 120;
/** A tab is closed when at least this many notes are in the outbox. */
const CUTS = [1, 20, 45, 80, 119];

const writeAlone = (page: Page) =>
  page.evaluate(async (count) => {
    const { q } = burrow;
    const alone = await burrow.openDatabase('alone');
    const client = alone.client();
    await client.query(q.CreateCollection({ name: 'notes' }));
    const texts = Array.from({ length: count }, (_, at) => `note ${String(at).padStart(3, '0')}`);
    await client.query(
      q.Foreach(texts, (text) => q.Create(q.Collection('notes'), { data: { text } })),
    );
    await alone.close();
  }, NOTES);

/** Starts the adoption without waiting for its end. */
const begin = (page: Page) =>
  page.evaluate(async () => {
    const { adopt } = await loadAdopt();
    const alone = await burrow.openDatabase('alone');
    globalThis.adopting = adopt(alone, sync).then(async ({ submitted, known, failed, settled }) => {
      const { refused } = await settled;
      return { submitted, known, failed: failed.length, refused: refused.length };
    });
    // The promise rejects when the tab is closed during the adoption.
    globalThis.adopting.catch(() => undefined);
  });

declare global {
  var adopting: Promise<{
    readonly submitted: number;
    readonly known: number;
    readonly failed: number;
    readonly refused: number;
  }>;
}

const writes = (page: Page) => page.evaluate(async () => (await sync.writes.list()).length);

test('`adopt()` creates each note once, even if tabs are closed during it, with and without a network', async ({
  context,
  hub,
}) => {
  const key = await hub.admin.query(call('CreateKey', { role: 'admin' }));
  const secret = String(key['secret']);
  const open = async (): Promise<Page> => {
    const page = await context.newPage();
    await loadApp(page);
    await openSynced(page, { url: hub.url, secret });
    return page;
  };
  let page = await open();
  await writeAlone(page);
  for (const [round, cut] of CUTS.entries()) {
    // In every other round the hub cannot be reached.
    hub.proxy.set(round % 2 === 0 ? 'down' : 'up');
    await begin(page);
    await expect.poll(() => writes(page)).toBeGreaterThanOrEqual(cut);
    await page.close();
    hub.proxy.set('up');
    page = await open();
  }
  await begin(page);
  const end = await page.evaluate(() => adopting);
  expect(end.submitted + end.known).toBe(NOTES);
  expect(end).toMatchObject({ failed: 0, refused: 0 });
  await expect.poll(async () => (await shownIn(page)).length).toBe(NOTES);
  const made = call('Count', call('Documents', notes()));
  expect(await hub.admin.query(made)).toBe(NOTES);
  const events = call('Paginate', call('Events', call('Documents', notes())), { size: 1000 });
  expect(await hub.admin.query(call('Count', call('Select', 'data', events)))).toBe(NOTES);
});
