/** Steps that send passwords, keys and tokens into a database. */
import {
  alice,
  byEmail,
  credentialsOf,
  doc,
  kept,
  login,
  obj,
  secretAndHash,
  type Step,
} from './canary-step.ts';

export const SCHEMA: readonly Step[] = [
  {
    name: 'schema',
    query: () => ({
      do: [
        { create_collection: obj({ name: 'users' }) },
        { create_collection: obj({ name: 'notes' }) },
      ],
    }),
  },
  {
    name: 'index of users',
    query: () => ({
      create_index: obj({
        name: 'users_by_email',
        source: { collection: 'users' },
        terms: [obj({ field: ['data', 'email'] })],
        unique: true,
        permissions: obj({ read: 'public' }),
      }),
    }),
  },
  {
    name: 'index of credentials',
    query: () => ({
      create_index: obj({
        name: 'credentials_by_user',
        source: { credentials: null },
        terms: [obj({ field: ['instance'] })],
      }),
    }),
  },
  {
    name: 'function that signs up',
    query: () => ({
      create_function: obj({
        name: 'sign_up',
        body: {
          query: {
            lambda: ['email', 'password'],
            expr: {
              create: { collection: 'users' },
              params: obj({
                data: obj({ email: { var: 'email' } }),
                credentials: obj({ password: { var: 'password' } }),
              }),
            },
          },
        },
      }),
    }),
  },
];

export const CREDENTIALS: readonly Step[] = [
  {
    name: 'create with a password',
    query: (text) => ({
      create: alice,
      params: obj({
        data: obj({ email: 'alice@example.org' }),
        credentials: obj({ password: text('password') }),
      }),
    }),
  },
  {
    name: 'create with a taken e-mail address',
    fails: 400,
    query: (text) => ({
      create: { collection: 'users' },
      params: obj({
        data: obj({ email: 'alice@example.org' }),
        credentials: obj({ password: text('next password') }),
      }),
    }),
  },
  {
    name: 'create by a function',
    query: (text) => ({
      call: { function: 'sign_up' },
      arguments: ['bob@example.org', text('password of a call')],
    }),
  },
  {
    name: 'create with a hash',
    query: (text) => ({
      create: doc('users', '2'),
      params: obj({
        data: obj({}),
        credentials: obj({ hashed_password: text('imported hash') }),
      }),
    }),
  },
  {
    name: 'read credentials',
    query: () => ({ get: credentialsOf(alice) }),
    brings: [{ name: 'hash of the password', at: 'hashed_password', mayBeIn: kept }],
  },
  {
    name: 'update the password',
    query: (text) => ({
      update: alice,
      params: obj({ credentials: obj({ password: text('next password') }) }),
    }),
  },
  {
    name: 'change the password with the old one',
    query: (text) => ({
      update: credentialsOf(alice),
      params: obj({ current_password: text('next password'), password: text('last password') }),
    }),
    // A caller who may read credentials can read the hash.
    brings: [{ name: 'hash of the last password', at: 'hashed_password', mayBeIn: kept }],
  },
  {
    name: 'change the password with a wrong one',
    fails: 400,
    query: (text) => ({
      update: credentialsOf(alice),
      params: obj({ current_password: text('wrong password'), password: text('password') }),
    }),
  },
  {
    name: 'a password that is no text',
    fails: 400,
    query: (text) => ({
      create: { collection: 'users' },
      params: obj({ data: obj({}), credentials: obj({ password: [text('password')] }) }),
    }),
  },
  {
    name: 'a password that is too long',
    fails: 400,
    query: (text) => ({
      create: { collection: 'users' },
      params: obj({ data: obj({}), credentials: obj({ password: text('password').repeat(9) }) }),
    }),
  },
  {
    name: 'history of a user',
    query: () => ({ paginate: alice, events: true }),
  },
];

export const KEYS: readonly Step[] = [
  {
    name: 'create an admin key',
    query: () => ({ create_key: obj({ role: 'admin' }) }),
    brings: secretAndHash('the admin key'),
  },
  {
    name: 'create a client key',
    query: () => ({ create_key: obj({ role: 'client' }) }),
    brings: secretAndHash('the client key'),
  },
  {
    name: 'log in',
    as: 'secret of the client key',
    query: (text) => login(byEmail, text('last password')),
    brings: [{ name: 'secret of the token', at: 'secret', mayBeIn: [] }],
  },
  {
    name: 'log in with a wrong password',
    fails: 400,
    as: 'secret of the client key',
    query: (text) => login(byEmail, text('wrong password')),
  },
  {
    name: 'log in as nobody',
    fails: 400,
    query: (text) => login(doc('users', '404'), text('wrong password')),
  },
  {
    name: 'log in where there is no such collection',
    fails: 400,
    query: (text) => login(doc('nowhere', '1'), text('wrong password')),
  },
  {
    name: 'log in with a password that is no text',
    fails: 400,
    query: (text) => ({ login: alice, params: obj({ password: [text('wrong password')] }) }),
  },
  {
    name: 'create a token',
    query: () => ({ create: { tokens: null }, params: obj({ instance: alice }) }),
    brings: secretAndHash('a second token').slice(0, 1),
  },
  {
    name: 'read tokens',
    query: () => ({
      map: { lambda: 'ref', expr: { get: { var: 'ref' } } },
      collection: { paginate: { documents: { tokens: null } } },
    }),
    brings: [
      { name: 'hash of the token', at: 'data.0.hashed_secret', mayBeIn: kept },
      { name: 'hash of a second token', at: 'data.1.hashed_secret', mayBeIn: kept },
    ],
  },
  {
    name: 'replace a token',
    query: () => ({
      replace: {
        select: ['data', 1],
        from: { paginate: { documents: { tokens: null } } },
      },
      params: obj({ instance: alice }),
    }),
    brings: [{ name: 'secret of the replaced token', at: 'secret', mayBeIn: [] }],
  },
];
