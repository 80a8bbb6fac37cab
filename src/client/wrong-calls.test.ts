/** Calls with wrong arguments: each fails with a code, and the worker gets no message. */
import { expect, test } from 'vitest';
import type { QueryCall } from '../host/query.ts';
import {
  forgetDatabase,
  openDatabase,
  q,
  Ref,
  salvageDatabase,
  UsageError,
  type Database,
} from '../index.ts';
import { copyAnswers, openFake, syncOptions } from './testing/fake-worker.ts';

const none = null as never;
const next = (): void => undefined;
const photo = `file:${'0'.repeat(64)}`;

/** A call may throw at once, or reject later. */
const failureOf = async (call: () => unknown): Promise<unknown> => {
  try {
    await call();
  } catch (error) {
    return error;
  }
  throw new Error('The call was not refused.');
};

const CALLS: Readonly<Record<string, (db: Database) => unknown>> = {
  openDatabase: () => openDatabase('notes', none),
  'forgetDatabase of a user who is not there': () =>
    forgetDatabase('notes', { identity: undefined as never }),
  'salvageDatabase of a user who is not there': () =>
    salvageDatabase('notes', { into: 'notes-2', identity: undefined as never }),
  query: (db) => db.client().query(1, none),
  queryWithMetrics: (db) => db.client().queryWithMetrics(1, none),
  subscribe: (db) => db.client().subscribe(1, { next }, none),
  paginate: (db) => db.client().paginate([], none),
  'paginate, of its queries': (db) => db.client().paginate([], {}, none).nextPage(),
  signOut: (db) => db.signOut(none),
  unlock: (db) => db.unlock(none),
  'unlock with nothing': (db) => db.unlock(undefined as never),
  fetch: (db) => db.fetch(none),
  'fetch of nothing': (db) => db.fetch(undefined as never),
  'logs.request': (db) => db.logs.request(none),
  'logs.request of nothing': (db) => db.logs.request(undefined as never),
  'logs.list': (db) => db.logs.list(none),
  'logs.createUrl': (db) => db.logs.createUrl('1', none),
  'files.put': (db) => db.files.put(new Blob(['x']), none),
  'files.get': (db) => db.files.get(photo, none),
  'files.get with a misspelt option': (db) => db.files.get(photo, { off: 1 } as never),
  'files.fetch': (db) => db.files.fetch(photo, none),
  'files.fetchAll': (db) => db.files.fetchAll(db.client(), q.Documents(q.Collection('n')), none),
  'files.send': (db) => db.files.send(photo, none),
  sync: (db) => db.sync(none),
  submit: async (db) => (await db.sync(syncOptions)).client.submit(1, none),
  'writes.list': async (db) => (await db.sync(syncOptions)).writes.list(none),
  'sync without a secret': (db) => db.sync({ ...syncOptions, secret: none }),
  'sync with an empty secret': (db) => db.sync({ ...syncOptions, secret: '' }),
  'sync with a number for a secret': (db) => db.sync({ ...syncOptions, secret: 5 as never }),
  'sync with a login whose key is empty': (db) =>
    db.sync({ url: 'http://hub.example', login: { user: 1, password: 'p', key: '' }, sets: [] }),
  'sync with a secret and a login': (db) =>
    db.sync({ ...syncOptions, login: { user: 1, password: 'p', key: 'k' } }),
  'sync with a hole in its sets': (db) =>
    // oxlint-disable-next-line no-sparse-arrays -- the mistake to be refused
    db.sync({ ...syncOptions, sets: [, q.Documents(q.Collection('notes'))] as never }),
  'each page': (db) =>
    db
      .client()
      .paginate([])
      .each(undefined as never),
  'each page backwards': (db) =>
    db
      .client()
      .paginate([])
      .eachReverse({} as never),
  'Ref of no id': () => q.Ref(q.Collection('notes'), undefined as never),
  'writes.list with a misspelt option': async (db) =>
    (await db.sync(syncOptions)).writes.list({ state: ['local'] } as object),
};

test.each(Object.entries(CALLS))('%s: invalid arguments are refused', async (_, call) => {
  const { db } = await openFake(copyAnswers);
  expect(await failureOf(() => call(db))).toBeInstanceOf(UsageError);
  await db.close();
});

