import { expect } from '@playwright/test';
import { print, test } from './support/app-test.ts';

test('the package opens a database in an app', async ({ profile }) => {
  const page = await profile.openTab();
  const result = await page.evaluate(async () => {
    const { openDatabase, q } = globalThis.burrow;
    const db = await openDatabase('smoke');
    return db.client().query(q.Add(1, 2));
  });
  expect(result).toBe(3);
  print('smoke', { result });
});
