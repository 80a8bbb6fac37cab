import { expect, test } from 'vitest';
import {
  EngineWorld,
  coll,
  create,
  doc,
  fakeHash,
  obj,
  type Query,
} from '../testing/engine-world.ts';

const user = doc('users', 1);
const login = (more: Record<string, unknown> = {}): Query => ({
  login: user,
  params: obj({ password: 'one', ...more }),
});
const setPassword = (credentials: Record<string, unknown>): Query => ({
  update: user,
  params: obj({ credentials: obj(credentials) }),
});
const identify = (password: string, who: Query = user): Query => ({ identify: who, password });

async function world(): Promise<EngineWorld> {
  const w = new EngineWorld();
  await w.ask({ create_collection: obj({ name: 'users' }) });
  await w.ask(
    create(user, { email: 'ann@example.org' }, { credentials: obj({ password: 'one' }) }),
  );
  return w;
}

async function key(w: EngineWorld, role: string, more: Record<string, unknown> = {}) {
  const { secret } = await w.document({ create_key: obj({ role, ...more }) });
  return { secret };
}

/** The credential of a token of the user. */
const OF_USER = { label: { kind: 'token' }, identity: { id: 1n } };

const expectRefused = async (w: EngineWorld, secret: string): Promise<void> => {
  await expect(w.engine.authenticate(secret)).resolves.toBeUndefined();
};

test('a password is stored as a hash in the credentials of the document, and is never shown', async () => {
  const w = await world();
  expect(await w.ask({ get: user })).not.toHaveProperty('credentials');
  const [credentials] = await w.page({
    map: { lambda: 'c', expr: { get: { var: 'c' } } },
    collection: { paginate: { credentials: null } },
  });
  expect(credentials).toMatchObject({
    instance: { '@ref': { id: '1' } },
    hashed_password: fakeHash('one', 10),
  });
  expect(JSON.stringify(credentials)).not.toContain('"password"');
});

test('login() returns a token whose identity is the document', async () => {
  const w = await world();
  const token = await w.document(login({ data: obj({ name: 'phone' }), extra: 1 }));
  expect(Object.keys(token)).toEqual(['ref', 'ts', 'instance', 'data', 'secret']);
  expect(await w.ask({ current_identity: null }, token)).toMatchObject({ '@ref': { id: '1' } });
  expect(await w.ask({ current_token: null }, token)).toEqual(token.ref);
  const read = await w.document({ get: token.ref }, token);
  expect(Object.keys(read)).toEqual(['ref', 'ts', 'instance', 'data', 'hashed_secret']);
  await expect(w.engine.authenticate(token.secret)).resolves.toMatchObject({
    label: { kind: 'token', id: token.ref['@ref'].id },
    role: 'roles',
    database: [],
  });
  // Only keys have scopes. After a token, a scope is ignored.
  expect(await w.ask({ has_identity: null }, { secret: `${token.secret}:admin` })).toBe(true);
});

test('a token can read only its own document, unless roles decide about that too', async () => {
  const w = await world();
  await w.ask(create(doc('users', 2), {}));
  const acting = { secret: `${(await key(w, 'server')).secret}:@doc/users/1` };
  const roles = new EngineWorld(w.store, { ownDocument: 'by role' });
  const token = await w.document(login());
  const denied = { code: 'permission denied', status: 403 };
  for (const caller of [token, acting]) {
    expect(await w.ask({ get: user }, caller)).toMatchObject({ ref: { '@ref': { id: '1' } } });
    expect(await w.ask({ exists: user }, caller)).toBe(true);
    expect(await w.fault({ get: doc('users', 2) }, caller)).toMatchObject(denied);
    expect(await w.fault({ update: user, params: obj({}) }, caller)).toMatchObject(denied);
    expect(await w.fault({ delete: user }, caller)).toMatchObject(denied);
    expect(await w.fault({ paginate: user, events: true }, caller)).toMatchObject(denied);
    expect(await w.page({ paginate: { documents: coll('users') } }, caller)).toHaveLength(1);
    expect(await roles.fault({ get: user }, caller)).toMatchObject(denied);
    expect(await roles.ask({ exists: user }, caller)).toBe(false);
    expect(await roles.page({ paginate: { documents: coll('users') } }, caller)).toEqual([]);
  }
});

