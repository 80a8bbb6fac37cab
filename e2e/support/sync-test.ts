/** Tests of sync: each with a database of its own on one hub, and browsers that are not each other's. */
import type { Page } from '@playwright/test';
import { test as base } from './app-test.ts';
import { loadApp } from './browser-profile.ts';
import { openSyncHub, PASSWORD, startHub, type HubProcess, type SyncHub } from './sync-hub.ts';

export const ALICE = 'alice@example.org';
export const BOB = 'bob@example.org';

interface SyncFixtures {
  readonly hub: SyncHub;
  /** A page in a browser profile of its own. */
  readonly page: Page;
  /** And one in another. */
  readonly other: Page;
  /** Whether the way to the hub lets lines through. Without, whatever is said to the hub is a request. */
  readonly hasLines: boolean;
}

export const test = base.extend<SyncFixtures, { readonly hubProcess: HubProcess }>({
  hubProcess: [
    // oxlint-disable-next-line no-empty-pattern
    async ({}, use) => {
      const hub = await startHub();
      await use(hub);
      await hub.end();
    },
    { scope: 'worker' },
  ],
  hasLines: [false, { option: true }],
  hub: async ({ hubProcess, hasLines }, use) => {
    const hub = await openSyncHub(hubProcess);
    hub.proxy.passesLines = hasLines;
    await use(hub);
    await hub.close();
  },
  page: async ({ context }, use) => {
    const page = await context.newPage();
    await loadApp(page);
    await use(page);
  },
  other: async ({ browser }, use) => {
    const context = await browser.newContext();
    const page = await context.newPage();
    await loadApp(page);
    await use(page);
    await context.close();
  },
});

export const loginOf = ({ key }: SyncHub, email: string) => ({ email, password: PASSWORD, key });
