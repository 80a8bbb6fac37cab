import { expect, test } from 'vitest';
import { METRIC_NAMES } from '../src/client/testing/metric-names.ts';
import {
  BadRequest,
  NotFound,
  openDatabase,
  q,
  type QueryError,
  Ref,
  Unauthorized,
  type Database,
  type DatabaseOptions,
} from '../src/index.ts';

const memoryWorker = () =>
  new Worker(new URL('./testing/memory-main.ts', import.meta.url), { type: 'module' });

const STORES = ['rows', 'packed'] as const;

let databases = 0;
const freshName = (): string => `main-${Date.now()}-${++databases}`;
const open = (options: DatabaseOptions = {}): Promise<Database> =>
  openDatabase(freshName(), { durability: 'relaxed', ...options });

/** Creates a collection of users, and an index by which they log in. */
async function signUp(db: Database): Promise<void> {
  const admin = db.client();
  await admin.query(q.CreateCollection({ name: 'users' }));
  await admin.query(
    q.CreateIndex({
      name: 'users_by_email',
      source: q.Collection('users'),
      terms: [{ field: ['data', 'email'] }],
      unique: true,
    }),
  );
  await admin.Create(q.Collection('users'), {
    data: { email: 'alice@example.org' },
    credentials: { password: 'correct horse' },
  });
}

test.each(STORES)(
  'openDatabase() starts its worker without options, and the data is there after reopening, in the layout `%s`',
  async (store) => {
    const name = freshName();
    const db = await openDatabase(name, { store });
    const admin = db.client();
    expect(await admin.query(q.Add(1, 2))).toBe(3);
    await admin.query(q.CreateCollection({ name: 'notes' }));
    const note = await admin.Create<{ title: string }>(q.Collection('notes'), {
      data: { title: 'kept' },
    });
    expect(note.ref).toEqual(new Ref(note.ref.id, new Ref('notes', new Ref('collections'))));
    await db.close();

    // The database keeps the layout with which it was created.
    const again = await openDatabase(name, { store: store === 'rows' ? 'packed' : 'rows' });
    expect((await again.client().Get<{ title: string }>(note.ref)).data).toEqual({ title: 'kept' });
    expect(again.loss).toBeUndefined();
    await again.destroy();

    const empty = await openDatabase(name, { store });
    await expect(empty.client().Get(note.ref)).rejects.toBeInstanceOf(BadRequest);
    expect(empty.loss).toBeUndefined();
    await empty.destroy();
  },
);

test('a user signs up, logs in, queries with his token, and logs out', async () => {
  const db = await open();
  await signUp(db);
  const admin = db.client();
  const byEmail = q.Match(q.Index('users_by_email'), 'alice@example.org');
  await expect(admin.Login(byEmail, { password: 'wrong' })).rejects.toMatchObject({
    code: 'authentication failed',
    status: 400,
  });
  const token = await admin.Login(byEmail, { password: 'correct horse' });
  const alice = db.client({ secret: token.secret });
  expect(await alice.query(q.CurrentIdentity())).toEqual(token.instance);
  expect(await admin.Identify(token.instance, 'correct horse')).toBe(true);
  expect(await alice.Logout(true)).toBe(true);
  await expect(alice.query(q.CurrentIdentity())).rejects.toBeInstanceOf(Unauthorized);
  await expect(db.client({ secret: 'nonsense' }).query(1)).rejects.toBeInstanceOf(Unauthorized);
  await db.destroy();
});

test('tabs that send no query while they are locked are notified when another tab unlocks the database', async () => {
  const name = freshName();
  const tabs = [await openDatabase(name), await openDatabase(name)] as const;
  const [one, other] = tabs;
  const { secret } = await one.client().query(q.CreateKey({ role: 'admin' }));
  const heard = tabs.map((db) => {
    const events: string[] = [];
    for (const type of ['locked', 'unlocked'] as const)
      db.addEventListener(type, () => events.push(type));
    return events;
  });
  await one.signOut();
  await expect.poll(() => heard).toEqual([['locked'], ['locked']]);
  await other.unlock({ secret });
  const both = ['locked', 'unlocked'];
  await expect.poll(() => heard).toEqual([both, both]);
  for (const db of tabs) expect(await db.client().query(q.Add(1, 2))).toBe(3);
  await one.close();
  await other.destroy();
});

test('passwords are hashed in a second worker, which runs the same script, while queries continue', async () => {
  const helper = new Worker(new URL('./testing/memory-main.ts', import.meta.url), {
    type: 'module',
    name: 'burrow-hashing',
  });
  const answered = new Promise((resolve) => {
    helper.addEventListener('message', ({ data }) => resolve(data));
  });
  helper.postMessage({ task: 'hash', password: 'x', cost: 4 });
  expect(await answered).toMatch(/^\$2b\$04\$/);
  helper.terminate();

  const db = await open({ worker: memoryWorker, hashCost: 12 });
  await signUp(db);
  const admin = db.client();
  const order: string[] = [];
  const byEmail = q.Match(q.Index('users_by_email'), 'alice@example.org');
  const login = admin.Login(byEmail, { password: 'correct horse' }).then(() => order.push('login'));
  // If hashing ran in slices within this worker, only two or three queries would be done before the login.
  for (let count = 0; count < 20; count++) await admin.query(count);
  order.push('queries');
  await login;
  expect(order).toEqual(['queries', 'login']);
  await db.close();
});

