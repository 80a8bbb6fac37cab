// Makes what the to-do apps need at a hub, and prints what they are started with.
//   node set-up.mjs http://127.0.0.1:8443 burrow-root-… ada@example.org 'her password'
import { q, queryText } from 'burrowdb';

const [url, rootSecret, email, password] = process.argv.slice(2);

async function ask(query) {
  const headers = { Authorization: `Bearer ${rootSecret}`, 'X-FaunaDB-API-Version': '4' };
  const response = await fetch(url, { method: 'POST', headers, body: queryText(query) });
  const { resource, errors } = await response.json();
  if (errors) throw new Error(errors[0].description);
  return resource;
}

const [users, todos] = [q.Collection('users'), q.Collection('todos')];
await ask(q.Do(q.CreateCollection({ name: 'users' }), q.CreateCollection({ name: 'todos' })));
await ask(
  q.CreateIndex({
    name: 'users_by_email',
    source: users,
    terms: [{ field: ['data', 'email'] }],
    unique: true,
    permissions: { read: 'public' },
  }),
);
await ask(
  q.CreateRole({
    name: 'people',
    membership: [{ resource: users }],
    privileges: [
      { resource: todos, actions: { read: true, write: true, create: true, delete: true } },
    ],
  }),
);
await ask(q.Create(users, { data: { email }, credentials: { password } }));
const key = await ask(q.Select('secret', q.CreateKey({ role: 'client' })));
console.log(`VITE_HUB=${url} VITE_LOGIN_KEY=${key} npm run dev`);
