import { expect, test } from 'vitest';
import { EngineWorld, coll, create, obj } from '../testing/engine-world.ts';

test('texts and lambdas made by a query contain the commit time of its writes', async () => {
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

test('sets stored by a query contain the commit time of its writes', async () => {
  const w = new EngineWorld();
  await w.ask({ create_collection: obj({ name: 'notes' }) });
  const terms = [{ field: ['data', 'at'] }].map(obj);
  await w.ask({ create_index: obj({ name: 'by_time', source: coll('notes'), terms }) });
  const [made, ts] = [{ var: 'made' }, { select: 'ts', from: { var: 'made' } }];
  const match = { match: { index: 'by_time' }, terms: [ts] };
  const sets = [
    match,
    { match: { index: 'by_time' }, terms: [[made]] },
    { range: { documents: coll('notes') }, from: [ts], to: [] },
    { events: { union: [match, { distinct: match }] } },
  ];
  const kept = (await w.ask({
    let: [{ made: create(coll('notes')) }],
    in: { select: ['data', 'sets'], from: create(coll('notes'), { sets }) },
  })) as unknown[];
  const time = await w.ask({ select: 'ts', from: { get: { documents: coll('notes') } } });
  expect(JSON.stringify(kept).split(String(time))).toHaveLength(6);
  const stored = { get: { reverse: { documents: coll('notes') } } };
  expect(await w.ask({ select: ['data', 'sets'], from: stored })).toEqual(kept);
});

test('searching sets for the commit time of a write gives the same result within the query as after it', async () => {
  const w = new EngineWorld();
  await w.ask({ create_collection: obj({ name: 'notes' }) });
  const [at, time] = [obj({ field: ['data', 'at'] }), obj({ field: ['ts'] })];
  const source = coll('notes');
  await w.ask({ create_index: obj({ name: 'by_at', source, terms: at }) });
  await w.ask({ create_index: obj({ name: 'at', source, values: at }) });
  await w.ask({ create_index: obj({ name: 'times', source, values: time }) });
  const both = [at, obj({ field: ['data', 'n'] })];
  await w.ask({ create_index: obj({ name: 'both', source, values: both }) });
  await w.ask(create(coll('notes'), { at: 1 }));
  const found = (ts: unknown) => [
    { count: { match: 'by_at', terms: ts } },
    { contains_value: ts, in: { match: 'at' } },
    { contains_value: [ts, 7], in: { match: 'both' } },
    { count: { range: { match: 'at' }, from: ts, to: [] } },
    { count: { range: { match: 'at' }, from: [], to: ts } },
    { select: ['data', 0], from: { count: { paginate: { match: 'times' }, after: ts } } },
    { select: ['data', 0], from: { count: { paginate: { match: 'times' }, before: ts } } },
  ];
  const ts = { select: 'ts', from: { var: 'made' } };
  const [time1, stored, inQuery] = (await w.ask({
    let: [{ made: create(coll('notes')) }, { other: create(coll('notes'), { at: ts, n: 7 }) }],
    in: [ts, { select: ['data', 'at'], from: { var: 'other' } }, found(ts)],
  })) as [number, number, unknown];
  expect(stored).toBe(time1);
  expect(inQuery).toEqual([1, true, true, 1, 2, 2, 1]);
  expect(await w.ask(found(time1))).toEqual(inQuery);
});
