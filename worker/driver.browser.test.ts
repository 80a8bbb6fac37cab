import driverSource from 'faunadb/dist/faunadb.js?raw';
import { expect, test } from 'vitest';
import { openDatabase, q as ours } from '../src/index.ts';

/** The part of the original driver's API that is used here. */
interface Driver {
  readonly Client: new (options: object) => DriverClient;
  readonly query: Readonly<Record<BuilderName, (...args: readonly unknown[]) => unknown>>;
}
type BuilderName =
  | 'Collection'
  | 'Create'
  | 'CreateCollection'
  | 'Documents'
  | 'Get'
  | 'Paginate'
  | 'Ref'
  | 'Time';
interface DriverClient {
  query(expression: unknown): Promise<unknown>;
  queryWithMetrics(
    expression: unknown,
  ): Promise<{ readonly value: unknown; readonly metrics: Readonly<Record<string, number>> }>;
  paginate(set: unknown, options?: object): { nextPage(): Promise<readonly unknown[]> };
  readonly stream: ((expression: unknown) => DriverStream) & {
    document(ref: unknown): DriverStream;
  };
  ping(scope?: string): Promise<string>;
  close(): Promise<void>;
}
interface DriverStream {
  on(type: string, listener: (event: never) => void): DriverStream;
  start(): DriverStream;
  close(): void;
}

/** Loads the driver as shipped to browsers: one classic script that defines a global. */
function loadDriver(): Driver {
  const script = document.createElement('script');
  script.textContent = driverSource;
  document.head.append(script);
  return (globalThis as unknown as { readonly faunadb: Driver }).faunadb;
}

test('the original Fauna driver works unchanged over db.fetch', async () => {
  const db = await openDatabase(`driver-${Date.now()}`, { durability: 'relaxed' });
  const { Client, query: q } = loadDriver();
  const client = new Client({ secret: db.rootSecret, fetch: db.fetch });
  expect(await client.ping('all')).toBe('Scope all is OK');
  await client.query(q.CreateCollection({ name: 'notes' }));
  const ref = q.Ref(q.Collection('notes'), '1');
  const data = { title: 'ä', at: q.Time('2026-11-21T10:00:00Z'), bytes: new Uint8Array([1, 2]) };
  await client.query(q.Create(ref, { data }));
  const document = (await client.query(q.Get(ref))) as {
    ref: { id: string };
    data: { title: string; at: { value: string } };
  };
  expect([document.ref.id, document.data.title, document.data.at.value]).toEqual([
    '1',
    'ä',
    '2026-11-21T10:00:00Z',
  ]);
  // Both kinds of client use the same database.
  expect(
    (await db.client().Get<{ title: string }>(ours.Ref(ours.Collection('notes'), '1'))).data.title,
  ).toBe('ä');

  const { metrics } = await client.queryWithMetrics(q.Get(ref));
  expect(metrics['x-byte-read-ops']).toBe(1);
  const page = await client.paginate(q.Documents(q.Collection('notes')), { size: 5 }).nextPage();
  expect(page.map((each) => (each as { id: string }).id)).toEqual(['1']);
  await expect(client.query(q.Get(q.Ref(q.Collection('notes'), '2')))).rejects.toMatchObject({
    name: 'NotFound',
    message: 'instance not found',
  });
  await expect(new Client({ secret: 'wrong', fetch: db.fetch }).query(1)).rejects.toMatchObject({
    name: 'Unauthorized',
  });

  const events: string[] = [];
  const stream = client.stream.document(ref);
  stream
    .on('snapshot', ({ data }: { data: { title: string } }) =>
      events.push(`snapshot ${data.title}`),
    )
    .on('version', ({ document }: { document: { data: { title: string } } }) =>
      events.push(`version ${document.data.title}`),
    )
    .on('error', (error: Error) => events.push(`error ${error.message}`))
    .start();
  await expect.poll(() => events).toEqual(['snapshot ä']);
  await db.client().Update(ours.Ref(ours.Collection('notes'), '1'), { data: { title: 'b' } });
  await expect.poll(() => events).toEqual(['snapshot ä', 'version b']);
  stream.close();
  await client.close();
  await db.destroy();
});
