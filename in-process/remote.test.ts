/** Scripts that use a hub over a port. */
import { createServer } from 'node:http';
import { inspect } from 'node:util';
import { gunzipSync } from 'node:zlib';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { createLiveRoute } from '../hub/live/live-route.ts';
import { DEFAULT_SETTINGS } from '../hub/settings/settings.ts';
import { startTestHub, type TestHub } from '../hub/testing/test-hub.ts';
import { Session } from '../src/hooks/core/session.ts';
import {
  ConnectionNeeded,
  DatabaseClosed,
  NotFound,
  PermissionDenied,
  q,
  queryText,
  Unauthorized,
  UsageError,
} from '../src/index.ts';
import { connect, type RemoteDatabase } from './remote.ts';

interface Note {
  readonly title: string;
}

const notes = q.Collection<Note>('notes');
let hub: TestHub;
let remote: RemoteDatabase;

beforeAll(async () => {
  hub = await startTestHub({
    routes: (opened) => [createLiveRoute(opened, DEFAULT_SETTINGS)],
  });
  remote = await connect({ url: `${hub.url}/`, secret: hub.secret });
  const client = remote.client();
  await client.query(q.CreateCollection({ name: 'notes' }));
  await client.query(q.CreateCollection({ name: 'pages' }));
});
afterAll(async () => {
  await remote.close();
  await hub.close();
});

test('query() returns the same values as in a page', async () => {
  const made = await remote.client().query(q.Create(notes, { data: { title: 'a heron' } }));
  expect(made.data.title).toBe('a heron');
  const read = await remote.client().queryWithMetrics(q.Get(made.ref));
  expect(read.value.ref).toEqual(made.ref);
  expect(read.metrics.readOps).toBeGreaterThan(0);
  expect(await remote.client().Sum([1, 2])).toBe(3);
});

test('many queries at once cause no leak warning of Node', async () => {
  const warnings: string[] = [];
  const onWarning = ({ name }: Error): void => void warnings.push(name);
  process.on('warning', onWarning);
  const client = remote.client();
  const all = Array.from({ length: 30 }, (_, n) => client.query(q.Add(n, 1)));
  expect(await Promise.all(all)).toEqual(Array.from({ length: 30 }, (_, n) => n + 1));
  // Node emits warnings in a later turn of the event loop.
  await new Promise((resolve) => setImmediate(resolve));
  process.off('warning', onWarning);
  expect(warnings).toEqual([]);
});

test('paginate() gives all pages', async () => {
  const client = remote.client();
  const pages = q.Collection('pages');
  await client.query(q.Map([1, 2, 3, 4, 5], (n) => q.Create(pages, { data: { n } })));
  const sizes: number[] = [];
  for await (const page of client.paginate(q.Documents(pages), { size: 2 }))
    sizes.push(page.length);
  expect(sizes).toEqual([2, 2, 1]);
});

test('whenActive() waits for an index', async () => {
  const client = remote.client();
  await client.query(q.CreateIndex({ name: 'all_notes', source: notes }));
  await client.whenActive(q.Index('all_notes'));
  expect(await client.query(q.Select('active', q.Get(q.Index('all_notes'))))).toBe(true);
});

test('errors have the same classes as in a page', async () => {
  const client = remote.client();
  const failure = client.query(q.Get(q.Ref(notes, '1')));
  await expect(failure).rejects.toBeInstanceOf(NotFound);
  await expect(failure).rejects.toMatchObject({ code: 'instance not found', status: 404 });
  const stranger = remote.client({ secret: 'nobody' });
  await expect(stranger.query(1)).rejects.toBeInstanceOf(Unauthorized);
  await expect(remote.client({ secret: 'a b\n' }).query(1)).rejects.toBeInstanceOf(Unauthorized);
  const { secret } = await client.query(q.CreateKey({ role: 'client' }));
  const device = remote.client({ secret });
  await expect(device.query(q.Create(notes))).rejects.toBeInstanceOf(PermissionDenied);
  await expect(client.query(1, { tags: { é: 'x' } })).rejects.toMatchObject({
    code: 'bad request',
    description: expect.stringMatching(/^The option `tags`: invalid tags/),
  });
  await expect(client.query(1, { timeoutMs: 0 })).rejects.toMatchObject({
    code: 'bad request',
    description: 'The option `timeoutMs` must be an integer from 1 to 600000.',
  });
});

test('the hub answers every valid `at`, and an invalid `at` is refused', async () => {
  const client = remote.client();
  for (const at of ['hub', 'hub-or-copy', 'complete'] as const)
    expect(await client.queryWithMetrics(1, { at })).toMatchObject({ value: 1, from: 'hub' });
  await expect(client.query(1, { at: 'hubb' as never })).rejects.toMatchObject({
    code: 'bad request',
    description: 'The option `at` must be one of complete, hub, hub-or-copy, but is "hubb".',
  });
  const first = (at: never): Promise<unknown> =>
    new Promise((next, error) => client.subscribe(1, { next, error }, { at }));
  expect(await first('hub-or-copy' as never)).toBe(1);
  for (const at of ['hub', 'here'])
    await expect(first(at as never)).rejects.toMatchObject({
      code: 'bad request',
      description: "The option `at` of a live query is 'complete' or 'hub-or-copy'.",
    });
});

