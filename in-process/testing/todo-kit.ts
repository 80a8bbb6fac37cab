/** A hub with to-dos, and a user who may read and write them. */
import { q, type Client } from '../../src/index.ts';

interface Todo {
  readonly title: string;
}

export const todos = q.Collection<Todo>('todos');

export async function signUp(hub: { client(): Pick<Client, 'query'> }) {
  const admin = hub.client();
  await admin.query(q.CreateCollection({ name: 'users' }));
  await admin.query(q.CreateCollection({ name: 'todos' }));
  const user = q.Ref(q.Collection('users'), '1');
  const password = 'secret';
  await admin.query(q.Create(user, { credentials: { password } }));
  const actions = { read: true, create: true, write: true, delete: true };
  await admin.query(
    q.CreateRole({
      name: 'member',
      membership: { resource: q.Collection('users') },
      privileges: [{ resource: q.Collection('todos'), actions }],
    }),
  );
  const { secret: key } = await admin.query(q.CreateKey({ role: 'client' }));
  return { login: { user, password, key } };
}
