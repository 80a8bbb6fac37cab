/** A copy contains only the present: queries that need history fail there, and never get an answer as if there had been nothing. */
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import {
  HistoryNotLocal,
  q,
  type Database,
  type Expr,
  type FaunaTime,
  type Sync,
} from '../src/index.ts';
import { openDatabase, openHub, type TestHub } from './testing.ts';

const notes = q.Collection<{ color: string }>('notes');
const all = q.Documents(notes);
const red = q.Match(q.Index('notes_by_color'), 'red');
const note = q.Ref(notes, '1');

let hub: TestHub;
let db: Database;
let sync: Sync;
/** A time at which there was one red note. It is blue now. */
let past: Expr<FaunaTime>;

beforeEach(async () => {
  hub = await openHub();
  const admin = hub.client();
  await admin.query(q.CreateCollection({ name: 'notes' }));
  await admin.query(
    q.CreateIndex({ name: 'notes_by_color', source: notes, terms: [{ field: ['data', 'color'] }] }),
  );
  await admin.query(q.Create(note, { data: { color: 'red' } }));
  past = await admin.query(q.Epoch(q.Select('ts', q.Get(note)), 'microseconds'));
  await admin.query(q.Update(note, { data: { color: 'blue' } }));
  const { secret } = await admin.query(q.CreateKey({ role: 'admin' }));
  db = await openDatabase('notes');
  sync = await db.sync({ url: hub.url, secret, sets: [all] });
  await sync.whenSynced();
});
afterEach(async () => {
  await db.close();
  await hub.close();
});

const questions: Readonly<Record<string, () => Expr>> = {
  'At, of a document': () => q.At(past, q.Get(note)),
  'At, of a collection': () => q.At(past, q.Count(all)),
  'At, of an index': () => q.At(past, q.Count(red)),
  'a page at a time': () => q.Paginate(all, { ts: past }),
  'Get at a time': () => q.Get(note, past),
  'Exists at a time': () => q.Exists(note, past),
  'Events of a collection': () => q.Paginate(q.Events(all)),
  'Events of an index': () => q.Paginate(q.Events(red)),
  'Events of a document': () => q.Paginate(q.Events(note)),
};

describe.each(Object.keys(questions))('%s', (name) => {
  const question = (): Expr => questions[name]?.() ?? q.Abort(name);

  test('fails on the copy', async () => {
    const asked = sync.client.query(question());
    await expect(asked).rejects.toBeInstanceOf(HistoryNotLocal);
    await expect(asked).rejects.toMatchObject({ code: 'history_not_local' });
    const complete = sync.client.query(question(), { at: 'complete' });
    await expect(complete).rejects.toMatchObject({ code: 'history_not_local' });
    expect(await sync.client.query(q.Count(all))).toBe(1);
  });

  test('is answered by the hub', async () => {
    const atHub = await sync.client.query(question(), { at: 'hub' });
    expect(atHub).toEqual(await hub.client().query(question()));
  });
});

test('a write that reads the past is not stored', async () => {
  const { client, writes } = sync;
  const write = q.Create(notes, {
    data: { color: q.Select(['data', 'color'], q.Get(note, past)) },
  });
  await expect(client.submit(write)).rejects.toMatchObject({ code: 'history_not_local' });
  expect(await writes.list()).toEqual([]);
});

test('a time at or after the last change needs no history', async () => {
  const { client } = sync;
  expect(await client.query(q.At(q.Now(), q.Count(all)))).toBe(1);
  expect(await client.query(q.At(q.TimeAdd(q.Now(), 1, 'hour'), q.Count(all)))).toBe(1);
  // The note has not changed since that time, so no history is needed.
  const since = await client.query(q.Epoch(q.Select('ts', q.Get(note)), 'microseconds'));
  expect(await client.query(q.Select(['data', 'color'], q.Get(note, since)))).toBe('blue');
});

test('a document can be created, changed and deleted without its history', async () => {
  const { client } = sync;
  const { settled } = await client.submit(
    q.Do(
      q.Create(q.Ref(notes, '2'), { data: { color: 'red' } }),
      q.Update(q.Ref(notes, '2'), { data: { color: 'blue' } }),
      q.Replace(q.Ref(notes, '2'), { data: { color: 'red' } }),
      q.Delete(q.Ref(notes, '2')),
      q.Create(q.Ref(notes, '2'), { data: { color: 'green' } }),
    ),
  );
  expect(await settled).toMatchObject({ state: 'confirmed' });
});