test('the error for an invalid secret gives the reason and not the secret', async () => {
  const client = remote.client();
  const key = await client.query(q.CreateKey({ role: 'server' }));
  await client.query(q.Delete(key.ref));
  const deleted = 'Unauthorized: this key was deleted, is expired, or of another database.';
  const unknown = 'Unauthorized: this is no key or token, nor the root secret of the hub.';
  for (const [secret, description] of [
    [key.secret, deleted],
    ['nobody', unknown],
    ['a b\n', unknown],
  ] as const) {
    const stranger = remote.client({ secret });
    await expect(stranger.query(1)).rejects.toMatchObject({ code: 'unauthorized', description });
    const told: string[] = [];
    const stop = stranger.subscribe(1, {
      next: () => undefined,
      error: (error) => told.push(error.description),
    });
    await expect.poll(() => told).toEqual([description]);
    stop();
  }
});

test('the database of connect() cannot be locked, and signOut({ forget: true }) only closes it', async () => {
  const other = await connect({ url: hub.url, secret: hub.secret });
  const { database } = other;
  const client = other.client();
  await expect(database.signOut()).rejects.toMatchObject({
    code: 'bad request',
    description: expect.stringContaining('`signOut({ forget: true })` closes it'),
  });
  await client.query(q.CreateCollection({ name: 'kept' }));
  await database.signOut({ forget: true });
  await expect(client.query(1)).rejects.toBeInstanceOf(DatabaseClosed);
  expect(await remote.client().query(q.Exists(q.Collection('kept')))).toBe(true);
});

test('after logOut({ forget: true }) a session over connect() accepts another login', async () => {
  const opened: RemoteDatabase[] = [];
  const open = async () => {
    const next = await connect({ url: hub.url, secret: hub.secret });
    opened.push(next);
    return next.database;
  };
  const session = new Session({ database: open, loginKey: hub.secret });
  const stop = session.start();
  await expect.poll(() => session.get().state).toBe('logged-out');
  await session.logIn({ secret: hub.secret });
  await session.logOut({ forget: true });
  await expect.poll(() => session.get().state).toBe('logged-out');
  await session.logIn({ secret: hub.secret });
  expect(await session.get().client?.query(1)).toBe(1);
  expect(opened).toHaveLength(2);
  stop();
  await opened[1]?.close();
});

test('a secret with a database name that is not ASCII reaches the hub', async () => {
  await remote.client().query(q.CreateDatabase({ name: 'кухня' }));
  const secret = `${hub.secret}:кухня:admin`;
  const kitchen = await connect({ url: hub.url, secret });
  await kitchen.client().query(q.CreateCollection({ name: 'pots' }));
  const exists = q.Exists(q.Collection('pots'));
  expect(await kitchen.client().query(exists)).toBe(true);
  expect(await remote.client().query(exists)).toBe(false);
  const told: unknown[] = [];
  const stop = kitchen.client().subscribe(exists, { next: (value) => told.push(value) });
  await expect.poll(() => told).toEqual([true]);
  stop();
  expect((await kitchen.fetch('/ping')).status).toBe(200);
  await kitchen.close();
});

test.each([[undefined], [null], [''], [5], ['a b']])(
  'connect() refuses %j as the secret, and does not use another',
  async (given) => {
    const secret = given as never;
    await expect(connect({ url: hub.url, secret })).rejects.toBeInstanceOf(UsageError);
  },
);

test.each([[undefined], [null], [''], [5]])(
  'client() refuses %j as the secret, and does not use another',
  (given) => {
    const secret = given as never;
    expect(() => remote.client({ secret })).toThrow(UsageError);
  },
);

test('the secret of connect() cannot be found in its result', () => {
  const seen = inspect(remote, { depth: 20, showHidden: true, getters: true });
  expect(seen).toContain(remote.url);
  expect(seen + JSON.stringify(remote)).not.toContain(hub.secret);
});

test('a signal aborts a query', async () => {
  const stop = new AbortController();
  const reason = new Error('enough');
  const query = remote.client().query(q.Now(), { signal: stop.signal });
  stop.abort(reason);
  await expect(query).rejects.toBe(reason);
});

test('the query log of the hub is exported', async () => {
  await remote.client().query(q.Concat(['for ', 'the log']));
  const hour = 3_600_000;
  const { request_id: id } = await remote.logs.request({
    time_start: new Date(Date.now() - hour),
    time_end: new Date(Date.now() + hour),
  });
  await expect.poll(async () => (await remote.logs.status(id)).state).toBe('Complete');
  const { presigned_url: url = '' } = await remote.logs.status(id);
  for (const file of [await fetch(url), await remote.fetch(url)])
    expect(gunzipSync(await file.arrayBuffer()).toString()).toContain('for ');
});

