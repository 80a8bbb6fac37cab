import { expect, test } from 'vitest';
import { q } from 'burrowdb';
import { createNetwork, openDatabase, openHub } from 'burrowdb/testing';

test('a to-do that was added offline reaches the hub', async () => {
  const hub = await openHub();
  const admin = hub.client();
  await admin.query(q.CreateCollection({ name: 'users' }));
  await admin.query(q.CreateCollection({ name: 'todos' }));
  const user = q.Ref(q.Collection('users'), '1');
  const password = 'secret';
  await admin.query(q.Create(user, { credentials: { password } }));
  await admin.query(
    q.CreateRole({
      name: 'member',
      membership: { resource: q.Collection('users') },
      privileges: [{ resource: q.Collection('todos'), actions: { read: true, create: true } }],
    }),
  );
  const { secret: key } = await admin.query(q.CreateKey({ role: 'client' }));

  const network = createNetwork();
  const db = await openDatabase('todos', { network });
  const todos = q.Documents(q.Collection('todos'));
  const sync = await db.sync({ url: hub.url, login: { user, password, key }, sets: [todos] });
  await sync.whenSynced();

  network.offline();
  const { settled } = await sync.client.submit(
    q.Create(q.Collection('todos'), { data: { title: 'feed the heron' } }),
  );
  expect(await sync.client.query(q.Count(todos))).toBe(1);
  expect(await admin.query(q.Count(todos))).toBe(0);

  network.online();
  expect(await settled).toMatchObject({ state: 'confirmed' });
  expect(await admin.query(q.Count(todos))).toBe(1);

  await db.close();
  await hub.close();
});