test('paginate() goes forward and back through pages of documents', async () => {
  const db = await open();
  const admin = db.client();
  await admin.query(q.CreateCollection({ name: 'notes' }));
  await admin.query(
    q.Foreach(
      Array.from({ length: 10 }, (_, id) => id + 1),
      (id) => q.Create(q.Ref(q.Collection('notes'), id), { data: { id } }),
    ),
  );
  const pages = admin.paginate(q.Documents(q.Collection('notes')), { size: 4 });
  const ids = (page: Ref[]): string => page.map((ref) => ref.id).join();
  expect(ids(await pages.nextPage())).toBe('1,2,3,4');
  expect(ids(await pages.nextPage())).toBe('5,6,7,8');
  expect(ids(await pages.nextPage())).toBe('9,10');
  expect(ids(await pages.previousPage())).toBe('5,6,7,8');
  const all: unknown[] = [];
  for await (const page of pages.map((ref) => q.Select(['data', 'id'], q.Get(ref))))
    all.push(...page);
  expect(all).toEqual([9, 10]);
  await db.destroy();
});

test('queryWithMetrics() returns the metrics, and an error has its code, status and position', async () => {
  const db = await open({ worker: memoryWorker });
  const admin = db.client();
  await admin.query(q.CreateCollection({ name: 'notes' }));
  const { value, metrics } = await admin.queryWithMetrics(
    q.Create(q.Collection('notes'), { data: { a: 1 } }),
  );
  expect(value.data).toEqual({ a: 1 });
  expect(metrics.writeOps).toBeGreaterThan(0);
  expect(Object.keys(metrics).sort()).toEqual(METRIC_NAMES);
  const missing: unknown = await admin
    .query(q.Get(q.Ref(q.Collection('notes'), '99')))
    .catch((reason: unknown) => reason);
  expect(missing).toBeInstanceOf(NotFound);
  expect(missing).toMatchObject({ code: 'instance not found', status: 404, position: [] });
  await expect(admin.query(1, { tags: { 'bad name': 'x' } })).rejects.toMatchObject({
    code: 'bad request',
  });
  await db.close();
});

test.each(STORES)('live queries follow the writes of every tab, layout `%s`', async (store) => {
  const name = freshName();
  const [one, two] = await Promise.all([
    openDatabase(name, { store }),
    openDatabase(name, { store }),
  ]);
  const admin = one.client();
  await admin.query(q.CreateCollection({ name: 'notes' }));
  const seen: Record<'one' | 'two', unknown[]> = { one: [], two: [] };
  const count = q.Count(q.Documents(q.Collection('notes')));
  const observe = (tab: 'one' | 'two') => ({
    next: (value: unknown) => seen[tab].push(value),
    error: (error: QueryError | Error) => seen[tab].push(error.message),
  });
  const stop = one.client().subscribe(count, observe('one'));
  two.client().subscribe(count, observe('two'));
  await expect.poll(() => [seen.one.at(-1), seen.two.at(-1)]).toEqual([0, 0]);
  await admin.Create(q.Collection('notes'), { data: {} });
  await expect.poll(() => [seen.one.at(-1), seen.two.at(-1)]).toEqual([1, 1]);
  await two.client().Create(q.Collection('notes'), { data: {} });
  await expect.poll(() => [seen.one.at(-1), seen.two.at(-1)]).toEqual([2, 2]);
  stop();
  await admin.query(q.CreateCollection({ name: 'others' }));
  await admin.Create(q.Collection('notes'), { data: {} });
  await expect.poll(() => seen.two.at(-1)).toBe(3);
  expect([seen.one, seen.two]).toEqual([
    [0, 1, 2],
    [0, 1, 2, 3],
  ]);
  await one.close();
  await two.destroy();
});

test.each(STORES)(
  'tabs see each other’s writes at once, and destroy() closes the database in all tabs, in the layout `%s`',
  async (store) => {
    const name = freshName();
    const [one, two] = await Promise.all([
      openDatabase(name, { store }),
      openDatabase(name, { store }),
    ]);
    await one.client().query(q.CreateCollection({ name: 'counters' }));
    const counter = q.Ref(q.Collection('counters'), '1');
    await two.client().Create(counter, { data: { n: 0 } });
    const increment = (db: Database) =>
      db
        .client()
        .query(
          q.Update(counter, { data: { n: q.Add(1, q.Select(['data', 'n'], q.Get(counter))) } }),
        );
    await Promise.all(Array.from({ length: 40 }, (_, i) => increment(i % 2 ? one : two)));
    for (const db of [one, two]) {
      expect((await db.client().Get<{ n: number }>(counter)).data).toEqual({ n: 40 });
    }
    const closed = new Promise<string>((resolve) => {
      two.addEventListener('closed', ({ detail }) => resolve(detail));
    });
    await one.destroy();
    expect(await closed).toContain('deleted in another tab');
    await expect(two.client().query(1)).rejects.toThrow('deleted in another tab');
  },
);

