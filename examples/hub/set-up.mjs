// Makes what the to-do apps need at a hub, and prints what they are started with.
//   node set-up.mjs http://127.0.0.1:8443 burrow-root-… ada@example.org 'her password'
import { q } from 'burrowdb';
import { connect } from 'burrowdb/remote';

const [url, secret, email, password] = process.argv.slice(2);
const hub = await connect({ url, secret });
const client = hub.client();

const [users, todos] = [q.Collection('users'), q.Collection('todos')];
await client.query(
  q.Do(q.CreateCollection({ name: 'users' }), q.CreateCollection({ name: 'todos' })),
);
await client.query(
  q.CreateIndex({
    name: 'users_by_email',
    source: users,
    terms: [{ field: ['data', 'email'] }],
    unique: true,
    permissions: { read: 'public' },
  }),
);
await client.query(
  q.CreateRole({
    name: 'people',
    membership: [{ resource: users }],
    privileges: [
      { resource: todos, actions: { read: true, write: true, create: true, delete: true } },
    ],
  }),
);
await client.query(q.Create(users, { data: { email }, credentials: { password } }));
const key = await client.query(q.Select('secret', q.CreateKey({ role: 'client' })));
console.log(`VITE_HUB=${url} VITE_LOGIN_KEY=${key} npm run dev`);
await hub.close();
