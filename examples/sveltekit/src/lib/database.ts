import { openDatabase, q, type Database } from 'burrowdb';

export interface Todo {
  title: string;
  done: boolean;
}
export const todos = q.Collection<Todo>('todos');

/** Of a hub and of a client key there; without them the to-dos stay on this device. */
const { VITE_HUB: url, VITE_LOGIN_KEY: loginKey } = import.meta.env;
export const options = url
  ? { database: () => openDatabase('todos'), sync: { url, sets: [q.Documents(todos)] }, loginKey }
  : { database: openAlone };

async function openAlone(): Promise<Database> {
  const db = await openDatabase('todos');
  await db.client().query(q.If(q.Exists(todos), null, q.CreateCollection({ name: 'todos' })));
  return db;
}
