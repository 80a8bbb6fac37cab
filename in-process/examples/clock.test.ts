import { expect, test } from 'vitest';
import { q } from 'burrowdb';
import { createClock, openDatabase } from 'burrowdb/testing';

test('a draft is gone after a week', async () => {
  const clock = createClock();
  clock.set('2031-05-04T12:00:00Z');
  const db = await openDatabase('notes', { clock });
  const client = db.client();
  await client.query(q.CreateCollection({ name: 'drafts' }));
  const draft = { data: { text: 'A heron' }, ttl: q.TimeAdd(q.Now(), 7, 'days') };
  const { ref } = await client.query(q.Create(q.Collection('drafts'), draft));

  clock.advance({ days: 8 });
  // Documents expire by the time of the last commit: a write makes it the time of the clock.
  await client.query(q.Create(q.Collection('drafts'), { data: { text: 'A wren' } }));
  expect(await client.query(q.Exists(ref))).toBe(false);
  await db.close();
});
