/** Messages of the engine for wrong calls, as a page receives them: they say what to write instead. */
import { afterEach, beforeEach, expect, test } from 'vitest';
import { Session } from '../src/hooks/core/session.ts';
import { q, UsageError, type Database, type Sync } from '../src/index.ts';
import { openDatabase as openFolder } from './node.ts';
import { connect } from './remote.ts';
import { openDatabase, openHub, type TestHub } from './testing.ts';

const notes = q.Collection('notes');

let hub: TestHub;
let secret: string;
let db: Database;

beforeEach(async () => {
  hub = await openHub();
  await hub.client().query(q.CreateCollection({ name: 'notes' }));
  ({ secret } = await hub.client().query(q.CreateKey({ role: 'admin' })));
  db = await openDatabase();
});
afterEach(async () => {
  await db.close();
  await hub.close();
});

test.each<[string, () => Promise<unknown>]>([
  ['openDatabase() of tests', () => openDatabase('notes', null as never)],
  ['openDatabase() of folders', () => openFolder('/nowhere', null as never)],
  ['openHub()', () => openHub(null as never)],
  ['openHub() with a misspelt option', () => openHub({ clok: undefined } as object)],
  ['connect()', () => connect(null as never)],
  [
    'connect() with a misspelt option',
    () => connect({ url: hub.url, secret, timeoutMs: 5 } as Parameters<typeof connect>[0]),
  ],
])('%s refuses invalid options', async (_, call) => {
  await expect(call()).rejects.toBeInstanceOf(UsageError);
});

const syncWith = (sets: readonly unknown[]) =>
  db.sync({ url: hub.url, secret, sets: sets as never[] });

test.each([0, -1, 1.5, NaN, Infinity, 600_001, '5000', null])(
  '`timeoutMs` of a query cannot be %s, wherever it is answered',
  async (given) => {
    const timeoutMs = given as number;
    const { client } = await syncWith([q.Documents(notes)]);
    const refused = {
      code: 'bad request',
      description: 'The option `timeoutMs` must be an integer from 1 to 600000.',
    };
    for (const options of [{}, { at: 'hub' }, { at: 'hub-or-copy' }, { at: 'complete' }] as const)
      await expect(client.query(1, { ...options, timeoutMs })).rejects.toMatchObject(refused);
    await expect(db.client().query(1, { timeoutMs })).rejects.toMatchObject(refused);
    await expect(client.query(1, { timeoutMs: 600_000 })).resolves.toBe(1);
  },
);

test('the error for invalid tags names the option', async () => {
  await expect(db.client().query(1, { tags: { 'my page': 'x' } })).rejects.toMatchObject({
    code: 'bad request',
    description:
      'The option `tags`: invalid tags: invalid key, expected 1 to 40 letters, digits and underscores.',
  });
});

test.each<[string, unknown, string]>([
  ['a name', 'notes', '"notes"'],
  ['null', null, 'null'],
  ['a list', [q.Documents(notes)], 'an object'],
  ['a function', () => 1, '() => 1'],
  ['an object with a function', { set: () => 1 }, 'an object'],
  ['a collection', notes, '{"collection":"notes"}'],
  ['a page', q.Paginate(q.Documents(notes)), '{"paginate":{"documents":{"collection":"notes"}}}'],
])('sync() refuses %s in the place of a set', async (_, given, shown) => {
  const refused = (at: number) => ({
    code: 'invalid_usage',
    description: `The option \`sets.${at}\` must be a set or a ref, but is ${shown}.`,
  });
  await expect(syncWith([q.Documents(notes), given])).rejects.toMatchObject(refused(1));
  const sync = await syncWith([q.Documents(notes)]);
  await expect(sync.setSets([given as never])).rejects.toMatchObject(refused(0));
  await sync.setSets([q.Ref(notes, '1'), q.Union(q.Documents(notes))]);
});

const cannotBeSent = () => 1;
test.each<[string, (sync: Sync) => Promise<unknown>, string]>([
  [
    'timeoutMs',
    ({ client }) => client.query(1, { timeoutMs: [cannotBeSent] as never }),
    'a string or a number, but is an object',
  ],
  [
    'at',
    ({ client }) => client.query(1, { at: { cannotBeSent } as never }),
    'a string or a number, but is an object',
  ],
  [
    'at',
    async ({ client }) =>
      client.subscribe(1, { next: cannotBeSent }, { at: [cannotBeSent] as never }),
    'a string or a number, but is an object',
  ],
  [
    'tags',
    ({ client }) => client.query(1, { tags: cannotBeSent as never }),
    'a value, but is () => 1',
  ],
  [
    'secret',
    async () => db.client({ secret: { cannotBeSent } as never }),
    'a secret: without it, the client is the admin',
  ],
  [
    'login',
    () =>
      db.sync({ url: hub.url, sets: [], login: { user: cannotBeSent, password: 'p', key: 'k' } }),
    '{ user, password, key }',
  ],
  [
    'id',
    ({ writes }) => writes.settled(cannotBeSent as never),
    'a string that is not empty, but is () => 1',
  ],
  [
    'id',
    ({ writes }) => writes.resolve({ cannotBeSent } as never, { discard: true }),
    'a string that is not empty, but is an object',
  ],
])(
  'an option that cannot be sent to the worker is refused by its name: %s',
  async (name, call, expected) => {
    const sync = await syncWith([q.Documents(notes)]);
    await expect(call(sync)).rejects.toThrow(`The option \`${name}\` must be ${expected}.`);
  },
);