test('login() fails the same way for a missing user, a missing password and a wrong password (A1)', async () => {
  const w = await world();
  const failed = { code: 'authentication failed', position: [], status: 400 };
  for (const query of [
    { login: user, params: obj({ password: 'two' }) },
    { login: user, params: obj({}) },
    { login: doc('users', 2), params: obj({ password: 'one' }) },
    { login: { documents: { roles: null } }, params: obj({ password: 'one' }) },
  ]) {
    expect(await w.fault(query)).toMatchObject(failed);
  }
  expect(await w.fault({ login: user, params: obj({ password: 1 }) })).toMatchObject({
    code: 'validation failed',
    failures: [{ field: ['password'], code: 'invalid type' }],
  });
});

test('login() and identify() compare exactly one hash, whether or not the user exists (A1)', async () => {
  const w = await world();
  await w.ask(create(doc('users', 3), {}));
  for (const query of [
    { login: user, params: obj({ password: 'one' }) },
    { login: user, params: obj({ password: 'wrong' }) },
    { login: user, params: obj({ password: 'x'.repeat(73) }) },
    { login: doc('users', 2), params: obj({ password: 'one' }) },
    { login: doc('users', 3), params: obj({ password: 'one' }) },
    { login: { documents: coll('users') }, params: obj({ password: 'wrong' }) },
    { login: { documents: { roles: null } }, params: obj({ password: 'one' }) },
    identify('wrong'),
    identify('one', doc('users', 2)),
  ]) {
    const before = w.verifications;
    await w.answer(query);
    expect(w.verifications - before, JSON.stringify(query)).toBe(1);
  }
});

test('passwords are normalized before they are compared, and limited in length and characters (A2)', async () => {
  const w = await world();
  await w.ask(setPassword({ password: 'caf\u00e9' }));
  expect(await w.ask(identify('cafe\u0301'))).toBe(true);
  const long = 'x'.repeat(73);
  const failures = [{ field: ['credentials', 'password'], code: 'invalid password' }];
  expect(await w.fault(setPassword({ password: long }))).toMatchObject({ failures, position: [] });
  expect(await w.fault(setPassword({ password: 'a\0b' }))).toMatchObject({ failures });
  expect(await w.fault(setPassword({ password: 5 }))).toMatchObject({
    failures: [{ field: ['credentials', 'password'], code: 'invalid type' }],
  });
  expect(await w.ask(identify(long))).toBe(false);
  await w.ask(setPassword({ password: '' }));
  expect(await w.ask(identify(''))).toBe(true);
  await w.ask(setPassword({}));
  expect(await w.ask(identify(''))).toBe(true);
});

test('a password has at most 72 bytes after normalization (A2)', async () => {
  const w = await world();
  const failures = [{ field: ['credentials', 'password'], code: 'invalid password' }];
  const composed = '\u00e9'.repeat(36);
  const apart = 'e\u0301'.repeat(36);
  await w.ask(setPassword({ password: apart }));
  expect(await w.ask(identify(composed))).toBe(true);
  expect(await w.fault(setPassword({ password: `${apart}x` }))).toMatchObject({ failures });
  expect(await w.ask(identify(`${composed}x`))).toBe(false);
  expect(await w.fault(setPassword({ password: '\u{1f511}'.repeat(19) }))).toMatchObject({
    failures,
  });
  const instance = doc('users', 2);
  const direct = { create: { credentials: null }, params: obj({ instance, password: 'a\0b' }) };
  expect((await w.fault(direct)).failures).toMatchObject([
    { field: ['password'], code: 'invalid password' },
  ]);
});

test('bcrypt hashes made elsewhere are accepted with a cost from 4 to 14', async () => {
  const w = await world();
  const server = await key(w, 'server');
  const hashOf = (letter: string, cost: string) => `$2${letter}$${cost}$${'a'.repeat(53)}`;
  for (const hash of [hashOf('a', '04'), hashOf('b', '10'), hashOf('y', '14'), hashOf('', '05')]) {
    await w.ask(setPassword({ hashed_password: hash }), server);
  }
  const failures = [{ field: ['credentials', 'hashed_password'], code: 'invalid password' }];
  for (const hash of [hashOf('a', '15'), hashOf('a', '31'), hashOf('a', '03'), hashOf('x', '10')]) {
    expect(await w.fault(setPassword({ hashed_password: hash }), server)).toMatchObject({
      failures,
    });
  }
});

