/** Each folder of `examples/` is a to-do list to start from. It must work unchanged, with the packed package. */
import { existsSync, readdirSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test, type Page } from '@playwright/test';
import { freePort } from '../../scripts/free-port.mjs';
import { install, NoRegistry } from './install.ts';
import { root, run, start, type Running } from './run.ts';
import { canSync, keepsInStep, withHub } from './synced.ts';
import { add, todo } from './todos.ts';

const names = readdirSync(join(root, 'examples')).filter((name) =>
  existsSync(join(root, 'examples', name, 'package.json')),
);

for (const name of names) {
  test(`a to-do list is kept and, with a hub, synced by the example ${name}`, async ({
    page,
    browser,
  }) => {
    const folder = await install(name).catch((error: unknown) => {
      if (error instanceof NoRegistry) return undefined;
      throw error;
    });
    test.skip(folder === undefined, 'npm cannot reach its registry');
    if (folder === undefined) return;
    try {
      await served(folder, {}, (url, server) =>
        keepsTodos(page, server, url, name.startsWith('pwa-')),
      );
      if (!(await canSync(folder))) return;
      await withHub(folder, async (hub) => {
        await served(folder, hub.env, (url) => keepsInStep(browser, url, hub));
      });
    } finally {
      await rm(folder, { recursive: true });
    }
  });
}

/** Builds the example with these settings and serves it. */
async function served(
  folder: string,
  env: Readonly<Record<string, string>>,
  use: (url: string, server: Running) => Promise<void>,
): Promise<void> {
  await test.step('build', () => run('npm', ['run', 'build'], { cwd: folder, env }));
  const port = await freePort();
  const url = `http://localhost:${port}/`;
  const server = start('npm', ['run', 'serve'], { cwd: folder, env: { PORT: String(port) } });
  try {
    await answers(server, url);
    await use(url, server);
  } finally {
    await server.stop();
  }
}

async function answers(server: Running, url: string): Promise<void> {
  let printed: string | undefined;
  void server.ended.then((all) => (printed = all));
  await expect
    .poll(async () => {
      if (printed !== undefined) throw new Error(`npm run serve has ended: ${printed}`);
      return fetch(url).then(
        ({ status }) => status,
        () => 'not yet',
      );
    })
    .toBe(200);
}

async function keepsTodos(page: Page, server: Running, url: string, isPwa: boolean): Promise<void> {
  const complaints = complaintsOf(page);
  await useIt(page, server, url, isPwa).catch((cause: unknown) => {
    throw new Error(['The page said:', ...complaints, String(cause)].join('\n'), { cause });
  });
  expect(complaints).toEqual([]);
}

async function useIt(page: Page, server: Running, url: string, isPwa: boolean): Promise<void> {
  await page.goto(url);
  await add(page, 'Feed the heron');
  await page.reload();
  await expect(todo(page, 'Feed the heron')).toHaveCount(1);

  if (isPwa) await expect.poll(() => page.evaluate(hasServiceWorker)).toBe(true);
  const isServedOffline = await page.evaluate(hasServiceWorker);
  if (isServedOffline) await page.evaluate(async () => void (await navigator.serviceWorker.ready));
  await page.context().setOffline(true);
  if (isServedOffline) await server.stop();
  await add(page, 'Count the wrens');
  if (!isServedOffline) await page.context().setOffline(false);
  await page.reload();
  for (const title of ['Feed the heron', 'Count the wrens'])
    await expect(todo(page, title)).toHaveCount(1);
}

const hasServiceWorker = async (): Promise<boolean> =>
  (await navigator.serviceWorker.getRegistration()) !== undefined;

/** Collects errors that a developer would see in the browser's console. */
function complaintsOf(page: Page): string[] {
  const complaints: string[] = [];
  page.on('pageerror', (error) => complaints.push(String(error)));
  page.on('console', (message) => {
    if (message.type() === 'error') complaints.push(message.text());
  });
  page.on('response', (response) => {
    if (response.status() >= 400) complaints.push(`${response.status()} ${response.url()}`);
  });
  return complaints;
}