test('only `user`, `password` and `key` of a login go to the worker', async () => {
  const more = { user: q.Ref(notes, '1'), password: 'secret', key: 'mistyped', cannotBeSent };
  const unknown = { code: 'unauthorized', description: 'The hub does not know this `key`.' };
  const sync = db.sync({ url: hub.url, login: more, sets: [q.Documents(notes)] });
  await expect(sync).rejects.toMatchObject(unknown);
  const key = { cannotBeSent } as never;
  for (const login of [
    { ...more, key },
    { ...more, user: cannotBeSent },
  ])
    await expect(db.unlock(login)).rejects.toThrow('db.unlock needs');
});

test('a first sync without a login rejects with `login_needed`', async () => {
  const sync = () => db.sync({ url: hub.url, sets: [q.Documents(notes)] });
  await expect(sync()).rejects.toMatchObject({ code: 'login_needed', status: 401 });
  await syncWith([q.Documents(notes)]);
  await sync();
});

test('a session with invalid sets has the error `invalid_usage`, with or without a known user', async () => {
  const stateOf = async () => {
    const session = new Session({ database: db, sync: { url: hub.url, sets: [notes] } });
    const stop = session.start();
    await expect.poll(() => session.get().state).not.toBe('opening');
    stop();
    return session.get();
  };
  const refused = { state: 'logged-out', error: { code: 'invalid_usage' } };
  expect(await stateOf()).toMatchObject(refused);
  await syncWith([q.Documents(notes)]);
  expect(await stateOf()).toMatchObject(refused);
});

test('a login with a key that the hub does not know names the key', async () => {
  const login = { user: q.Ref(notes, '1'), password: 'secret', key: 'mistyped' };
  const unknown = { code: 'unauthorized', description: 'The hub does not know this `key`.' };
  const sync = () => db.sync({ url: hub.url, login, sets: [q.Documents(notes)] });
  await expect(sync()).rejects.toMatchObject(unknown);
  await syncWith([q.Documents(notes)]);
  await db.signOut();
  await expect(db.unlock(login)).rejects.toMatchObject(unknown);
});

test('writes are listed by their states', async () => {
  const { client, writes } = await syncWith([q.Documents(notes)]);
  await (
    await client.submit(q.Create(notes, { data: {} }))
  ).settled;
  expect(await writes.list({ states: ['refused', 'local'] })).toEqual([]);
  expect(await writes.list({ states: ['confirmed'] })).toMatchObject([{ state: 'confirmed' }]);
  expect(await writes.list()).toHaveLength(1);
});

test('the error for an unknown write does not say that it existed', async () => {
  const { writes } = await syncWith([q.Documents(notes)]);
  const description = 'There is no write 9.9, or it is already resolved.';
  for (const call of [writes.settled('9.9'), writes.resolve('9.9', { discard: true })])
    await expect(call).rejects.toMatchObject({ code: 'not found', description });
});

test('the error for an unknown time unit lists the valid units', async () => {
  const added = q.TimeAdd(q.Now(), 1, 'week' as never);
  await expect(db.client().query(added)).rejects.toMatchObject({
    description:
      'Time Unit expected, String provided. There are: day, half day, hour, minute, second, millisecond, microsecond, nanosecond.',
  });
});

test('the error for a bare function in a role suggests q.Query()', async () => {
  const predicate = (ref: unknown): unknown => ref;
  const actions = { read: predicate as never };
  const role = q.CreateRole({ name: 'reader', privileges: { resource: notes, actions } });
  await expect(db.client().query(role)).rejects.toMatchObject({
    description:
      'No form/function found, or invalid argument keys: { lambda, expr }. Put it into q.Query().',
  });
});

test('over HTTP, error descriptions are those of Fauna', async () => {
  const ask = async (body: unknown): Promise<unknown> => {
    const headers = { authorization: `Bearer ${db.rootSecret}`, 'x-faunadb-api-version': '4' };
    const answer = await db.fetch('/', { method: 'POST', headers, body: JSON.stringify(body) });
    return answer.json();
  };
  expect(await ask({ time_add: { now: null }, offset: 1, unit: 'week' })).toMatchObject({
    errors: [{ description: 'Time Unit expected, String provided.' }],
  });
  expect(await ask([{ lambda: 'x', expr: 1 }])).toMatchObject({
    errors: [
      { description: 'No form/function found, or invalid argument keys: { lambda, expr }.' },
    ],
  });
});
