/** Fauna's driver, unchanged, with the transport it chooses in Node: HTTP/2 with prior knowledge. */
import faunadb from 'faunadb';
import { afterEach, expect, test } from 'vitest';
import { metric } from '../testing/metric.ts';
import { openTestHub, type TestHub } from '../testing/test-hub.ts';

const { Client, query: q } = faunadb;

let hub: TestHub;
let clients: InstanceType<typeof Client>[] = [];

async function open(): Promise<InstanceType<typeof Client>> {
  hub = await openTestHub();
  return client(hub.secret);
}

function client(secret: string): InstanceType<typeof Client> {
  const made = new Client({ secret, domain: '127.0.0.1', port: hub.port, scheme: 'http' });
  clients.push(made);
  return made;
}

afterEach(async () => {
  await Promise.all(clients.map((each) => each.close({ force: true })));
  clients = [];
});

async function addNotes(admin: InstanceType<typeof Client>, count: number): Promise<void> {
  await admin.query(q.CreateCollection({ name: 'notes' }));
  const ids = Array.from({ length: count }, (_, n) => n + 1);
  const create = q.Create(q.Ref(q.Collection('notes'), q.Var('id')), { data: { n: q.Var('id') } });
  await admin.query(q.Foreach(ids, q.Lambda('id', create)));
}

test('the driver queries, pages and gets metrics', async () => {
  const admin = await open();
  expect(await admin.ping('all')).toBe('Scope all is OK');
  await addNotes(admin, 25);
  const note = await admin.query<{ data: { n: number } }>(q.Get(q.Ref(q.Collection('notes'), '7')));
  expect(note.data.n).toBe(7);
  const pages: number[] = [];
  await admin
    .paginate(q.Documents(q.Collection('notes')), { size: 10 })
    .each((page) => void pages.push((page as unknown[]).length));
  expect(pages).toEqual([10, 10, 5]);
  const { value, metrics } = await admin.queryWithMetrics(
    q.Count(q.Documents(q.Collection('notes'))),
  );
  expect(value).toBe(25);
  expect(metrics).toMatchObject({ 'x-query-time': expect.any(Number), 'x-txn-retries': 0 });
  expect(metrics['x-byte-read-ops']).toBeGreaterThan(0);
  const { getLastTxnTime } = admin as unknown as { getLastTxnTime?: () => number };
  expect(getLastTxnTime?.call(admin)).toBeGreaterThan(1e15);
});

test('a token of a login acts as its user until it is logged out', async () => {
  const admin = await open();
  await admin.query(q.CreateCollection({ name: 'users' }));
  const user = await admin.query<{ ref: unknown }>(
    q.Create(q.Collection('users'), { data: {}, credentials: { password: 'correct horse' } }),
  );
  const token = await admin.query<{ secret: string }>(
    q.Login(user.ref as never, { password: 'correct horse' }),
  );
  const alice = client(token.secret);
  expect(await alice.query(q.CurrentIdentity())).toEqual(user.ref);
  expect(await alice.query(q.Logout(false))).toBe(true);
  await expect(alice.query(q.CurrentIdentity())).rejects.toMatchObject({ name: 'Unauthorized' });
});

test("the driver's errors have the classes of their statuses", async () => {
  const admin = await open();
  await addNotes(admin, 1);
  const named = (name: string, message: string) => ({
    name,
    message: expect.stringContaining(message),
  });
  await expect(admin.query(q.Get(q.Ref(q.Collection('notes'), '2')))).rejects.toMatchObject(
    named('NotFound', 'instance not found'),
  );
  await expect(admin.query(q.Add(1, 'x'))).rejects.toMatchObject(
    named('BadRequest', 'invalid argument'),
  );
  await expect(client('fnAnothing').query(1)).rejects.toMatchObject(named('Unauthorized', ''));
  const key = await admin.query<{ secret: string }>(q.CreateKey({ role: 'client' }));
  await expect(
    client(key.secret).query(q.Get(q.Ref(q.Collection('notes'), '1'))),
  ).rejects.toMatchObject(named('PermissionDenied', 'permission denied'));
});

