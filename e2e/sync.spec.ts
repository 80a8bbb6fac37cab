/** Two browsers and a hub: what one writes, with or without a network, the other one shows. */
import { expect, type Page } from '@playwright/test';
import { test as base } from './support/app-test.ts';
import { loadApp } from './support/browser-profile.ts';
import { call, PASSWORD, startSyncHub, type SyncHub } from './support/sync-hub.ts';
import { openSynced, shownIn, stateOf, submitNote, writesIn } from './support/sync-page.ts';

const test = base.extend<{ readonly hub: SyncHub; readonly other: Page }>({
  // oxlint-disable-next-line no-empty-pattern
  hub: async ({}, use) => {
    const hub = await startSyncHub();
    await use(hub);
    await hub.ended();
  },
  /** A page in a second browser. */
  other: async ({ browser }, use) => {
    const context = await browser.newContext();
    const page = await context.newPage();
    await loadApp(page);
    await use(page);
    await context.close();
  },
});

const ALICE = 'alice@example.org';
const BOB = 'bob@example.org';
const loginOf = (hub: SyncHub, email: string) => ({ email, password: PASSWORD, key: hub.key });

test('what one browser writes, the other one shows, and the writer hears the verdict', async ({
  profile,
  hub,
  other,
}) => {
  const page = await profile.openTab();
  expect(await openSynced(page, { url: hub.url, login: loginOf(hub, ALICE) })).toBeUndefined();
  expect(await openSynced(other, { url: hub.url, secret: await hub.token(BOB) })).toBeUndefined();
  const done = await page.evaluate(async () => {
    const { q } = burrow;
    const written = await sync.client.submit(
      q.Create(q.Collection('notes'), { data: { text: 'a heron' } }),
    );
    const verdict = await written.settled;
    return {
      state: verdict.state,
      id: written.id === verdict.id,
      value: written.value,
      at: verdict.value,
    };
  });
  expect(done).toMatchObject({ state: 'confirmed', id: true });
  expect(done.value?.data).toEqual({ text: 'a heron' });
  await expect.poll(() => shownIn(other)).toEqual(['a heron']);
  expect(await stateOf(page)).toBe('live');
});
