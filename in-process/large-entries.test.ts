import { expect, test } from 'vitest';
import { q } from '../src/index.ts';
import { openDatabase, openHub } from './testing.ts';

test('a copy receives a document that is too large for an index of the hub', async () => {
  const hub = await openHub();
  const admin = hub.client();
  const notes = q.Collection('notes');
  await admin.query(q.CreateCollection({ name: 'notes' }));
  const count = 140;
  const ids = Array.from({ length: count }, (_, n) => `${n + 1}`);
  await admin.query(
    q.Foreach(ids, (id) => q.Create(q.Ref(notes, id), { data: { tag: q.Concat(['n', id]) } })),
  );
  const tag = 'x'.repeat(40_000);
  await admin.query(q.Update(q.Ref(notes, '7'), { data: { tag } }));
  await admin.query(
    q.CreateIndex({ name: 'by_tag', source: notes, terms: [{ field: ['data', 'tag'] }] }),
  );
  await admin.whenActive(q.Index('by_tag'));
  const { secret } = await admin.query(q.CreateKey({ role: 'server' }));
  const db = await openDatabase('notes');
  const sync = await db.sync({ url: hub.url, secret, sets: [q.Documents(notes)] });
  await sync.whenSynced();
  const { client } = sync;
  expect(await client.query(q.Count(q.Documents(notes)))).toBe(count);
  expect(await client.query(q.Select(['data', 'tag'], q.Get(q.Ref(notes, '7'))))).toBe(tag);
  expect(await client.query(q.Count(q.Match(q.Index('by_tag'), 'n8')))).toBe(1);
  await db.close();
  await hub.close();
});
