import { afterEach, beforeEach, expect, test } from 'vitest';
import { q, type Client, type Database } from 'burrowdb';
import { openDatabase } from 'burrowdb/testing';

/** The code of the app. */
const openTodos = (client: Client) =>
  client.query(q.Count(q.Match(q.Index('todos_by_done'), false)));

let db: Database;
beforeEach(async () => {
  db = await openDatabase();
  await db.client().query(q.CreateCollection({ name: 'todos' }));
  await db.client().query(
    q.CreateIndex({
      name: 'todos_by_done',
      source: q.Collection('todos'),
      terms: [{ field: ['data', 'done'] }],
    }),
  );
});
afterEach(() => db.close());

test('openTodos() counts the to-dos that are not done', async () => {
  const client = db.client();
  for (const done of [false, true, false])
    await client.query(q.Create(q.Collection('todos'), { data: { done } }));
  expect(await openTodos(client)).toBe(2);
});
