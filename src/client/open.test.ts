import { afterEach, expect, test, vi } from 'vitest';
import { DatabaseClosed, openDatabase, q, UnavailableError, Unsupported } from '../index.ts';
import { startWorker } from './connection/start-worker.ts';
import { FakeWorker, METRICS, missing, openFake, type FakeAnswers } from './testing/fake-worker.ts';

afterEach(() => vi.unstubAllGlobals());

const echo: FakeAnswers = {
  query: ({ query }) => Promise.resolve({ status: 200, body: `{"resource":${query}}` }),
};

test('openDatabase() rejects where there is no Worker', async () => {
  await expect(openDatabase('notes')).rejects.toThrow('only be opened in a page');
  await expect(openDatabase('notes')).rejects.toBeInstanceOf(Unsupported);
});

test('openDatabase() refuses each invalid option with its own message', async () => {
  const wrong = (name: unknown, options: object = {}) => openDatabase(name as string, options);
  await expect(wrong('')).rejects.toThrow('The name of a database');
  await expect(wrong('notes', { durability: 'loose' })).rejects.toThrow("'strict' or 'relaxed'");
  await expect(wrong('notes', { hashCost: 9 })).rejects.toThrow(
    'The option `hashCost` must be an integer from 10 to 14, but is 9.',
  );
  await expect(wrong('notes', { log: true as never })).rejects.toThrow('`log` must be an object');
  await expect(wrong('notes', { identity: '' })).rejects.toThrow('`identity` must be a string');
  await expect(wrong('notes', { audience: '' })).rejects.toThrow('`audience`');
  await expect(wrong('notes', { hashCost: 99 })).rejects.toThrow('from 10 to 14');
  await expect(wrong('notes', { worker: 'worker.js' })).rejects.toThrow(
    '`worker` must be a function, but is "worker.js".',
  );
  await expect(wrong('notes', { persist: 'yes' })).rejects.toThrow('`persist` must be true or');
  await expect(wrong('notes', { log: { enabled: 1 } })).rejects.toThrow('`log.enabled` must be');
  await expect(wrong('notes', { log: { retentionDays: 0 } })).rejects.toThrow('retentionDays');
  await expect(wrong('notes', { log: { maxBytes: -1 } })).rejects.toThrow('maxBytes');
});

test.each<[object, string]>([
  [{ durabilty: 'relaxed' }, '`durabilty`. Did you mean `durability`?'],
  [{ hashcost: 12 }, '`hashcost`. Did you mean `hashCost`?'],
  [{ log: { enable: true } }, '`log.enable`. Did you mean `log.enabled`?'],
  [{ retentionDays: 7 }, '`retentionDays`. Did you mean `log.retentionDays`?'],
  [{ constructor: 1 }, '`constructor`. There are: '],
])('openDatabase() refuses an option that does not exist: %j', async (options, sentence) => {
  const fake = new FakeWorker(echo);
  const opening = openDatabase('notes', { worker: () => fake.asWorker(), ...options });
  await expect(opening).rejects.toMatchObject({
    name: 'UsageError',
    code: 'invalid_usage',
    message: expect.stringContaining(`There is no option ${sentence}`),
  });
  expect(fake.opened).toEqual([]);
});

test('openDatabase() does not quote an invalid secret', async () => {
  const opening = openDatabase('notes', { unlock: 'canary' as never });
  await expect(opening).rejects.toThrow(/^(?!.*canary)The option `unlock` must be/);
});

test.each([{}, { secret: 5 }, { user: q.Ref(q.Collection('users'), '1') }, { password: 'p' }])(
  'openDatabase() refuses an invalid login before it starts a worker: %j',
  async (unlock) => {
    const fake = new FakeWorker(echo);
    const worker = () => fake.asWorker();
    const opening = openDatabase('notes', { worker, unlock: unlock as never });
    await expect(opening).rejects.toThrow('The option `unlock` must be { secret }, {');
    expect(fake.opened).toEqual([]);
  },
);