test('only server keys can set the hash of a password', async () => {
  const w = await world();
  const hashed = fakeHash('imported', 10);
  await w.ask(setPassword({ hashed_password: hashed }));
  expect(await w.ask(identify('imported'))).toBe(false);
  const server = await key(w, 'server');
  await w.ask(setPassword({ hashed_password: hashed }), server);
  expect(await w.ask(identify('imported'))).toBe(true);
  expect((await w.fault(setPassword({ hashed_password: '$1$no' }), server)).failures).toMatchObject(
    [{ field: ['credentials', 'hashed_password'], code: 'invalid password' }],
  );
});

test('logout() ends the current token or all tokens of its identity, and returns false for a key (A5)', async () => {
  const w = await world();
  const [one, two, three] = [
    await w.document(login()),
    await w.document(login()),
    await w.document(login()),
  ];
  expect(await w.ask({ logout: false }, one)).toBe(true);
  await expectRefused(w, one.secret);
  expect(await w.ask({ has_identity: null }, two)).toBe(true);
  expect(await w.ask({ do: [{ logout: true }, { logout: true }] }, two)).toBe(true);
  await expectRefused(w, three.secret);
  expect(await w.ask([{ logout: true }, { logout: false }])).toEqual([false, false]);
  const acting = { secret: 'root-secret:@doc/users/1' };
  const four = await w.document(login());
  expect(await w.ask({ logout: true }, acting)).toBe(true);
  await expectRefused(w, four.secret);
});

test('tokens and keys become invalid when their identity or database is deleted or their ttl has passed', async () => {
  const w = await world();
  const token = await w.document(login());
  await w.ask({ delete: user });
  await expectRefused(w, token.secret);
  await w.ask(create(user, {}, { credentials: obj({ password: 'one' }) }));
  const until = new Date(w.now / 1000 + 10_000).toISOString();
  const short = await w.document(login({ ttl: { '@ts': until } }));
  await expect(w.engine.authenticate(short.secret)).resolves.toMatchObject(OF_USER);
  w.now += 10_000_000;
  await expectRefused(w, short.secret);
  await w.ask({ create_database: obj({ name: 'inner' }) });
  const inner = await key(w, 'server', { database: { database: 'inner' } });
  await expect(w.engine.authenticate(inner.secret)).resolves.toMatchObject({ database: ['inner'] });
  await w.ask({ delete: { database: 'inner' } });
  await expectRefused(w, inner.secret);
});

test('replacing a token gives it a new secret; updating it does not', async () => {
  const w = await world();
  const token = await w.document(login());
  const updated = await w.document({ update: token.ref, params: obj({ data: obj({ a: 1 }) }) });
  expect(Object.keys(updated)).toEqual(['ref', 'ts', 'instance', 'data']);
  await expect(w.engine.authenticate(token.secret)).resolves.toMatchObject(OF_USER);
  const replaced = await w.document({ replace: token.ref, params: obj({ instance: user }) });
  await expectRefused(w, token.secret);
  await expect(w.engine.authenticate(replaced.secret)).resolves.toMatchObject(OF_USER);
  expect((await w.fault({ replace: token.ref })).failures).toMatchObject([
    { field: ['instance'], code: 'value required' },
  ]);
});