test('the driver streams documents and sets', async () => {
  const admin = await open();
  await addNotes(admin, 1);
  const events: string[] = [];
  const ref = q.Ref(q.Collection('notes'), '1');
  const stream = admin.stream
    .document(ref)
    .on(
      'snapshot',
      (document) =>
        void events.push(`snapshot ${(document as unknown as { data: { n: number } }).data.n}`),
    )
    .on(
      'version',
      (version) =>
        void events.push(
          `version ${(version as { document: { data: { n: number } } }).document.data.n}`,
        ),
    )
    .on('error', (error) => void events.push(`error ${String(error)}`))
    .start();
  const sets: string[] = [];
  const setStream = admin
    .stream(q.Documents(q.Collection('notes')))
    .on('start', () => void sets.push('start'))
    .on('set', (event) => void sets.push((event as { action: string }).action))
    .start();
  await expect.poll(() => events).toEqual(['snapshot 1']);
  await expect.poll(() => sets).toEqual(['start']);
  await admin.query(q.Update(ref, { data: { n: 2 } }));
  await admin.query(q.Create(q.Ref(q.Collection('notes'), '2'), { data: { n: 0 } }));
  await expect.poll(() => events).toEqual(['snapshot 1', 'version 2']);
  await expect.poll(() => sets).toEqual(['start', 'add']);
  stream.close();
  setStream.close();
});

test('101 concurrent streams of one secret get all fields of a version', async () => {
  const admin = await open();
  await addNotes(admin, 1);
  const ref = q.Ref(q.Collection('notes'), '1');
  let started = 0;
  const failures: string[] = [];
  const versions: object[] = [];
  const streams = Array.from({ length: 101 }, () =>
    admin
      .stream(ref, { fields: ['action', 'document', 'diff', 'prev'] })
      .on('start', () => void (started += 1))
      .on('version', (version) => void versions.push(version))
      .on('error', (error) => void failures.push(String(error)))
      .start(),
  );
  const done = { timeout: 60_000 };
  await expect.poll(() => [started, failures], done).toEqual([101, []]);
  await admin.query(q.Update(ref, { data: { n: 2 } }));
  await expect.poll(() => [versions.length, failures], done).toEqual([101, []]);
  for (const version of versions)
    expect(version).toMatchObject({
      action: 'update',
      document: { data: { n: 2 } },
      diff: { data: { n: 2 } },
      prev: { data: { n: 1 } },
    });
  for (const stream of streams) stream.close();
});

test('when 115 of 125 streams of a session are closed at once, the others continue', async () => {
  const admin = await open();
  await addNotes(admin, 2);
  const started: number[] = [];
  const received: string[] = [];
  const streams = Array.from({ length: 125 }, (_, n) =>
    admin
      .stream(q.Ref(q.Collection('notes'), n < 115 ? '1' : '2'))
      .on('start', () => void started.push(n))
      .on('version', () => void received.push('version'))
      .on('error', (error) => void received.push(String(error)))
      .start(),
  );
  const done = { timeout: 60_000 };
  await expect.poll(() => started.length, done).toBe(125);
  for (const stream of streams.slice(0, 115)) stream.close();
  await admin.query(q.Update(q.Ref(q.Collection('notes'), '2'), { data: { n: 3 } }));
  await expect.poll(() => received, done).toEqual(Array(10).fill('version'));
  for (const stream of streams) stream.close();
});

test('ten of 260 streams of one secret are refused by name; for each that ends, a new one may begin', async () => {
  const admin = await open();
  await addNotes(admin, 1);
  const started = new Set<number>();
  const failures: unknown[] = [];
  const begin = (n: number) =>
    admin
      .stream(q.Ref(q.Collection('notes'), '1'))
      .on('start', () => void started.add(n))
      .on('error', (error) => void failures.push(error))
      .start();
  const streams = Array.from({ length: 260 }, (_, n) => begin(n));
  const done = { timeout: 60_000 };
  await expect.poll(() => [started.size, failures.length], done).toEqual([250, 10]);
  for (const failure of failures)
    expect(failure).toMatchObject({
      name: 'TooManyRequests',
      description: expect.stringContaining('More than 250 streams of one credential'),
    });
  const closed = [...started].slice(0, 200);
  for (const n of closed) streams[n]?.close();
  await expect.poll(() => metric(hub, 'streams'), done).toBe(50);
  started.clear();
  streams.push(...closed.map(begin));
  await expect.poll(() => [started.size, failures.length], done).toEqual([200, 10]);
  for (const stream of streams) stream.close();
});
