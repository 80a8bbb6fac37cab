import { describe, expect } from 'vitest';
import { engines, print } from './support/browser-test.ts';
import { loops } from './support/loops.ts';
import { openNotes, verify } from './support/notes.ts';
import { readQueries, startWriting, type Writes } from './support/writes.ts';

interface Plan extends Writes {
  readonly kind: string;
  readonly durability: 'strict' | 'relaxed';
  readonly kills: number;
}

const PLANS: readonly Plan[] = [
  { kind: 'single writes', size: 1, atOnce: 1, durability: 'strict', kills: loops(4) },
  {
    kind: 'several single writes at once',
    size: 1,
    atOnce: 6,
    durability: 'relaxed',
    kills: loops(3),
  },
  { kind: 'batches of 200', size: 200, atOnce: 2, durability: 'strict', kills: loops(3) },
];

describe.for(engines)('%s', ([, test]) => {
  for (const plan of PLANS) {
    test(`SIGKILL of the browser during ${plan.kind} (${plan.durability}) loses no acknowledged write, and no query is half done (L4, L5, F1)`, async ({
      browser,
    }) => {
      let tab = await browser.start();
      await openNotes(tab, 'killed', plan.durability);
      let expected: readonly number[] = [];
      const figures = { kills: 0, acknowledged: 0, inFlightKept: 0, losses: [] as string[] };
      for (let round = 0; round < plan.kills; round++) {
        await startWriting(tab, plan, 1 + round * 10_000);
        // The kills are spread over the stream of writes: each waits for another number of acknowledged queries.
        await tab.untilTold(4 + (round % 10) * 4);
        await browser.kill();
        const acknowledged = tab.told.map(Number);
        figures.kills++;
        figures.acknowledged += acknowledged.length;

        tab = await browser.start();
        const { loss } = await openNotes(tab, 'killed', plan.durability);
        const found = await readQueries(tab);
        expect(await verify(tab)).toEqual([]);
        for (const [query, count] of found) expect(count, `query ${query}`).toBe(plan.size);
        const known = new Set([...expected, ...acknowledged]);
        const missing = [...known].filter((query) => !found.has(query));
        if (loss !== null) {
          figures.losses.push(`${loss}: ${missing.length} missing`);
          await tab.run(() => db.acknowledgeLoss());
        }
        expect(loss === null ? missing : [], 'acknowledged and not there').toEqual([]);
        const inFlight = [...found.keys()].filter((query) => !known.has(query));
        expect(inFlight.length, 'there though not acknowledged').toBeLessThanOrEqual(plan.atOnce);
        figures.inFlightKept += inFlight.length;
        expected = [...found.keys()];
      }
      print(browser, `SIGKILL amid ${plan.kind}`, figures);
      expect(figures.losses.length, 'losses, though told').toBeLessThan(plan.kills);
    });
  }
});