test('a key shows its secret only when it is created, and the secret cannot be changed (A3)', async () => {
  const w = await world();
  const made = await w.document({
    create_key: obj({ role: 'client', name: 'page', data: obj({ a: 1 }), secret: null }),
  });
  expect(Object.keys(made)).toEqual([
    'ref',
    'ts',
    'name',
    'role',
    'data',
    'hashed_secret',
    'secret',
  ]);
  const read = await w.document({ get: made.ref });
  expect(Object.keys(read)).toEqual(['ref', 'ts', 'name', 'role', 'data', 'hashed_secret']);
  const replaced = await w.document({ replace: made.ref, params: obj({ role: 'server' }) });
  expect(replaced.hashed_secret).toBe(made.hashed_secret);
  await expect(w.engine.authenticate(made.secret)).resolves.toMatchObject({ role: 'server' });
  expect(
    (await w.fault({ update: made.ref, params: obj({ secret: 'x' }) })).failures,
  ).toMatchObject([{ field: ['secret'], code: 'invalid secret' }]);
  await w.ask({ delete: made.ref });
  await w.ask({
    create: { ref: { keys: null }, id: made.ref['@ref'].id },
    params: obj({ role: 'client', secret: made.secret }),
  });
  await expect(w.engine.authenticate(made.secret)).resolves.toMatchObject({ role: 'client' });
});

test('create_key refuses missing and invalid fields', async () => {
  const w = await world();
  const failures = async (fields: Record<string, unknown>) =>
    (await w.fault({ create_key: obj(fields) })).failures?.map(({ field, code }) => [
      field.join('.'),
      code,
    ]);
  expect(await failures({})).toEqual([['role', 'value required']]);
  expect(await failures({ role: 1 })).toEqual([['role', 'invalid type']]);
  expect(await failures({ role: ['admin'] })).toEqual([['role.0', 'validation failure']]);
  expect(await failures({ role: 'client', priority: 0 })).toEqual([['priority', 'invalid type']]);
  expect(await failures({ role: 'client', ttl: 1 })).toEqual([['ttl', 'invalid type']]);
  expect(await failures({ role: 'client', database: user })).toEqual([
    ['database', 'invalid type'],
  ]);
});

test('key_from_secret() finds keys and tokens, and its errors do not repeat the given secret', async () => {
  const w = await world();
  const token = await w.document(login());
  expect(await w.ask({ key_from_secret: token.secret })).toMatchObject({ ref: token.ref });
  const fault = await w.fault({ key_from_secret: 'fnAC-secret-text' });
  expect(fault).toMatchObject({ code: 'instance not found', status: 400, position: [] });
  expect(fault.description).not.toContain('secret-text');
});

test('a document has one set of credentials, and changing its password requires the current one', async () => {
  const w = await world();
  const instance = doc('users', 2);
  await w.ask({ create: { credentials: null }, params: obj({ instance, password: 'x' }) });
  expect(await w.ask(identify('x', instance))).toBe(true);
  expect(await w.fault({ create: { credentials: null }, params: obj({ instance }) })).toMatchObject(
    {
      code: 'instance not unique',
      position: ['create'],
    },
  );
  expect((await w.fault({ create: { credentials: null } })).failures).toMatchObject([
    { field: ['instance'], code: 'value required' },
  ]);
  const first = { select: ['data', 0], from: { paginate: { credentials: null } } };
  const change = (fields: Record<string, unknown>) => ({ update: first, params: obj(fields) });
  const wrong = { failures: [{ field: ['current_password'], code: 'invalid password' }] };
  expect(await w.fault(change({ password: 'n' }))).toMatchObject(wrong);
  expect(await w.fault(change({ password: 'n', current_password: 'no' }))).toMatchObject(wrong);
  await w.ask(change({ password: 'n', current_password: 'one' }));
  expect(await w.ask(identify('n'))).toBe(true);
  await w.ask({ delete: first });
  expect(await w.ask(identify('n'))).toBe(false);
});

test('a query of the past compares present passwords, and cannot log in (A4)', async () => {
  const w = await world();
  const past = w.now;
  const then = (expr: Query): Query => ({ at: past, expr });
  await w.ask(setPassword({ password: 'two', current_password: 'one' }));
  expect(await w.ask([then(identify('one')), then(identify('two'))])).toEqual([false, true]);
  expect(await w.fault(then(login({ password: 'two' })))).toMatchObject({ status: 400 });
});

