import { describe, expect } from 'vitest';
import { browsers, print } from './support/browser-test.ts';

describe.for(browsers)('%s', ([, test]) => {
  test('a page does what it is told, over reloads, two tabs and a kill', async ({ browser }) => {
    const tab = await browser.start();
    const value = await tab.run(async (text) => {
      globalThis.db = await burrow.openDatabase('driven');
      const { q } = burrow;
      await db.client().query(q.CreateCollection({ name: 'notes' }));
      await db.client().query(q.Create(q.Ref(q.Collection('notes'), '1'), { data: { text } }));
      return db
        .client()
        .query(q.Select(['data', 'text'], q.Get(q.Ref(q.Collection('notes'), '1'))));
    }, 'a heron');
    expect(value).toBe('a heron');
    expect(await tab.reload()).toBe('load');
    const read = async () => {
      const { q } = burrow;
      globalThis.db = await burrow.openDatabase('driven');
      return db
        .client()
        .query(q.Select(['data', 'text'], q.Get(q.Ref(q.Collection('notes'), '1'))));
    };
    expect(await tab.run(read)).toBe('a heron');
    const second = await browser.openTab(tab);
    expect(await second.run(read)).toBe('a heron');
    await expect(second.run(() => db.client().query(burrow.q.Abort('no')))).rejects.toThrow(/no/);
    await browser.kill();
    const after = await browser.start();
    expect(await after.run(read)).toBe('a heron');
    print(browser, 'driven', { userAgent: await after.run(() => navigator.userAgent) });
  });

  test('a page that is left is there again when its user goes back', async ({ browser }) => {
    const tab = await browser.start();
    await tab.run(async () => {
      globalThis.db = await burrow.openDatabase('left');
      await db.client().query(burrow.q.CreateCollection({ name: 'notes' }));
    });
    expect(await tab.leave('next')).toBe('load');
    expect(await tab.run(() => location.search)).toMatch(/page=next/);
    const arrival = await tab.back();
    print(browser, 'a page left and shown again', { arrival });
    expect(await tab.run(() => location.search)).not.toMatch(/page=next/);
  });
});