test('db.fetch serves the HTTP API, including streams', async () => {
  const db = await open({ worker: memoryWorker });
  expect(await (await db.fetch('http://local/ping')).text()).toContain('is OK');
  const headers = { authorization: `Bearer ${db.rootSecret}`, 'x-faunadb-api-version': 4 };
  const call = async (query: unknown) =>
    (
      await db.fetch('http://local', { method: 'POST', headers, body: JSON.stringify(query) })
    ).json() as Promise<unknown>;
  await call(q.CreateCollection({ name: 'notes' }));
  await call(q.Create(q.Ref(q.Collection('notes'), '1'), { data: { n: 1 } }));
  const abort = new AbortController();
  const stream = await db.fetch('http://local/stream', {
    method: 'POST',
    headers,
    body: JSON.stringify(q.Ref(q.Collection('notes'), '1')),
    signal: abort.signal,
  });
  const reader = stream.body!.pipeThrough(new TextDecoderStream()).getReader();
  expect((await reader.read()).value).toContain('"type":"start"');
  const next = reader.read();
  await call(q.Update(q.Ref(q.Collection('notes'), '1'), { data: { n: 2 } }));
  expect((await next).value).toContain('"n":2');
  const ended = reader.read();
  abort.abort();
  await expect(ended).rejects.toMatchObject({ name: 'AbortError' });
  await db.close();
});

test('db.logs exports the query log as a gzip file', async () => {
  const db = await open({ worker: memoryWorker, log: { enabled: true } });
  const before = new Date(Date.now() - 1000);
  await db.client().query(q.Add(20, 22), { tags: { view: 'test' } });
  let record = await db.logs.request({ time_start: before, time_end: new Date(Date.now() + 1000) });
  const id = record.request_id;
  const state = async () => (record = await db.logs.status(id)).state;
  await expect.poll(state).toBe('Complete');
  const text = async (url: string) =>
    new Response((await fetch(url)).body!.pipeThrough(new DecompressionStream('gzip'))).text();
  const lines = (await text(record.presigned_url ?? ''))
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as object);
  expect(lines).toContainEqual(
    expect.objectContaining({ RESPONSE_CODE: '200', TAGS: { view: 'test' } }),
  );
  const renewed = await db.logs.createUrl(id);
  expect(renewed.version).toBeGreaterThan(record.version);
  expect(await text(renewed.presigned_url ?? '')).toContain('"view":"test"');
  expect((await db.logs.list()).results.map((each) => each.request_id)).toEqual([id]);
  await db.close();
  await expect(fetch(renewed.presigned_url ?? '')).rejects.toBeInstanceOf(TypeError);
});

test('indexes of many documents are built in the background, with progress events', async () => {
  const db = await open({ worker: memoryWorker });
  const admin = db.client();
  await admin.query(q.CreateCollection({ name: 'notes' }));
  const ids = Array.from({ length: 300 }, (_, id) => id + 1);
  await admin.query(
    q.Foreach(ids, (id) => q.Create(q.Ref(q.Collection('notes'), id), { data: { kind: 'a' } })),
  );
  const done: number[] = [];
  db.addEventListener('progress', ({ detail }) => {
    if (detail.task === 'index' && detail.name === 'by_kind') done.push(detail.done);
  });
  await admin.query(
    q.CreateIndex({
      name: 'by_kind',
      source: q.Collection('notes'),
      terms: [{ field: ['data', 'kind'] }],
    }),
  );
  await admin.whenActive(q.Index('by_kind'));
  expect(await admin.query(q.Count(q.Match(q.Index('by_kind'), 'a')))).toBe(300);
  await expect.poll(() => done.at(-1)).toBe(300);
  expect(await db.verify()).toEqual([]);
  await db.close();
});

test('an aborted write is stored if and only if it was answered', async () => {
  const db = await open();
  const client = db.client();
  await client.query(q.CreateCollection({ name: 'notes' }));
  const notes = q.Collection('notes');
  const stop = Array.from({ length: 60 }, () => new AbortController());
  const writes = stop.map(({ signal }, n) =>
    client.query(q.Create(notes, { data: { n } }), { signal }),
  );
  const ending = Promise.allSettled(writes);
  // Some are aborted during their commit, some before it: each iteration aborts at another point of the worker's work.
  for (const each of stop) {
    await client.query(1);
    each.abort();
  }
  const ended = await ending;
  const count = await client.query(q.Count(q.Documents(notes)));
  expect(ended.filter(({ status }) => status === 'fulfilled')).toHaveLength(count);
  const reasons = ended.map((each, i) =>
    each.status === 'rejected' ? each.reason === stop[i]?.signal.reason : true,
  );
  expect(reasons).not.toContain(false);
  const first = new AbortController();
  const aborted = client.query(q.Create(notes, { data: {} }), { signal: first.signal });
  first.abort();
  await expect(aborted).rejects.toBe(first.signal.reason);
  expect(await client.query(q.Count(q.Documents(notes)))).toBe(count);
  await db.destroy();
});
