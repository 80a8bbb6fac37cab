import { expect, test } from 'vitest';
import {
  EngineWorld,
  ROOT,
  coll,
  create,
  doc,
  obj,
} from '../../src/engine/testing/engine-world.ts';
import type { UnlockCall } from '../../src/host/open.ts';
import { tryLogin, type LoginHost } from './unlock.ts';

const PASSWORD = 'correct horse';

async function withAlice(): Promise<EngineWorld> {
  const world = new EngineWorld();
  await world.ask({ create_collection: obj({ name: 'users' }) });
  await world.ask({
    create_index: obj({
      name: 'users_by_email',
      source: coll('users'),
      terms: [obj({ field: ['data', 'email'] })],
    }),
  });
  await world.ask(
    create(
      doc('users', 1),
      { email: 'alice@example.org' },
      { credentials: obj({ password: PASSWORD }) },
    ),
  );
  return world;
}

const secretOf = async (world: EngineWorld, params: Record<string, unknown>): Promise<string> =>
  (await world.document({ create_key: obj(params) })).secret;

const hostOf = (world: EngineWorld, isOwner?: boolean): LoginHost => ({
  engine: world.engine,
  rootSecret: ROOT,
  isLoginOfCopy: () => Promise.resolve(isOwner),
});

async function attempt(world: EngineWorld, call: UnlockCall) {
  const { status, body } = await tryLogin(hostOf(world), call);
  const { resource, errors } = JSON.parse(body) as {
    resource?: { secret: string };
    errors?: { code: string; description: string }[];
  };
  return { status, secret: resource?.secret, code: errors?.[0]?.code, body };
}

test('tryLogin() accepts only tokens, admin keys and server keys of this database', async () => {
  const world = await withAlice();
  await world.ask({ create_database: obj({ name: 'child' }) });
  await world.ask({ create_role: obj({ name: 'guests', privileges: [] }) });
  const token = (
    await world.document({ login: doc('users', 1), params: obj({ password: PASSWORD }) })
  ).secret;
  const admin = await secretOf(world, { role: 'admin' });
  for (const secret of [token, admin, await secretOf(world, { role: 'server' })]) {
    expect(await attempt(world, { secret })).toMatchObject({ status: 200, secret });
  }
  const refused = [
    'nonsense',
    '',
    ROOT,
    await secretOf(world, { role: 'client' }),
    await secretOf(world, { role: 'server-readonly' }),
    await secretOf(world, { role: [{ role: 'guests' }] }),
    await secretOf(world, { role: 'admin', database: { database: 'child' } }),
    `${admin}:client`,
    `${admin}:@doc/users/1`,
    `${admin}:child:admin`,
  ];
  for (const secret of refused) {
    expect(await attempt(world, { secret })).toMatchObject({ status: 401, code: 'unauthorized' });
  }
});

test('tryLogin() logs in the user named by a ref or an index, and creates a token', async () => {
  const world = await withAlice();
  const users = [
    doc('users', 1),
    { match: { index: 'users_by_email' }, terms: 'alice@example.org' },
    { match: { index: 'users_by_email' }, terms: { casefold: 'alice@example.org' } },
    {
      '@ref': {
        id: '1',
        collection: { '@ref': { id: 'users', collection: { '@ref': { id: 'collections' } } } },
      },
    },
  ];
  for (const user of users) {
    const call = { user: JSON.stringify(user), password: PASSWORD };
    const { status, secret } = await attempt(world, call);
    expect(status).toBe(200);
    expect(await world.ask({ current_identity: null }, { secret: String(secret) })).toMatchObject({
      '@ref': { id: '1' },
    });
  }
});

test('tryLogin() does not reveal to a caller without the password whether the user exists', async () => {
  const world = await withAlice();
  const bodies = new Set<string>();
  for (const user of [
    doc('users', 1),
    doc('users', 2),
    { match: { index: 'users_by_email' }, terms: 'eve' },
  ]) {
    const { status, body } = await attempt(world, { user: JSON.stringify(user), password: 'no' });
    expect(status).toBe(400);
    bodies.add(body);
  }
  expect(bodies.size).toBe(1);
  expect([...bodies][0]).toContain('authentication failed');
});

test('tryLogin() says what to do if the database has no users yet', async () => {
  const byIndex = { match: { index: 'users_by_email' }, terms: 'alice@example.org' };
  for (const user of [doc('users', 1), byIndex]) {
    const call = { user: JSON.stringify(user), password: PASSWORD };
    const { status, code, body } = await attempt(new EngineWorld(), call);
    expect({ status, code }).toEqual({ status: 400, code: 'authentication failed' });
    expect(body).toContain('signOut({ forget: true })');
  }
});

test('tryLogin() refuses expressions for the user that could reveal or change data', async () => {
  const world = await withAlice();
  const email = { select: ['data', 'email'], from: { get: doc('users', 1) } };
  const forms = [
    { abort: email },
    { do: [{ delete: doc('users', 1) }, doc('users', 1)] },
    { select: [0], from: [doc('users', 1)] },
    { match: { index: 'users_by_email' }, terms: [email] },
    { let: [{ x: 1 }], in: doc('users', 1) },
    { ref: { collection: 'users', scope: { database: 'child' } }, id: '1' },
  ];
  const user1 = JSON.stringify(doc('users', 1));
  const hidden = [
    // Of duplicate members, the engine uses the first, and JSON.parse() the last.
    `{"match":{"do":[{"delete":${user1}},{"index":"users_by_email"}]},"terms":"eve","match":{"index":"users_by_email"}}`,
    `${'{"ref":'.repeat(20_000)}1${'}'.repeat(20_000)}`,
  ];
  for (const user of [...forms.map((form) => JSON.stringify(form)), ...hidden, '{"ref"', '']) {
    const tried = await attempt(world, { user, password: PASSWORD });
    expect(tried).toMatchObject({ status: 400, code: 'bad request' });
    expect(tried.body).not.toContain('alice');
  }
  expect(await world.ask({ exists: doc('users', 1) })).toBe(true);
});

test('tryLogin() of a synced copy accepts the login of its user, and keys of this device (A7)', async () => {
  const world = await withAlice();
  const byPassword = { user: JSON.stringify(doc('users', 1)), password: PASSWORD };
  const bodyOf = async (call: UnlockCall, isOwner: boolean) =>
    (await tryLogin(hostOf(world, isOwner), call)).body;
  expect(await bodyOf({ secret: 'the hub’s' }, true)).toBe('{"resource":{"secret":"the hub’s"}}');
  expect(await bodyOf(byPassword, true)).toBe('{"resource":{}}');
  // Credentials stored in the copy are no login: only the hub has the passwords.
  expect(await bodyOf(byPassword, false)).toContain('authentication failed');
  expect(await bodyOf({ secret: 'another' }, false)).toContain('unauthorized');
  const secret = await secretOf(world, { role: 'admin' });
  expect(await bodyOf({ secret }, false)).toContain(secret);
});
