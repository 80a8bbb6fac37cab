/** Long queries beside short ones: they run in a second worker. */
import { expect, test } from 'vitest';
import { openDatabase, q, type Database, type DatabaseOptions, type Expr } from '../src/index.ts';
import { longText, repeated } from '../src/engine/testing/large-values.ts';
import { wireOf } from './testing/wire-query.ts';

let databases = 0;
async function open(options: DatabaseOptions = {}): Promise<Database> {
  const name = `long-${Date.now()}-${++databases}`;
  const db = await openDatabase(name, { durability: 'relaxed', ...options });
  await db.client().query(q.CreateCollection({ name: 'notes' }));
  return db;
}

const notes = q.Collection('notes');
const search = (times: number) =>
  repeated(times, { containsstr: { var: 's' }, search: 'aaaaaaaaab' });
/** A query that counts, and takes a second or more. */
const TIMES = 120;
const long = (times = TIMES): Expr<number> =>
  wireOf({ let: { s: longText(21) }, in: search(times) });

const count = (db: Database): Promise<number> => db.client().query(q.Count(q.Documents(notes)));

test('a long query is answered, and short queries do not wait for it', async () => {
  const db = await open();
  const order: string[] = [];
  const answer = db
    .client()
    .query(long())
    .then((value) => (order.push('long'), value));
  for (let i = 0; i < 5; i++) await db.client().query(q.Create(notes, { data: { i } }));
  order.push('short');
  expect(await answer).toBe(TIMES);
  expect(order).toEqual(['short', 'long']);
  // The next long query sees what was written in the meantime.
  expect(await db.client().query([long(), q.Count(q.Documents(notes))])).toEqual([TIMES, 5]);
  await db.destroy();
});

test('a caller with many queries of some milliseconds does not delay other callers', async () => {
  const db = await open();
  const { secret } = await db.client().query(q.CreateKey({ role: 'admin' }));
  const flooding = db.client({ secret });
  const short = wireOf<number>({ let: { s: longText(15) }, in: search(40) });
  await flooding.query(short);
  const QUERIES = 100;
  const order: string[] = [];
  // They take a few milliseconds each: none exceeds its time slice.
  const flood = Array.from({ length: QUERIES }, () =>
    flooding.query(short).then((found) => (order.push('flood'), found)),
  );
  const other = count(db).then(() => order.push('other'));
  expect(await Promise.all(flood)).toEqual(flood.map(() => 40));
  await other;
  expect(order.indexOf('other')).toBeLessThan(QUERIES / 2);
  await db.destroy();
});

test.each(['rows', 'packed'] as const)(
  'a long write is committed once, and later queries see it, in this tab and in another one, in the layout `%s`',
  async (store) => {
    const db = await open({ store });
    const other = await openDatabase(db.name, { durability: 'relaxed', store });
    const received: number[] = [];
    db.client().subscribe(q.Count(q.Documents(notes)), { next: (n) => void received.push(n) });
    await expect.poll(() => received).toEqual([0]);
    const write = db.client().query(q.Do(long(), q.Create(notes, { data: { by: 'long' } }), 1));
    await db.client().query(q.Create(notes, { data: { by: 'short' } }));
    expect(await count(db)).toBe(1);
    await write;
    expect(await count(db)).toBe(2);
    expect(await count(other)).toBe(2);
    await expect.poll(() => received.at(-1)).toBe(2);
    await other.close();
    for (let i = 0; i < 3; i++) await db.client().query(q.Create(notes, { data: { i } }));
    expect(await count(db)).toBe(5);
    expect(await db.verify()).toEqual([]);
    await db.destroy();
  },
);

test('a long live query follows commits', async () => {
  const db = await open();
  const received: unknown[] = [];
  db.client().subscribe([long(), q.Count(q.Documents(notes))], { next: (n) => received.push(n) });
  await expect.poll(() => received, { timeout: 60_000 }).toEqual([[TIMES, 0]]);
  await db.client().query(q.Create(notes, { data: {} }));
  await expect.poll(() => received.at(-1), { timeout: 60_000 }).toEqual([TIMES, 1]);
  await db.destroy();
});

test('a long query is stopped by its signal, whether it runs or waits', async () => {
  const db = await open();
  const [running, waiting] = [new AbortController(), new AbortController()];
  const first = db.client().query(long(), { signal: running.signal });
  const second = db.client().query(long(), { signal: waiting.signal });
  const third = db.client().query(long(30));
  const writing = new AbortController();
  const write = db.client().query(q.Do(long(), q.Create(notes, { data: {} })), {
    signal: writing.signal,
  });
  // By now, all of them have exceeded their time slice here.
  await count(db);
  waiting.abort();
  await expect(second).rejects.toBe(waiting.signal.reason);
  running.abort();
  await expect(first).rejects.toBe(running.signal.reason);
  expect(await third).toBe(30);
  writing.abort();
  await expect(write).rejects.toBe(writing.signal.reason);
  expect(await count(db)).toBe(0);
  await expect(db.client().query(long(), { timeoutMs: 300 })).rejects.toMatchObject({
    code: 'time out',
  });
  await db.destroy();
});

test('a long query ends with the session, and with the database', async () => {
  const db = await open();
  const { secret } = await db.client().query(q.CreateKey({ role: 'admin' }));
  const query = db.client().query(long());
  await count(db);
  await db.signOut();
  await expect(query).rejects.toMatchObject({ code: 'locked' });
  await db.unlock({ secret });
  expect(await db.client().query(long(30))).toBe(30);
  const last = db.client().query(long());
  const closed = last.catch((error: { readonly code: string }) => error.code);
  await count(db);
  await db.destroy();
  // The running query may finish first.
  expect([TIMES, 'database_closed', 'storage_unavailable']).toContain(await closed);
});

test('long queries do not delay destroy()', async () => {
  const db = await open();
  const answers = Array.from({ length: 60 }, () =>
    db
      .client()
      .query(long(), { timeoutMs: 600_000 })
      .catch((error: { readonly code: string }) => error.code),
  );
  await count(db);
  await db.destroy();
  const ended = (await Promise.all(answers)).filter((answer) => answer === 'storage_unavailable');
  expect(ended.length).toBeGreaterThan(50);
});
