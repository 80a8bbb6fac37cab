import { expect, test } from 'vitest';
import { EngineWorld, coll, create, obj } from '../testing/engine-world.ts';

test('the time of what a query writes is written in texts and lambdas as it will be', async () => {
  const w = new EngineWorld();
  await w.ask({ create_collection: obj({ name: 'notes' }) });
  const ts = { select: 'ts', from: { var: 'made' } };
  const body = { query: { lambda: '_', expr: ts } };
  const made = (await w.ask({
    let: [
      { made: create(coll('notes')) },
      { call: { create_function: obj({ name: 'when', body }) } },
    ],
    in: [ts, { format: '%^ %@', values: [ts, ts] }, { format: '%^', values: { var: 'made' } }],
  })) as [number, string, string];
  const [time, text, shown] = made;
  expect(text).toBe(`${time} ${time}`);
  expect(shown).toContain(`"ts":${time}`);
  expect(await w.ask({ call: 'when' })).toBe(time);
});
