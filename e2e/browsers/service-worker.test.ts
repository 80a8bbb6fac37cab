import { describe, expect } from 'vitest';
import { engines } from './support/browser-test.ts';
import type { Tab } from './support/tab.ts';

const SETTINGS = 'prefix=/burrow/&database=served&precache=1';

/** Registers the service worker and resolves when it controls the page. */
const register = (tab: Tab, settings: string): Promise<void> =>
  tab.run(async (settings) => {
    const { serviceWorker } = navigator;
    const { href } = new URL(`/service-worker.js?${settings}`, location.href);
    await serviceWorker.register(href);
    await new Promise<void>((resolve) => {
      const look = (): void => {
        if (serviceWorker.controller?.scriptURL === href) resolve();
      };
      serviceWorker.addEventListener('controllerchange', look);
      look();
    });
  }, settings);

const open = (tab: Tab): Promise<void> =>
  tab.run(async () => {
    globalThis.db = await burrow.openDatabase('served');
  });

/** Sends a query with plain `fetch` to a path of the origin. */
const ask = (tab: Tab, query: string, prefix = '/burrow/') =>
  tab.run(
    async ({ prefix, body }) => {
      const answer = await fetch(prefix, {
        method: 'POST',
        headers: { authorization: `Bearer ${db.rootSecret}`, 'x-faunadb-api-version': '4' },
        body,
      });
      return { status: answer.status, body: (await answer.json()) as unknown };
    },
    { prefix, body: query },
  );

describe.for(engines)('%s', ([, test]) => {
  test('the service worker answers a path from the open database, in two tabs, after a reload, and without a server', async ({
    browser,
  }) => {
    const tab = await browser.start();
    await open(tab);
    await register(tab, SETTINGS);
    expect(await ask(tab, '{"add":[1,2]}')).toEqual({ status: 200, body: { resource: 3 } });
    await ask(tab, '{"create_collection":{"object":{"name":"notes"}}}');
    const exists = '{"exists":{"collection":"notes"}}';

    const second = await browser.openTab(tab);
    await open(second);
    expect(await ask(second, exists)).toEqual({ status: 200, body: { resource: true } });

    browser.goOffline();
    await tab.reload();
    await open(tab);
    expect(await ask(tab, exists)).toEqual({ status: 200, body: { resource: true } });
    expect(await tab.run(() => fetch('/not-kept').then(String, () => 'no network'))).toBe(
      'no network',
    );
  });

  test("an app's service worker that imports the package's passes on its options and decides when an update takes over", async ({
    browser,
  }) => {
    const tab = await browser.start();
    await tab.run(async () => {
      await navigator.serviceWorker.register('/importing.js?prefix=/api/&database=served');
      await navigator.serviceWorker.ready;
    });
    await tab.reload();
    await open(tab);
    expect(await ask(tab, '{"add":[1,2]}', '/api/')).toEqual({
      status: 200,
      body: { resource: 3 },
    });
    const scripts = await tab.run(async () => {
      const registration = await navigator.serviceWorker.register('/importing.js?prefix=/api/');
      const newer = registration.installing ?? registration.waiting;
      await new Promise<void>((resolve) => {
        const look = (): void => {
          if (newer?.state !== 'installing') resolve();
        };
        newer?.addEventListener('statechange', look);
        look();
      });
      const { active, waiting } = registration;
      return [active, waiting].map((each) => each && new URL(each.scriptURL).search);
    });
    expect(scripts).toEqual(['?prefix=/api/&database=served', '?prefix=/api/']);
  });
});
