/** T11, T12 in the browser: queries that grow without bound end with an error code, and their worker continues to answer. */
import { expect, test } from 'vitest';
import { BOMBS } from '../src/engine/testing/bomb-queries.ts';
import { LIMITS } from '../src/limits.ts';
import { openDatabase, q, type Database } from '../src/index.ts';

/** Queries that take seconds run only in Node. */
const SLOW = new Set(['a set of sets, read', 'replaced by more, with a pattern']);

const CODES = /^(limit_exceeded|bad request|invalid argument|stack overflow)$/;

/** Status and error code of the response. */
async function refusalOf(db: Database, body: string): Promise<readonly [number, string]> {
  const headers = {
    authorization: `Bearer ${db.rootSecret}`,
    'x-faunadb-api-version': '4',
    // None of the queries may end because of its duration.
    'x-query-timeout': '600000',
  };
  const answer = await db.fetch('/', { method: 'POST', body, headers });
  const { errors = [] } = (await answer.json()) as { errors?: readonly { code: string }[] };
  return [answer.status, errors[0]?.code ?? 'none'];
}

test('a worker still answers after queries that grow without bound', async () => {
  const workers: Worker[] = [];
  const db = await openDatabase('bombs', {
    durability: 'relaxed',
    worker: () => {
      const worker = new Worker(new URL('main.ts', import.meta.url), { type: 'module' });
      workers.push(worker);
      return worker;
    },
  });
  const client = db.client();
  await client.query(q.CreateCollection({ name: 'c' }));
  await client.query(q.Create(q.Collection('c'), { data: {} }));
  for (const [name, query] of Object.entries(BOMBS)) {
    if (SLOW.has(name)) continue;
    const [status, code] = await refusalOf(db, JSON.stringify(query));
    expect([status, code], name).toEqual([400, expect.stringMatching(CODES)]);
    expect(await client.query(q.Add(1, 1)), name).toBe(2);
  }
  expect(await client.query(q.Count(q.Documents(q.Collection('c'))))).toBe(1);
  expect(workers).toHaveLength(1);
  await db.destroy();
});

test('a worker still answers after texts that nest a million levels', async () => {
  const db = await openDatabase('deep', { durability: 'relaxed' });
  for (const open of ['[', '{"object":', '{"not":']) {
    const body = open.repeat(1_000_000).slice(0, 8_000_000);
    expect(await refusalOf(db, body)).toEqual([400, 'invalid expression']);
  }
  expect(await db.client().query(q.Add(1, 1))).toBe(2);
  await db.destroy();
});

test('a worker still answers after a query that asks for more documents than it may read', async () => {
  const db = await openDatabase('large', { durability: 'relaxed' });
  const client = db.client();
  await client.query(q.CreateCollection({ name: 'big' }));
  const part = q.Repeat('0123456789abcdef', 1024);
  const chars = 448 * 16 * 1024;
  const documents = Math.ceil(LIMITS.readBytes / chars) + 1;
  for (let n = 1; n <= documents; n += 1) {
    const text = q.Concat(Array.from({ length: 448 }, () => q.Var('part')));
    const data = { n, text };
    await client.query(q.Do(q.Let({ part }, q.Create(q.Ref(q.Collection('big'), n), { data })), n));
  }
  const all = q.Documents(q.Collection('big'));
  const numbers = (size: number) =>
    q.Map(q.Paginate(all, { size }), q.Lambda('x', q.Select(['data', 'n'], q.Get(q.Var('x')))));
  expect(await refusalOf(db, JSON.stringify(numbers(1000)))).toEqual([400, 'limit_exceeded']);
  expect(await client.query(q.Count(q.Select(['data'], q.Paginate(all))))).toBe(documents);
  expect(await client.query(q.Select(['data'], numbers(3)))).toEqual([1, 2, 3]);
  await db.destroy();
});
