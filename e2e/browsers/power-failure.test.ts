import { describe, expect } from 'vitest';
import { engines } from './support/browser-test.ts';
import { diskWithoutCache, whyNoDisk } from './support/disk-without-cache.ts';
import { openNotes, verify } from './support/notes.ts';
import { readQueries, startWriting } from './support/writes.ts';

const PLANS = [
  { size: 1, atOnce: 1, queries: 15 },
  { size: 200, atOnce: 2, queries: 8 },
];

describe.for(engines)('%s', ([, test]) => {
  test('a power failure loses no acknowledged write of a strict database (L4, F2)', async ({
    browser,
    skip,
  }) => {
    const reason = whyNoDisk();
    skip(reason !== undefined, reason);
    const { env, failPower } = await diskWithoutCache(browser);
    const expected: number[] = [];
    for (const [round, plan] of PLANS.entries()) {
      let tab = await browser.start({ env });
      await openNotes(tab, 'strict');
      await startWriting(tab, plan, 1 + round * 1000);
      await tab.untilTold(plan.queries);
      await failPower();
      expected.push(...tab.told.map(Number));

      tab = await browser.start({ env });
      expect((await openNotes(tab, 'strict')).loss).toBeNull();
      expect(await verify(tab)).toEqual([]);
      const found = await readQueries(tab);
      expect(expected.filter((query) => !found.has(query))).toEqual([]);
      await browser.close();
    }
  });
});