test('the error for options that are not an object names their type', async () => {
  const { db } = await openFake();
  const wrong = (given: unknown) => failureOf(() => db.client().query(1, given as object));
  expect(await wrong('hub')).toMatchObject({
    description: 'Options must be an object, not string.',
  });
  expect(await wrong(5)).toMatchObject({ description: 'Options must be an object, not number.' });
  expect(await wrong(null)).toMatchObject({ description: 'Options must be an object, not null.' });
  await db.close();
});

test('the error does not quote a secret passed in the place of options', async () => {
  const { db } = await openFake();
  const secret = 'fnAESecretOfSomebody';
  const error = await failureOf(() => db.client(secret as never));
  expect(error).toBeInstanceOf(UsageError);
  expect((error as Error).message).not.toContain(secret);
  await db.close();
});

/** Values passed by mistake, such as the controller instead of its signal. */
const wrongSignals = [new AbortController(), true, 'abort', 5];

const WITH_SIGNAL: Readonly<Record<string, (db: Database, signal: never) => unknown>> = {
  query: (db, signal) => db.client().query(1, { signal }),
  subscribe: (db, signal) => db.client().subscribe(1, { next }, { signal }),
  paginate: (db, signal) => db.client().paginate([], {}, { signal }).nextPage(),
  'files.get': (db, signal) => db.files.get(photo, { signal }),
  'files.fetch': (db, signal) => db.files.fetch(photo, { signal }),
  'files.fetchAll': (db, signal) =>
    db.files.fetchAll(db.client(), q.Documents(q.Collection('n')), { signal }),
  submit: async (db, signal) => (await db.sync(syncOptions)).client.submit(1, { signal }),
};

test.each(Object.entries(WITH_SIGNAL))('%s() refuses an invalid signal', async (_, call) => {
  const { db } = await openFake(copyAnswers);
  for (const signal of wrongSignals) {
    const failure = await failureOf(() => call(db, signal as never));
    expect(failure).toBeInstanceOf(UsageError);
    expect(failure).toMatchObject({
      description: expect.stringMatching(/^The option `signal` must be an AbortSignal, but is /),
    });
  }
  await db.close();
});

test.each([undefined, null, ''])(
  'openDatabase() with the identity %j does not open the database of everybody',
  async (identity) => {
    const failure = await failureOf(() => openDatabase('notes', { identity: identity as never }));
    expect(failure).toMatchObject({
      code: 'invalid_usage',
      description: `The option \`identity\` must be a string that is not empty, but is ${JSON.stringify(identity)}.`,
    });
  },
);

const copyOf = async (db: Database) => db.sync(syncOptions);

/** Calls with a wrong option, and the name of the option that the error quotes. */
const WRONG_OPTIONS: Readonly<Record<string, readonly [string, (db: Database) => unknown]>> = {
  'query, a traceparent': [
    'traceparent',
    (db) => db.client().query(1, { traceparent: 5 as never }),
  ],
  'query, a time limit': ['timeoutMs', (db) => db.client().query(1, { timeoutMs: next as never })],
  'query, the place of its answer': [
    'at',
    (db) => db.client().query(1, { at: Symbol('hub') as never }),
  ],
  'fetch, a method': ['method', (db) => db.fetch('/', { method: 5 as never })],
  'files.put, a misspelt name': [
    'nam',
    (db) => db.files.put(new Blob(['x']), { nam: 'x' } as object),
  ],
  'files.put, a name': ['name', (db) => db.files.put(new Blob(['x']), { name: 5 as never })],
  'files.get, the option to wait': ['wait', (db) => db.files.get(photo, { wait: 'no' as never })],
  'files.get, a document': ['of', (db) => db.files.get(photo, { of: none })],
  'files.fetchAll, a misspelt signal': [
    'signall',
    (db) =>
      db.files.fetchAll(db.client(), q.Documents(q.Collection('n')), { signall: 1 } as object),
  ],
  'files.send, an option of get()': [
    'wait',
    (db) => db.files.send(photo, { of: new Ref('1', new Ref('notes')), wait: true } as never),
  ],
  'logs.request, a misspelt member': [
    'time_stop',
    (db) => db.logs.request({ time_start: '', time_end: '', time_stop: '' } as never),
  ],
  'logs.createUrl, a misspelt version': [
    'versoin',
    (db) => db.logs.createUrl('1', { versoin: 1 } as object),
  ],
  'logs.list, misspelt states': ['stats', (db) => db.logs.list({ stats: [] } as object)],
  'signOut, the option to forget': ['forget', (db) => db.signOut({ forget: 'no' as never })],
  'signOut, the option to discard': [
    'discardUnsent',
    (db) => db.signOut({ forget: true, discardUnsent: 1 as never }),
  ],
  'submit, a label': [
    'label',
    async (db) => (await copyOf(db)).client.submit(1, { label: 5 as never }),
  ],
  'submit, data that JSON cannot hold': [
    'data',
    async (db) => (await copyOf(db)).client.submit(1, { data: next }),
  ],
  'writes.list, a number of states': [
    'states',
    async (db) => (await copyOf(db)).writes.list({ states: 5 as never }),
  ],
  'writes.list, no states': [
    'states',
    async (db) => (await copyOf(db)).writes.list({ states: none }),
  ],
  'writes.list, unknown states': [
    'states',
    async (db) => (await copyOf(db)).writes.list({ states: ['refusd'] as never }),
  ],
};