test('openDatabase() passes its options to the worker', async () => {
  const fake = new FakeWorker(echo);
  const db = await openDatabase('notes', {
    worker: () => fake.asWorker(),
    durability: 'relaxed',
    hashCost: 11,
  });
  expect(fake.opened).toMatchObject([
    {
      name: 'notes',
      settings: {
        durability: 'relaxed',
        hashCost: 11,
        audience: undefined,
        log: { enabled: false, retentionDays: 30, maxBytes: 2 ** 26 },
      },
      rootSecret: undefined,
      syncSecret: undefined,
    },
  ]);
  expect([db.name, db.rootSecret, db.loss]).toEqual(['notes', 'root', undefined]);
  await db.close();
  expect(fake.isTerminated).toBe(true);
});

test('openDatabase() rejects with the refusal of the worker, and terminates the worker', async () => {
  const fake = new FakeWorker({
    open: () =>
      Promise.resolve({
        ok: false,
        refusal: { code: 'storage_unavailable', status: 503, description: 'Storage is off.' },
      }),
  });
  const opening = openDatabase('notes', { worker: () => fake.asWorker() });
  await expect(opening).rejects.toMatchObject({ code: 'storage_unavailable', status: 503 });
  expect(fake.isTerminated).toBe(true);
});

test('startWorker() has different errors for a failing, a silent and an outdated worker', async () => {
  const failing = new FakeWorker({}, null);
  const failed = startWorker(() => failing.asWorker());
  failing.dispatchEvent(Object.assign(new Event('error'), { message: 'no such file' }));
  await expect(failed).rejects.toThrow('failed to load: no such file');
  expect(failing.isTerminated).toBe(true);

  const silent = new FakeWorker({}, null);
  await expect(startWorker(() => silent.asWorker(), { readyMs: 5 })).rejects.toThrow(
    'did not respond within',
  );
  expect(silent.isTerminated).toBe(true);

  const old = new FakeWorker({}, { type: 'burrow-ready', protocol: 0 });
  await expect(startWorker(() => old.asWorker())).rejects.toThrow('different builds');

  const none = () => {
    throw new Error('refused by policy.');
  };
  await expect(startWorker(none)).rejects.toThrow(
    /could not be started: refused by policy\. .*trusted-types burrow.*option `worker`/,
  );
  const later = (): Promise<Worker> => Promise.resolve(new FakeWorker().asWorker());
  for (const wrong of [() => undefined, later])
    await expect(startWorker(wrong as never)).rejects.toMatchObject({
      code: 'worker_not_started',
      message: expect.stringContaining('the option `worker` returned none. Check'),
    });
});

test('a lost worker rejects pending queries, and the next query starts another worker', async () => {
  const first = new FakeWorker({ query: () => missing });
  const second = new FakeWorker(echo);
  const workers = [first, second];
  const db = await openDatabase('notes', { worker: () => workers.shift()!.asWorker() });
  const pending = [db.client().query(q.Now()), db.client().query(1)];
  await db.verify();
  first.dispatchEvent(Object.assign(new Event('error'), { message: 'out of memory' }));
  for (const each of pending) {
    await expect(each).rejects.toBeInstanceOf(UnavailableError);
    await expect(each).rejects.toMatchObject({ code: 'worker_lost', status: 503 });
  }
  expect(first.isTerminated).toBe(true);
  expect(await db.client().query(7)).toBe(7);
  expect(second.opened[0]?.rootSecret).toBe('root');
});

test('an exception in the worker becomes an error with the status 500', async () => {
  const { db } = await openFake({ verify: () => Promise.reject(new Error('oh')) });
  await expect(db.verify()).rejects.toMatchObject({ status: 500, description: 'oh' });
});

test('close() waits for running queries and refuses later ones', async () => {
  let finish = (): void => undefined;
  const promise = new Promise<void>((resolve) => {
    finish = resolve;
  });
  const fake = new FakeWorker({
    query: async () => {
      await promise;
      return { status: 200, body: '{"resource":1}' };
    },
    close: async () => {
      await promise;
      return { ok: true, value: undefined };
    },
  });
  const db = await openDatabase('notes', { worker: () => fake.asWorker() });
  const running = db.client().query(1);
  await db.verify();
  const closing = db.close();
  await expect(db.client().query(2)).rejects.toThrow('was closed. Open it again');
  finish();
  expect(await running).toBe(1);
  await closing;
  await db.close();
  await expect(db.verify()).rejects.toBeInstanceOf(DatabaseClosed);
});

