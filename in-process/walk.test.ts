/** The files of page, worker and sync that the walks at the end of ARCHITECTURE.md name are executed. */
import { expect, test } from 'vitest';
import { filesExecuted, filesIn, walks } from '../src/engine/testing/walk.ts';
import { q } from '../src/index.ts';
import { openDatabase, openHub } from './testing.ts';
import { signUp, todos } from './testing/todo-kit.ts';

/** Files that are not executed here: passwords are hashed without a hashing worker, and the hub has no WebSockets. */
const ELSEWHERE = /^hub\/|^worker\/(?:passwords|sync\/hub-socket)/;

const namedIn = (title: string): readonly string[] =>
  filesIn(walks.get(title) ?? '').filter((file) => !ELSEWHERE.test(file));

test('a `submit()` executes the files that its walk in ARCHITECTURE.md names', async () => {
  const hub = await openHub();
  const { login } = await signUp(hub);
  const db = await openDatabase('todos');
  const sync = await db.sync({ url: hub.url, login, sets: [q.Documents(todos)] });
  await sync.whenSynced();
  const executed = await filesExecuted(async () => {
    const { settled } = await sync.client.submit(q.Create(todos, { data: { title: 'a heron' } }));
    expect(await settled).toMatchObject({ state: 'confirmed' });
  });
  const named = namedIn('A `submit()`');
  expect(named.length).toBeGreaterThan(15);
  expect(named.filter((file) => !executed.has(file))).toEqual([]);
  await db.close();
  await hub.close();
});

test('a `Login` executes the files that its walk in ARCHITECTURE.md names', async () => {
  const db = await openDatabase();
  const admin = db.client();
  const users = q.Collection('users');
  await admin.query(q.CreateCollection({ name: 'users' }));
  const { ref } = await admin.query(q.Create(users, { credentials: { password: 'a password' } }));
  const executed = await filesExecuted(() => admin.query(q.Login(ref, { password: 'a password' })));
  const named = namedIn('The password of a `Login`');
  expect(named.length).toBeGreaterThan(12);
  expect(named.filter((file) => !executed.has(file))).toEqual([]);
  await db.close();
});
