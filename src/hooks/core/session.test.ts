import { getEventListeners } from 'node:events';
import { expect, test } from 'vitest';
import { copyAnswers, openFake, syncOptions } from '../../client/testing/fake-worker.ts';
import { q, UsageError, type Database, type Sync } from '../../index.ts';
import { Session } from './session.ts';

const listenersOf = (db: Database, sync: Sync): number =>
  ['locked', 'unlocked', 'closed'].reduce(
    (sum, type) => sum + getEventListeners(db, type).length,
    getEventListeners(sync, 'state').length,
  );

test('a stopped session leaves no listener on the database, and can be started again', async () => {
  const { db } = await openFake(copyAnswers);
  const sync = await db.sync(syncOptions);
  let opened = 0;
  const session = new Session({ database: () => (opened++, db), sync: syncOptions });
  const before = listenersOf(db, sync);
  // As React does in its strict mode.
  session.start()();
  for (let times = 0; times < 3; times++) {
    const stop = session.start();
    await expect.poll(() => listenersOf(db, sync)).toBe(before + 4);
    expect(session.get().state).toBe('logged-in');
    const changes: string[] = [];
    const unsubscribe = session.subscribe(() => changes.push(session.get().state));
    stop();
    expect(listenersOf(db, sync)).toBe(before);
    expect(session.get().client).toBe(sync.client);
    unsubscribe();
    expect(changes).toEqual([]);
  }
  expect(opened).toBe(1);
  await db.close();
});

test.each([
  ['a database', (db: Database) => db],
  ['a promise of the database', (db: Database) => Promise.resolve(db)],
  ['a function that returns the same database again', (db: Database) => () => db],
])(
  'after logOut({ forget: true }) the session fails if it is given the deleted database: %s',
  async (_, given) => {
    const { db } = await openFake();
    const session = new Session({ database: given(db) });
    session.start();
    await expect.poll(() => session.get().state).toBe('logged-in');
    await session.logOut({ forget: true });
    await expect.poll(() => session.get().state).not.toBe('opening');
    expect(session.get()).toMatchObject({ state: 'failed', error: { code: 'database_closed' } });
  },
);

test('a session with an invalid set has an error, even if a user is known', async () => {
  const { db } = await openFake(copyAnswers);
  const sync = { ...syncOptions, sets: [q.Collection('notes') as never] };
  const session = new Session({ database: db, sync });
  session.start();
  await expect.poll(() => session.get().state).toBe('logged-out');
  expect(session.get().error).toMatchObject({
    code: 'invalid_usage',
    message: expect.stringContaining(
      'The option `sets.0` must be a set or a ref, but is',
    ) as string,
  });
  await db.close();
});

/** A session whose sync has no answer yet, and a caller that waits for the same answer. */
async function withoutAnswer() {
  const { db, fake } = await openFake();
  const session = new Session({ database: db, sync: syncOptions });
  session.start();
  await expect.poll(() => session.get().database).toBe(db);
  const later = db.sync(syncOptions).then(
    () => 'answered',
    () => 'refused',
  );
  return { fake, session, later };
}

test('a session whose database is locked before sync() resolves is locked, not logged out', async () => {
  const { fake, session, later } = await withoutAnswer();
  fake.emit({ type: 'locked' });
  expect(await later).toBe('refused');
  expect(session.get()).toMatchObject({ state: 'locked', error: undefined });
});

test('a session whose database is closed before sync() resolves has failed', async () => {
  const { fake, session, later } = await withoutAnswer();
  fake.emit({ type: 'closed', description: 'It was deleted.' });
  expect(await later).toBe('refused');
  expect(session.get()).toMatchObject({ state: 'failed', error: { code: 'database_closed' } });
  const login = session.logIn({ secret: 's' });
  await expect(login).rejects.toMatchObject({ description: 'It was deleted.' });
});

