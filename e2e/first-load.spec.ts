/** A first load whose browser is killed repeatedly resumes where it was. BURROW_FIRST_LOAD=200000 sets the number of documents. */
import { expect, type Page } from '@playwright/test';
import { print } from './support/app-test.ts';
import { call, notes, type SyncHub } from './support/sync-hub.ts';
import { test } from './support/sync-test.ts';

const NOTES = Number(process.env['BURROW_FIRST_LOAD'] ?? 12_000);
const KILLS = 10;
const BATCH = 500;
/** More than ten pull responses can hold. */
const BYTES = 56 * 1024 * 1024;
const WORDS = 'the heron stands in the reeds. ';

async function fill(hub: SyncHub, count: number): Promise<void> {
  const text = WORDS.repeat(Math.ceil(BYTES / NOTES / WORDS.length));
  for (let at = 0; at < count; at += BATCH) {
    const texts = Array.from({ length: BATCH }, (_, i) => `${at + i} ${text}`);
    const create = call('Create', notes(), { data: { text: call('Var', 'text') } });
    await hub.admin.query(call('Foreach', texts, call('Lambda', 'text', create)));
  }
}

declare global {
  /** Number of documents that have arrived, by the last progress event. */
  var rows: number;
}

/** Opens the copy and starts its first load. */
const load = (page: Page, { url, secret }: { readonly url: string; readonly secret: string }) =>
  page.evaluate(
    async ({ url, secret }) => {
      const { q } = burrow;
      globalThis.rows = 0;
      globalThis.db = await burrow.openDatabase('large');
      globalThis.sync = await db.sync({ url, secret, sets: [q.Documents(q.Collection('notes'))] });
      sync.addEventListener('progress', ({ detail: { sets } }) => {
        globalThis.rows = sets[0]?.rows ?? 0;
      });
    },
    { url, secret },
  );

const countedHere = (page: Page) =>
  page.evaluate(async () => {
    const { q } = burrow;
    const count = q.Count(q.Documents(q.Collection('notes')));
    const { value, partial } = await sync.client.queryWithMetrics(count);
    return { value, isPartial: partial.length > 0 };
  });

test('a first load whose database is evicted restarts from the beginning and completes', async ({
  profile,
  hub,
}) => {
  // More than two pull responses can hold; the third one never arrives.
  const count = BATCH * Math.ceil(NOTES / 3 / BATCH);
  await fill(hub, count);
  const secret = await hub.token('alice@example.org');
  let pulls = 0;
  hub.proxy.judge = ({ path }) => (path === '/sync/pull' && ++pulls > 2 ? 'drop' : 'none');
  let page = await profile.openTab();
  await load(page, { url: hub.url, secret });
  await page.waitForFunction(() => rows > 0);
  const session = await profile.debug(page);
  const { origin } = new URL(page.url());
  await session.send('Storage.clearDataForOrigin', { origin, storageTypes: 'all' });
  await page.close();
  hub.proxy.judge = () => 'none';
  page = await profile.openTab();
  await load(page, { url: hub.url, secret });
  await page.evaluate(() => sync.whenSynced());
  expect(await countedHere(page)).toEqual({ value: count, isPartial: false });
  expect(await page.evaluate(() => db.verify())).toEqual([]);
});

test(`a first load that is killed ${KILLS} times resumes each time, and can be queried before it is complete`, async ({
  profile,
  hub,
}) => {
  // A timeout that only a hanging test reaches.
  test.setTimeout(300_000 + NOTES * 4);
  await fill(hub, NOTES);
  const secret = await hub.token('alice@example.org');
  const reached: number[] = [0];
  for (let life = 1; life <= KILLS; life += 1) {
    const page = await profile.openTab();
    let pulls = 0;
    // In each life one response arrives; the next one has been requested, but never arrives.
    hub.proxy.judge = ({ path }) => (path === '/sync/pull' && ++pulls > 1 ? 'drop' : 'none');
    await load(page, { url: hub.url, secret });
    const before = reached.at(-1) ?? 0;
    await page.waitForFunction((before) => rows > before, before);
    const { value, isPartial } = await countedHere(page);
    expect(value).toBeGreaterThan(before);
    expect(isPartial).toBe(value < NOTES);
    reached.push(value);
    await profile.kill();
  }
  hub.proxy.judge = () => 'none';
  const page = await profile.openTab();
  await load(page, { url: hub.url, secret });
  // Documents that arrived before the kill are there before further ones arrive.
  expect((await countedHere(page)).value).toBeGreaterThanOrEqual(reached.at(-1) ?? 0);
  await page.evaluate(() => sync.whenSynced());
  expect(await countedHere(page)).toEqual({ value: NOTES, isPartial: false });
  expect(await page.evaluate(() => db.verify())).toEqual([]);
  print('first load', { notes: NOTES, reached });
});