test('a password is found after any number of expired credentials', async () => {
  const w = await world();
  const instance = doc('users', 2);
  const given = (more: Record<string, unknown>): Query => ({
    create: { credentials: null },
    params: obj({ instance, ...more }),
  });
  const ttl = { time_add: { now: null }, offset: 1, unit: 'second' };
  for (let n = 0; n < 17; n += 1) await w.ask(given({ password: `code ${n}`, ttl }));
  await w.ask(given({ password: 'last' }));
  expect(await w.ask(identify('last', instance))).toBe(true);
  expect(await w.fault(given({ password: 'other' }))).toMatchObject({
    code: 'instance not unique',
  });
});

test('self stands for the current token, its credentials or its document', async () => {
  const w = await world();
  const token = await w.document(login());
  const self = (collection: string) => ({
    '@ref': { id: 'self', collection: { '@ref': { id: collection } } },
  });
  expect(await w.ask(self('tokens'), token)).toEqual(token.ref);
  expect(
    await w.ask({ select: 'instance', from: { get: self('credentials') } }, token),
  ).toMatchObject({
    '@ref': { id: '1' },
  });
  const own = {
    '@ref': {
      id: 'self',
      collection: { '@ref': { id: 'users', collection: { '@ref': { id: 'collections' } } } },
    },
  };
  expect(await w.ask(own, token)).toMatchObject({ '@ref': { id: '1' } });
  expect(await w.fault(self('tokens'), { secret: 'root-secret:@doc/users/1' })).toMatchObject({
    code: 'invalid expression',
  });
});

test('admin keys can take other roles, documents and databases by scope; server keys only documents', async () => {
  const w = await world();
  await w.ask({ create_database: obj({ name: 'inner' }) });
  const admin = (await key(w, 'admin')).secret;
  const server = (await key(w, 'server')).secret;
  const role = async (secret: string) => (await w.engine.authenticate(secret))?.role;
  expect(await role(`${admin}:server-readonly`)).toBe('server-readonly');
  expect(await role(`${admin}:inner:client`)).toBe('client');
  expect(await role(`${admin}:@role/none`)).toBeUndefined();
  expect(await role(`${admin}:@doc/users/1`)).toBe('roles');
  expect(await role(`${admin}:@doc/users/9`)).toBeUndefined();
  expect(await role(`${admin}:elsewhere:admin`)).toBeUndefined();
  expect(await role(`${server}:@doc/users/1`)).toBe('roles');
  expect(await role(`${server}:client`)).toBeUndefined();
  expect(await role(`${server}:inner`)).toBe('server');
  expect(await w.ask(coll('users'), { secret: `${admin}:inner:admin` })).toMatchObject({
    '@ref': {},
  });
});

test.each([
  ['deleted', { delete: user }],
  ['expired', { update: user, params: obj({ ttl: { time: '2026-01-01T00:00:01Z' } }) }],
])(
  'a new document with the id of a document that was %s has neither its tokens nor its password',
  async (_, end) => {
    const w = await world();
    const token = await w.document(login());
    await w.ask(end);
    await expectRefused(w, token.secret);
    await w.ask(create(user, { email: 'eve@example.org' }));
    await expectRefused(w, token.secret);
    expect(await w.ask(identify('one'))).toBe(false);
    expect(await w.page({ paginate: { tokens: null } })).toEqual([]);
    await w.ask(setPassword({ password: 'two' }));
    expect(await w.ask(identify('two'))).toBe(true);
  },
);

test('a document that is deleted and created again in one query loses its tokens', async () => {
  const w = await world();
  const token = await w.document(login());
  await w.ask({ do: [{ delete: user }, create(user, {})] });
  await expectRefused(w, token.secret);
});

test('a document restored by an inserted version has neither its old tokens nor its password (A5)', async () => {
  const w = await world();
  const { secret } = await w.document(login());
  const insert = (ts: Query): Query => ({
    insert: user,
    ts,
    action: 'create',
    params: obj({ data: obj({ email: 'eve@example.org' }) }),
  });
  const before = { time: '2020-01-01T00:00:00Z' };
  // Inserting a past version of an existing document does not affect its tokens.
  await w.ask(insert(before));
  expect(await w.ask({ identity: null }, { secret })).toMatchObject({
    '@ref': { id: '1' },
  });
  await w.ask({ delete: user });
  await w.ask(insert({ now: null }));
  expect(await w.ask({ exists: user })).toBe(true);
  await expectRefused(w, secret);
  expect(await w.ask(identify('one'))).toBe(false);
});