test('fetch() returns responses that are not JSON or have no body', async () => {
  const ping = await remote.fetch('/ping?scope=node');
  expect([ping.status, await ping.text()]).toEqual([200, expect.stringContaining('OK')]);
  expect((await remote.fetch('/ping', { method: 'HEAD' })).status).toBe(200);
});

test('fetch() passes on the events of a stream until it is aborted', async () => {
  const client = remote.client();
  const { ref } = await client.query(q.Create(notes, { data: { title: 'a heron' } }));
  const stop = new AbortController();
  const { signal } = stop;
  const how = { method: 'POST', body: queryText(ref), signal };
  const response = await remote.fetch('/stream', how);
  const reader = response.body?.pipeThrough(new TextDecoderStream()).getReader();
  const next = async () => JSON.parse((await reader?.read())?.value ?? '') as unknown;
  expect(await next()).toMatchObject({ type: 'start' });
  await client.query(q.Update(ref, { data: { title: 'an owl' } }));
  expect(await next()).toMatchObject({
    type: 'version',
    event: { action: 'update', document: { data: { title: 'an owl' } } },
  });
  stop.abort();
  await expect(reader?.read()).rejects.toMatchObject({ name: 'AbortError' });
  const refused = await remote.fetch('/stream', { method: 'POST', body: queryText(1) });
  expect([refused.status, await refused.json()]).toMatchObject([400, { errors: [{}] }]);
});

test('close() ends a stream', async () => {
  const open = await connect({ url: hub.url, secret: hub.secret });
  const how = { method: 'POST', body: queryText(q.Documents(notes)) };
  const reader = (await open.fetch('/stream', how)).body?.getReader();
  await reader?.read();
  const next = reader?.read();
  await open.close();
  await expect(next).rejects.toBeInstanceOf(DatabaseClosed);
});

test('a notice of the hub about permissions that no longer apply is a warning', async () => {
  const client = remote.client();
  await client.query(q.CreateCollection({ name: 'open', permissions: { read: 'public' } }));
  const warn = vi.spyOn(console, 'warn').mockReturnValue();
  const privileges = { resource: q.Collection('open'), actions: { read: true } };
  await client.query(q.CreateRole({ name: 'reader', privileges }));
  expect(warn.mock.calls).toEqual([
    ['Burrow:', expect.stringContaining('permissions of open no longer give access')],
  ]);
  warn.mockRestore();
});

test('an unreachable hub and a server that is not a hub cause different errors', async () => {
  const proxy = createServer(({ url }, response) =>
    url === '/moved/'
      ? response.writeHead(308, { location: '/' }).end()
      : response.writeHead(502).end('<html>no</html>'),
  );
  await new Promise<void>((resolve) => proxy.listen(0, '127.0.0.1', resolve));
  const address = proxy.address();
  const port = typeof address === 'object' && address ? address.port : 0;
  const elsewhere = await connect({ url: `http://127.0.0.1:${port}`, secret: 'any' });
  const answered = elsewhere.client().query(1);
  await expect(answered).rejects.toBeInstanceOf(ConnectionNeeded);
  await expect(answered).rejects.toThrow('status 502');
  const moved = await connect({ url: `http://127.0.0.1:${port}/moved`, secret: 'any' });
  await expect(moved.client().query(1)).rejects.toThrow('redirects to another URL');
  await moved.close();
  await new Promise((resolve) => {
    proxy.close(resolve);
    proxy.closeAllConnections();
  });
  await expect(elsewhere.client().query(1)).rejects.toThrow('could not be reached');
  const refused = `Reason: connect ECONNREFUSED 127.0.0.1:${port}.`;
  await expect(elsewhere.client().query(1)).rejects.toThrow(refused);
  const failed = new Promise((resolve) => {
    const error = ({ message }: Error) => resolve(message);
    elsewhere.client().subscribe(q.Now(), { next: () => undefined, error });
  });
  expect(await failed).toContain(refused);
  await elsewhere.close();
});

test('connect() refuses invalid options, and its error shows no secret', async () => {
  for (const url of ['', 'hub', 'ftp://hub.test', 'https://u:p@hub.test', 'https://hub.test?a=1'])
    await expect(connect({ url, secret: 'any' })).rejects.toBeInstanceOf(UsageError);
  const failure: unknown = await connect({ url: hub.url, secret: 'hush hush' }).catch(
    (reason: unknown) => reason,
  );
  expect(failure).toBeInstanceOf(UsageError);
  expect(String(failure)).not.toContain('hush');
});

test('after close() queries are refused, and nothing keeps the process running', async () => {
  const ports = (): number =>
    process.getActiveResourcesInfo().filter((name) => name === 'MessagePort').length;
  const before = ports();
  const open = await connect({ url: hub.url, secret: hub.secret });
  expect(await open.client().query(1)).toBe(1);
  await open.close();
  const late = open.client().query(1);
  await expect(late).rejects.toBeInstanceOf(DatabaseClosed);
  await expect(late).rejects.not.toThrow('openDatabase');
  await expect.poll(ports).toBe(before);
});