test('two calls of close() both resolve when the worker has closed the database', async () => {
  const ended: string[] = [];
  const { db } = await openFake({
    close: async () => {
      await new Promise((resolve) => setImmediate(resolve));
      ended.push('let go');
      return { ok: true, value: undefined };
    },
  });
  const first = db.close().then(() => ended.push('first'));
  const second = db.close().then(() => ended.push('second'));
  await Promise.all([first, second]);
  expect(ended).toEqual(['let go', 'first', 'second']);
});

test('destroy() rejects after close(), and may be called twice', async () => {
  const { db } = await openFake();
  await db.close();
  await expect(db.destroy()).rejects.toBeInstanceOf(DatabaseClosed);
  const forgotten = db.signOut({ forget: true, discardUnsent: true });
  await expect(forgotten).rejects.toBeInstanceOf(DatabaseClosed);

  const { db: other } = await openFake();
  await Promise.all([other.destroy(), other.destroy()]);
  await other.destroy();
});

test('a database that is closed by its worker fires `closed` and refuses queries', async () => {
  const { db, fake } = await openFake();
  const pending = db.client().query(1);
  const told = new Promise<string>((resolve) => {
    db.addEventListener('closed', ({ detail }) => resolve(detail));
  });
  fake.emit({ type: 'closed', description: 'The database was deleted in another tab.' });
  expect(await told).toBe('The database was deleted in another tab.');
  const refused = {
    code: 'storage_unavailable',
    description: 'The database was deleted in another tab.',
  };
  await expect(pending).rejects.toMatchObject(refused);
  await expect(db.client().query(1)).rejects.toMatchObject(refused);
});

test('progress of the worker is an event of the database', async () => {
  const { db, fake } = await openFake();
  const progress = new Promise((resolve) => {
    db.addEventListener('progress', ({ detail }) => resolve(detail));
  });
  fake.emit({ type: 'progress', task: 'index', name: 'all', done: 5, isComplete: false });
  expect(await progress).toEqual({ task: 'index', name: 'all', done: 5, isComplete: false });
  await db.close();
});

test('`loss` is set until it is acknowledged, and a loss that a new worker finds is an event', async () => {
  let acknowledged = 0;
  const first = new FakeWorker({
    ...echo,
    acknowledgeLoss: () => {
      acknowledged += 1;
      return Promise.resolve({ ok: true, value: undefined });
    },
  });
  const second = new FakeWorker(echo);
  first.loss = { kind: 'rolled-back', lastCommit: new Date(7) };
  second.loss = { kind: 'recreated', lastCommit: undefined };
  const workers = [first, second];
  const db = await openDatabase('notes', { worker: () => workers.shift()!.asWorker() });
  expect(db.loss).toEqual({
    kind: 'rolled-back',
    lastCommit: new Date(7),
    description:
      'The browser reverted this database to an earlier state. Commits up to 1970-01-01T00:00:00.007Z are missing.',
  });
  expect(db.persistence).toBe('best-effort');
  await db.acknowledgeLoss();
  expect([db.loss, acknowledged]).toEqual([undefined, 1]);
  const told = new Promise((resolve) => {
    db.addEventListener('loss', ({ detail }) => resolve(detail.description));
  });
  first.dispatchEvent(new Event('error'));
  await db.client().query(1);
  expect(await told).toBe(
    'All data of this database is lost: the browser deleted it or lost its files. The database is now empty.',
  );
  await db.close();
});

test('a write succeeds even if navigator.storage.persist() throws', async () => {
  const { db } = await openFake({
    query: () =>
      Promise.resolve({
        status: 201,
        body: '{"resource":1}',
        metrics: { ...METRICS, writeOps: 1 },
      }),
  });
  const persist = vi.fn<() => void>(() => {
    throw new DOMException('', 'SecurityError');
  });
  vi.stubGlobal('navigator', { storage: { persist } });
  expect(await db.client().query(q.Add(1, 2))).toBe(1);
  await expect.poll(() => persist.mock.calls.length).toBe(1);
});