test.each(Object.entries(WRONG_OPTIONS))(
  'the error names the invalid option: %s',
  async (_, [name, call]) => {
    const { db } = await openFake(copyAnswers);
    const failure = await failureOf(() => call(db));
    expect(failure).toBeInstanceOf(UsageError);
    expect(failure).toMatchObject({ description: expect.stringContaining(`\`${name}\``) });
    await db.close();
  },
);

test.each([0, -1, 0n, null])(
  'paginate() refuses pages of %s elements, which never end',
  async (size) => {
    const { db } = await openFake();
    const pages = () => db.client().paginate([1, 2], { size: size as never, after: [1] });
    expect(pages).toThrow(UsageError);
    expect(pages).toThrow('The option `size` must be an integer from 1 to 100,000, but is ');
    db.client().paginate([1, 2], { size: q.Add(1, 1) });
    await db.close();
  },
);

test('fetchAll() refuses anything but a client', async () => {
  const { db } = await openFake();
  for (const client of [q.Documents(q.Collection('n')), none, undefined]) {
    const call = db.files.fetchAll(client as never, undefined as never);
    await expect(call).rejects.toMatchObject({
      code: 'invalid_usage',
      description: 'fetchAll() takes a client and a set.',
    });
  }
  await db.close();
});

test('fetch() refuses an invalid signal before it sends anything', async () => {
  const { db } = await openFake({ http: () => Promise.reject(new Error('It was sent.')) });
  for (const signal of wrongSignals)
    await expect(db.fetch('/', { signal: signal as never })).rejects.toMatchObject({
      code: 'invalid_usage',
      description: expect.stringMatching(/^The option `signal` must be an AbortSignal, but is /),
    });
  await db.close();
});

test('writes.list() refuses an unknown state', async () => {
  const { db } = await openFake(copyAnswers);
  const { writes } = await db.sync(syncOptions);
  await expect(writes.list({ states: ['refusd' as 'refused'] })).rejects.toMatchObject({
    code: 'invalid_usage',
    description: expect.stringMatching(
      /^The option `states` must be 'local' or .* or 'refused', but is "refusd"\.$/,
    ),
  });
  await expect(writes.list({ states: 'refused' as never })).rejects.toMatchObject({
    description: 'The option `states` must be an array, but is "refused".',
  });
  await db.close();
});

test('the error for a misspelt option suggests the nearest one', async () => {
  const { db } = await openFake();
  const { sets, ...others } = syncOptions;
  await expect(db.sync({ ...others, set: sets } as never)).rejects.toMatchObject({
    description: 'There is no option `set`. Did you mean `sets`?',
  });
  await db.close();
});

test('the error for an invalid secret does not quote it', async () => {
  const { db } = await openFake(copyAnswers);
  await expect(db.sync({ ...syncOptions, secret: 5 as never })).rejects.toMatchObject({
    description: 'The option `secret` must be a string that is not empty.',
  });
  await db.close();
});

test('q.Ref() names the missing argument if the id is undefined', () => {
  expect(() => q.Ref(q.Collection('notes'), undefined as never)).toThrow(
    'q.Ref: argument 2 is required, but is undefined.',
  );
});

test('null tags and a null signal are ignored, and a signal may be an EventTarget', async () => {
  const calls: QueryCall[] = [];
  const { db } = await openFake({
    query: async (call) => {
      calls.push(call);
      return { status: 200, body: '{"resource":1}' };
    },
  });
  await db.client().query(1, { tags: none, signal: none });
  expect(calls).toMatchObject([{ tags: undefined }]);
  // Polyfills for old browsers have signals like this.
  const signal = Object.assign(new EventTarget(), { aborted: false }) as AbortSignal;
  expect(await db.client().query(1, { signal })).toBe(1);
  await db.close();
});
