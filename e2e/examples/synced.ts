/** Examples that sync with a hub: a user with two devices, one of which is offline for a while. */
import { cp, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, type Browser, type Page } from '@playwright/test';
import { call, openAdmin, ROOT_SECRET, startHub } from '../support/sync-hub.ts';
import { root, run } from './run.ts';
import { add, todo } from './todos.ts';

interface TodoHub {
  readonly url: string;
  /** Environment variables for the build of the app, as set-up.mjs prints them. */
  readonly env: Readonly<Record<string, string>>;
}

const EMAIL = 'ada@example.org';
const PASSWORD = 'correct horse battery';

/** Whether the example can use a hub, by its README. */
export const canSync = async (folder: string): Promise<boolean> =>
  (await readFile(join(folder, 'README.md'), 'utf8')).includes('../hub/');

/** Starts a hub and sets it up as examples/hub describes. */
export async function withHub(folder: string, use: (hub: TodoHub) => Promise<void>): Promise<void> {
  const hub = await startHub();
  try {
    await cp(join(root, 'examples/hub/set-up.mjs'), join(folder, 'set-up.mjs'));
    const program = ['set-up.mjs', hub.url, ROOT_SECRET, EMAIL, PASSWORD];
    const printed = await run('node', program, { cwd: folder });
    const env = Object.fromEntries(
      [...printed.matchAll(/(VITE_\w+)=(\S+)/gu)].map(([, name = '', value = '']) => [name, value]),
    );
    await use({ url: hub.url, env });
  } finally {
    await hub.end();
  }
}

export async function keepsInStep(browser: Browser, url: string, hub: TodoHub): Promise<void> {
  const [one, other] = [await browser.newPage(), await browser.newPage()];
  try {
    await one.goto(url);
    await logIn(one, 'not her password');
    await expect(one.getByRole('alert')).toHaveText(/authentication/u);
    for (const page of [one, other]) {
      await page.goto(url);
      await logIn(page, PASSWORD);
    }
    await add(one, 'Feed the heron');
    await expect(todo(other, 'Feed the heron')).toHaveCount(1);
    // Waits for the verdict too: otherwise two writes would be waiting.
    await expect(one.getByRole('status')).toHaveText('live');

    await one.context().setOffline(true);
    await add(one, 'Count the wrens');
    await expect(one.getByRole('status')).toHaveText(/1 to send/u);
    await one.context().setOffline(false);
    await expect(todo(other, 'Count the wrens')).toHaveCount(1);
    await expect(one.getByRole('status')).toHaveText('live');

    await todo(other, 'Count the wrens').getByRole('checkbox').click();
    await expect(todo(one, 'Count the wrens').getByRole('checkbox')).toBeChecked();
    await todo(one, 'Feed the heron').getByRole('button', { name: 'Delete' }).click();
    await expect(todo(other, 'Feed the heron')).toHaveCount(0);

    await add(other, 'Mend the fence');
    await expect(todo(one, 'Mend the fence')).toHaveCount(1);
    await one.context().setOffline(true);
    await add(one, 'Paint the barn');
    await todo(one, 'Count the wrens').getByRole('checkbox').click();
    await todo(one, 'Mend the fence').getByRole('button', { name: 'Delete' }).click();
    await expect(todo(one, 'Mend the fence')).toHaveCount(0);
    await expect(one.getByRole('status')).toHaveText(/3 to send/u);
    await forbidToWrite(hub);
    await one.context().setOffline(false);
    await saysRefused(one, 'Add “Paint the barn”');
    await expect(todo(one, 'Paint the barn')).toHaveCount(0);
    await saysRefused(one, 'Tick off “Count the wrens”');
    await expect(todo(one, 'Count the wrens').getByRole('checkbox')).toBeChecked();
    await saysRefused(one, 'Delete “Mend the fence”');
    await expect(todo(one, 'Mend the fence')).toHaveCount(1);

    await one.getByRole('button', { name: 'Log out' }).click();
    await expect(one.locator('input[name=password]')).toHaveCount(1);
  } finally {
    for (const page of [one, other]) await page.close();
  }
}

async function logIn(page: Page, password: string): Promise<void> {
  await page.locator('input[name=email]').fill(EMAIL);
  await page.locator('input[name=password]').fill(password);
  await page.getByRole('button', { name: 'Log in' }).click();
}

/** Expects a message about the refused write with the text that the user entered, until the user dismisses it. */
async function saysRefused(page: Page, what: string): Promise<void> {
  const refused = page.getByText(`${what} was refused`);
  await expect(refused).toHaveCount(1);
  await refused.getByRole('button', { name: 'OK' }).click();
  await expect(refused).toHaveCount(0);
}

async function forbidToWrite({ url }: TodoHub): Promise<void> {
  const admin = openAdmin(url);
  const privileges = [{ resource: call('Collection', 'todos'), actions: { read: true } }];
  await admin.query(call('Update', call('Role', 'people'), { privileges }));
  await admin.close({ force: true });
}
