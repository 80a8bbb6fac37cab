/** Runs the README's code about sync unchanged, with a page and a hub. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from '@playwright/test';
import { call, notes, PASSWORD } from './support/sync-hub.ts';
import { ALICE, test } from './support/sync-test.ts';

const readme = readFileSync(join(import.meta.dirname, '../README.md'), 'utf8');
const [, code = ''] =
  [...readme.matchAll(/```ts\n([\s\S]*?)```/g)].find(([, text = '']) => text.includes('.sync({')) ??
  [];

test('the sync examples of the README work when pasted', async ({ page, hub }) => {
  await hub.admin.query(call('Create', notes(), { data: { text: 'a heron' } }));
  const names = { hub: hub.url, email: ALICE, password: PASSWORD, key: hub.key };
  const said = await page.evaluate(
    async ({ code, names }) => {
      const told: unknown[][] = [];
      Object.assign(globalThis, { told });
      const console = { log: (...what: unknown[]) => told.push(what) };
      const given = { ...burrow, ...names, console };
      // oxlint-disable-next-line typescript/no-implied-eval -- the README is ours
      const body = new Function(...Object.keys(given), `return (async () => {${code}})()`) as (
        ...values: unknown[]
      ) => Promise<void>;
      await body(...Object.values(given));
      return [...told];
    },
    { code, names },
  );
  expect(said).toContainEqual(['a wren']);
  expect(said).toContainEqual(['confirmed']);
  const here = () =>
    page.evaluate(() =>
      (globalThis as unknown as { told: unknown[][] }).told.findLast(([, what]) => what === 'here'),
    );
  await expect.poll(here).toEqual([2, 'here']);
});