test.each<[string, (db: Database) => Promise<void>]>([
  ['close()', (db) => db.close()],
  ['destroy()', (db) => db.destroy()],
  ['signOut({ forget: true })', (db) => db.signOut({ forget: true })],
])('after %s of the database the session has failed and has no client', async (_, end) => {
  const { db } = await openFake();
  const session = new Session({ database: db });
  session.start();
  await expect.poll(() => session.get().state).toBe('logged-in');
  await end(db);
  expect(session.get()).toMatchObject({
    state: 'failed',
    client: undefined,
    error: { code: 'database_closed' },
  });
});

test('a session has failed if logOut({ forget: true }) cannot delete the database', async () => {
  const refusal = { code: 'storage_blocked', description: 'Another tab uses it.' } as const;
  const { db } = await openFake({ destroy: () => Promise.resolve({ ok: false, refusal }) });
  const session = new Session({ database: () => db });
  session.start();
  await expect.poll(() => session.get().state).toBe('logged-in');
  await expect(session.logOut({ forget: true })).rejects.toMatchObject(refusal);
  expect(session.get()).toMatchObject({ state: 'failed', error: { code: 'database_closed' } });
});

test('two calls of logOut({ forget: true }) open only one new database', async () => {
  let opened = 0;
  const session = new Session({ database: async () => (opened++, (await openFake()).db) });
  session.start();
  await expect.poll(() => session.get().state).toBe('logged-in');
  await Promise.all([session.logOut({ forget: true }), session.logOut({ forget: true })]);
  await expect.poll(() => session.get().state).toBe('logged-in');
  expect(opened).toBe(2);
});

test('logOut({ forget: true }) opens a new database even if called again during the deletion', async () => {
  let deleted = (): void => undefined;
  let begun = (): void => undefined;
  const isDeleting = new Promise<void>((resolve) => (begun = resolve));
  const destroy = async () => {
    begun();
    await new Promise<void>((resolve) => (deleted = resolve));
    return { ok: true, value: undefined } as const;
  };
  const session = new Session({ database: async () => (await openFake({ destroy })).db });
  session.start();
  await expect.poll(() => session.get().state).toBe('logged-in');
  const { database } = session.get();
  const first = session.logOut({ forget: true });
  await isDeleting;
  const again = session.logOut({ forget: true });
  await expect(again).rejects.toMatchObject({ code: 'database_closed' });
  deleted();
  await first;
  await expect.poll(() => session.get().state).toBe('logged-in');
  expect(session.get().database).not.toBe(database);
});

test('a session that is stopped during logOut({ forget: true }) opens no new database', async () => {
  let opened = 0;
  const session = new Session({ database: async () => (opened++, (await openFake()).db) });
  const stop = session.start();
  await expect.poll(() => session.get().state).toBe('logged-in');
  const out = session.logOut({ forget: true });
  stop();
  await out;
  expect([session.get().state, opened]).toEqual(['opening', 1]);
});

test('an option that does not exist is refused: a misspelt `loginKey` would give admin rights', async () => {
  const { db } = await openFake();
  const wrong = { database: db, loginkey: 'key' };
  expect(() => new Session(wrong)).toThrow(
    'There is no option `loginkey`. There are: database, sync, loginKey.',
  );
  // Props that a component may have beside options.
  const props = { database: db, children: undefined, 'data-source': 'app.tsx:7' };
  expect(new Session(props).get().state).toBe('opening');
  await db.close();
});

test.each([undefined, null, ''])(
  'with the `loginKey` %j nobody is logged in, and password logins are refused',
  async (loginKey) => {
    const { db } = await openFake();
    const session = new Session({ database: db, loginKey: loginKey as never });
    session.start();
    await expect.poll(() => session.get().state).toBe('logged-out');
    const login = session.logIn({ user: q.Ref(q.Collection('users'), '1'), password: 'secret' });
    await expect(login).rejects.toBeInstanceOf(UsageError);
    expect(session.get()).toMatchObject({ state: 'logged-out', client: undefined });
    await db.close();
  },
);

