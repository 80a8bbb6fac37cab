import { expect, test } from 'vitest';
import { openDatabase, q, type Database } from '../src/index.ts';

interface Frame {
  readonly type: string;
  readonly event: { readonly action: string; readonly document: { readonly data?: unknown } };
}

async function openStream(db: Database, query: unknown) {
  const headers = { authorization: `Bearer ${db.rootSecret}`, 'x-faunadb-api-version': '4' };
  const body = JSON.stringify(query);
  const answer = await db.fetch('http://local/stream?fields=action,document', {
    method: 'POST',
    headers,
    body,
  });
  const reader = answer.body!.pipeThrough(new TextDecoderStream()).getReader();
  return {
    next: async () => JSON.parse((await reader.read()).value ?? 'null') as Frame,
    end: () => reader.cancel(),
  };
}

test('a stream in one tab delivers commits of another tab, including 400 changes in one commit and rewritten history', async () => {
  const name = `streams-${Date.now()}`;
  const [one, two] = await Promise.all([
    openDatabase(name, { durability: 'relaxed' }),
    openDatabase(name, { durability: 'relaxed' }),
  ]);
  const writer = two.client();
  await writer.query(q.CreateCollection({ name: 'notes' }));
  const notes = q.Collection('notes');
  const note = q.Ref(notes, '1');
  const { ts } = await writer.Create(note, { data: { n: 0 } });
  const stream = await openStream(one, note);
  const set = await openStream(one, q.Documents(notes));
  expect([await stream.next(), await set.next()]).toMatchObject([
    { type: 'start' },
    { type: 'start' },
  ]);

  await Promise.all([1, 2, 3].map((n) => writer.Update(note, { data: { n } })));
  for (const n of [1, 2, 3]) expect((await stream.next()).event.document.data).toMatchObject({ n });

  // More changes in one commit than a notice between tabs lists.
  const ids = Array.from({ length: 400 }, (_, i) => String(i + 10));
  await writer.query(
    q.Do(
      q.Update(note, { data: { n: 4 } }),
      q.Foreach(ids, q.Lambda('id', q.Create(q.Ref(notes, q.Var('id')), { data: {} }))),
    ),
  );
  expect((await stream.next()).event.document.data).toMatchObject({ n: 4 });
  for (const _ of ids) expect((await set.next()).event.action).toBe('add');

  await writer.query(q.Insert(note, ts - 5, 'create', { data: { n: -1 } }));
  expect(await stream.next()).toMatchObject({
    type: 'history_rewrite',
    event: { action: 'create', document: { data: { n: -1 } } },
  });
  await writer.Delete(note);
  expect((await stream.next()).event.action).toBe('delete');
  expect((await set.next()).event.action).toBe('remove');
  await Promise.all([stream.end(), set.end()]);
  await one.close();
  await two.destroy();
});
