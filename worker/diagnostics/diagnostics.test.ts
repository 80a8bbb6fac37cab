import { expect, test } from 'vitest';
import { openDatabase } from '../../in-process/testing.ts';
import { askWorker, OWN } from '../../inspector/ask.ts';
import { DIAGNOSTICS_PATH } from '../../src/host/diagnostics.ts';
import { q, type Database } from '../../src/index.ts';

async function withNotes(options: Parameters<typeof openDatabase>[1] = {}): Promise<Database> {
  const db = await openDatabase('notes', options);
  const admin = db.client();
  await admin.query(q.CreateCollection({ name: 'notes' }));
  await admin.query(
    q.CreateIndex({
      name: 'notes_by_tag',
      source: q.Collection('notes'),
      terms: [{ field: ['data', 'tag'] }],
    }),
  );
  for (const tag of ['a', 'b', 'b'])
    await admin.query(q.Create(q.Collection('notes'), { data: { tag } }));
  return db;
}

const ofTag = (tag: string) =>
  q.Map(q.Paginate(q.Match(q.Index('notes_by_tag'), tag)), (ref) => q.Get(ref));

test('the worker reports reads and costs of queries from the first diagnostics request on', async () => {
  const db = await withNotes();
  const admin = db.client();
  expect(await askWorker(db, {})).toMatchObject({ isLogged: false, queries: [] });
  await admin.query(ofTag('b'));
  await admin.query(q.Do(1, q.Abort('no'))).catch(() => undefined);
  await admin.query(q.Add(1, 2), OWN);
  const { queries, last } = await askWorker(db, {});
  expect(queries).toMatchObject([
    {
      status: 200,
      actor: 'root',
      metrics: { readOps: 3 },
      reads: {
        collections: [{ name: 'notes', count: 2 }],
        indexes: [{ name: 'notes_by_tag', count: 1 }],
        entries: 2,
      },
    },
    { status: 400, errorCode: 'transaction aborted', errorPosition: ['do', 1] },
  ]);
  expect((await askWorker(db, { after: last })).queries).toEqual([]);
  await askWorker(db, { watch: false });
  await admin.query(q.Add(1, 2));
  expect((await askWorker(db, {})).queries).toEqual([]);
  await db.close();
});

test('with a query log, the worker also reports queries from before the first diagnostics request', async () => {
  const db = await withNotes({ log: { enabled: true } });
  await db.client().query(ofTag('a'));
  const { queries, isLogged } = await askWorker(db, {});
  expect(isLogged).toBe(true);
  expect(queries).toHaveLength(6);
  expect(queries.at(-1)).toMatchObject({ status: 200, metrics: { readOps: 2 } });
  expect(queries.at(-1)?.reads).toBeUndefined();
  expect((await askWorker(db, {})).queries, 'read once').toHaveLength(6);
  await db.close();
});

test('the worker reports how often live queries ran, and how often they emitted another answer', async () => {
  const db = await withNotes();
  const admin = db.client();
  let emit: (answers: number) => void = () => undefined;
  let answers = 0;
  const answered = (count: number): Promise<void> =>
    new Promise((resolve) => {
      emit = (now) => {
        if (now >= count) resolve();
      };
      emit(answers);
    });
  admin.subscribe(ofTag('a'), { next: () => emit(++answers) });
  await answered(1);
  await admin.query(q.Create(q.Collection('notes'), { data: { tag: 'a' } }));
  await answered(2);
  const { live } = await askWorker(db, {});
  expect(live).toMatchObject([
    { actor: 'root', told: 2, reads: { indexes: [{ name: 'notes_by_tag', count: 1 }] } },
  ]);
  expect(live[0]?.runs).toBeGreaterThanOrEqual(2);
  expect(JSON.stringify(live)).not.toContain(db.rootSecret);
  await db.close();
});

test('diagnostics are refused for every secret but the root secret', async () => {
  const db = await withNotes();
  const { secret } = await db.client().query(q.CreateKey({ role: 'admin' }));
  for (const headers of [{}, { authorization: `Bearer ${secret}` }]) {
    const answer = await db.fetch(DIAGNOSTICS_PATH, { method: 'POST', headers, body: '{}' });
    expect(answer.status).toBe(403);
    expect(await answer.text()).toContain('Only the root secret');
  }
  await db.close();
});