test('logIn() refuses an invalid login', async () => {
  const { db } = await openFake();
  const session = new Session({ database: db, loginKey: 'key' });
  session.start();
  await expect.poll(() => session.get().state).toBe('logged-out');
  // Without a password, a login would be sent and counted as a failed one.
  for (const login of [undefined, null, 'ada', {}, { user: 'ada' }, { password: 'p' }])
    await expect(session.logIn(login as never)).rejects.toMatchObject({
      code: 'invalid_usage',
      description: 'logIn() takes { user, password } or { secret }.',
    });
  await db.close();
});

test('logIn() with a revoked token rejects, and the session stays logged out', async () => {
  const unauthorized = '{"errors":[{"code":"unauthorized","description":"Unauthorized"}]}';
  const { db } = await openFake({
    query: async ({ secret }) =>
      secret === 'of Ada'
        ? { status: 200, body: '{"resource":true}' }
        : { status: 401, body: unauthorized },
  });
  const session = new Session({ database: db, loginKey: 'key' });
  session.start();
  await expect.poll(() => session.get().state).toBe('logged-out');
  const revoked = session.logIn({ secret: 'revoked' });
  await expect(revoked).rejects.toMatchObject({ code: 'unauthorized' });
  expect(session.get()).toMatchObject({ state: 'logged-out', client: undefined });
  await session.logIn({ secret: 'of Ada' });
  expect(session.get().state).toBe('logged-in');
  await db.close();
});

test('logOut({ lock: false }) logs the user out of a database that stays open', async () => {
  const { db } = await openFake({
    query: async () => ({ status: 200, body: '{"resource":true}' }),
  });
  const session = new Session({ database: db, loginKey: 'key' });
  session.start();
  await expect.poll(() => session.get().state).toBe('logged-out');
  await session.logIn({ secret: 'of Ada' });
  await session.logOut({ lock: false });
  expect(session.get()).toMatchObject({ state: 'logged-out', client: undefined, database: db });
  expect(db.isLocked).toBe(false);
  await session.logIn({ secret: 'of Ben' });
  expect(session.get().state).toBe('logged-in');
  await db.close();
});

test.each([
  ['a copy, whose data belongs to one user', { sync: syncOptions, loginKey: 'key' }],
  ['a database in which everybody is the admin', {}],
])('logOut({ lock: false }) is refused for %s', async (_, options) => {
  const { db } = await openFake(copyAnswers);
  const session = new Session({ database: db, ...options });
  session.start();
  await expect.poll(() => session.get().database).toBe(db);
  const left = session.logOut({ lock: false });
  await expect(left).rejects.toMatchObject({
    description: 'logOut({ lock: false }) needs the option `loginKey` of the provider, and no hub.',
  });
  expect(db.closed).toBeUndefined();
  await db.close();
});

test.each([undefined, () => undefined, () => null])(
  'a session fails if its database is %s',
  async (database) => {
    const session = new Session({ database: database as never });
    session.start();
    await expect.poll(() => session.get().state).toBe('failed');
    expect(session.get().error).toMatchObject({
      code: 'invalid_usage',
      description: 'The option `database` must give a database.',
    });
  },
);

test.each([{}, { sync: syncOptions }])(
  'logIn() with a password requires the option `loginKey`: %j',
  async (more) => {
    const { db } = await openFake();
    const session = new Session({ database: () => db, ...more });
    session.start();
    await expect.poll(() => session.get().database).toBe(db);
    await expect(session.logIn({ user: 'ada', password: 'p' })).rejects.toMatchObject({
      code: 'invalid_usage',
      description:
        'logIn({ user, password }) needs the option `loginKey` of the provider: the secret of a client key.',
    });
    await db.close();
  },
);

test('logIn() refuses an undefined secret, even while a user is logged in', async () => {
  const { db } = await openFake(copyAnswers);
  const session = new Session({ database: db, sync: syncOptions });
  session.start();
  await expect.poll(() => session.get().state).toBe('logged-in');
  await expect(session.logIn({ secret: undefined as never })).rejects.toMatchObject({
    description: 'logIn() takes { user, password } or { secret }.',
  });
  await db.close();
});
