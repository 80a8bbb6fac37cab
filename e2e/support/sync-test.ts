/** Tests of sync. Each test has its own database on a shared hub, and two separate browser profiles. */
import type { Page } from '@playwright/test';
import { test as base } from './app-test.ts';
import { loadApp } from './browser-profile.ts';
import { openSyncHub, PASSWORD, startHub, type HubProcess, type SyncHub } from './sync-hub.ts';

export const ALICE = 'alice@example.org';
export const BOB = 'bob@example.org';

interface SyncFixtures {
  readonly hub: SyncHub;
  /** A page in its own browser profile. */
  readonly page: Page;
  /** A page in another browser profile. */
  readonly other: Page;
  /** Whether the proxy forwards WebSockets. Without them, all messages to the hub are requests. */
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