test('a document restored by removing its deletion has neither its old tokens nor its password', async () => {
  const w = await world();
  const { secret } = await w.document(login());
  await w.ask({ delete: user });
  const events = await w.page({ paginate: user, events: true });
  const { ts } = events.at(-1) as { readonly ts: number };
  await w.ask({ remove: user, ts, action: 'delete' });
  expect(await w.ask({ exists: user })).toBe(true);
  await expectRefused(w, secret);
  expect(await w.ask(identify('one'))).toBe(false);
});

/** A public index by which users log in, and a client key. */
async function publicLogin(w: EngineWorld): Promise<{ readonly secret: string }> {
  await w.ask({
    create_index: obj({
      name: 'users_by_email',
      source: coll('users'),
      terms: [obj({ field: ['data', 'email'] })],
      permissions: obj({ read: 'public' }),
    }),
  });
  return key(w, 'client');
}
const byEmail = (email: string): Query => ({ match: { index: 'users_by_email' }, terms: email });
const loginBy = (set: Query, password = 'one'): Query => ({
  login: set,
  params: obj({ password }),
});
/** Creates a role without members that names the collection of users, so that its `permissions` no longer apply. */
const nameUsersInRole = (w: EngineWorld): Promise<unknown> =>
  w.ask({ create_role: obj({ name: 'readers', privileges: [obj({ resource: coll('users') })] }) });

test('login() and identify() through a public index need no right to read the user', async () => {
  const w = await world();
  const client = await publicLogin(w);
  await nameUsersInRole(w);
  const token = await w.document(loginBy(byEmail('ann@example.org')), client);
  expect(token.secret).toMatch(/^fn/);
  expect(await w.ask(identify('one', byEmail('ann@example.org')), client)).toBe(true);
  expect(await w.ask(identify('two', byEmail('ann@example.org')), client)).toBe(false);
  expect(await w.page({ paginate: byEmail('ann@example.org') }, client)).toEqual([]);
});

test('login() through an index that a role makes readable needs no right to read the user', async () => {
  const w = await world();
  await publicLogin(w);
  const index = { index: 'users_by_email' };
  await w.ask({
    create_role: obj({
      name: 'door',
      privileges: [
        obj({ resource: index, actions: obj({ read: true }) }),
        obj({ resource: coll('users') }),
      ],
    }),
  });
  const door = await key(w, 'door');
  expect(await w.document(loginBy(byEmail('ann@example.org')), door)).toHaveProperty('secret');
  const client = await key(w, 'client');
  const fault = await w.fault(loginBy(byEmail('ann@example.org')), client);
  expect(fault).toMatchObject({ status: 403, code: 'permission denied', position: ['login'] });
});

test('a failed login does not reveal whether the user exists', async () => {
  const w = await world();
  const client = await publicLogin(w);
  await nameUsersInRole(w);
  const wrong = await w.answer(loginBy(byEmail('ann@example.org'), 'two'), client);
  const unknown = await w.answer(loginBy(byEmail('nob@example.org'), 'two'), client);
  expect(wrong.status).toBe(400);
  expect(unknown.body).toBe(wrong.body);
  const shown = ({ metrics }: typeof wrong) => ({ ...metrics, queryTime: 0 });
  expect(shown(unknown)).toEqual(shown(wrong));
  const asked = (email: string) => w.answer(identify('two', byEmail(email)), client);
  expect(shown(await asked('nob@example.org'))).toEqual(shown(await asked('ann@example.org')));
});

test.each([
  ['a union', { union: [byEmail('ann@example.org'), byEmail('bob@example.org')] }],
  [
    'a filter',
    {
      filter: { lambda: 'ref', expr: { abort: { select: 'id', from: { var: 'ref' } } } },
      collection: byEmail('ann@example.org'),
    },
  ],
])('login() by %s finds only documents that the caller can read', async (_, set) => {
  const w = await world();
  const client = await publicLogin(w);
  await nameUsersInRole(w);
  expect(await w.fault(loginBy(set), client)).toMatchObject({ code: 'authentication failed' });
});
