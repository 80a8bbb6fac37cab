/** What a hub is told about commits that it cannot recognize as its own. */
import { assert, expect, test, vi } from 'vitest';
import type { CommitNotice } from '../../src/engine/host.ts';
import { HEAD, headOf } from '../../src/engine/transactions.ts';
import { openMemoryHost, type MemoryHost } from '../../src/http/testing/memory-host.ts';
import { SqlFailure, type SqlDatabase } from '../sql/sql-client.ts';
import { freshTenant, sharedDatabases } from '../testing/hub-stores.ts';
import { OtherCommits } from './other-commits.ts';
import { newWriter, openTables } from './sql-tables.ts';

const { pglite, postgres } = sharedDatabases();

/** A server that can disappear at once, or right after a commit, before it answers. It stays away until the test calls it back. */
function leavingServer(server: SqlDatabase) {
  let state: 'here' | 'leaving' | 'away' = 'here';
  const requireHere = (): void => {
    if (state === 'away') throw new SqlFailure('The server is away.', undefined);
  };
  const database: SqlDatabase = {
    isExclusive: server.isExclusive,
    roundTrips: 0,
    async connect() {
      requireHere();
      const connection = await server.connect();
      return {
        release: () => connection.release(),
        async run(statements) {
          requireHere();
          const results = await connection.run(statements);
          const isCommit = statements.some(({ name }) => name === 'burrow_commit');
          if (isCommit && state === 'leaving') state = 'away';
          requireHere();
          return results;
        },
      };
    },
    listen: () => undefined,
    close: () => server.close(),
  };
  return {
    database,
    leave: () => void (state = 'leaving'),
    vanish: () => void (state = 'away'),
    comeBack: () => void (state = 'here'),
  };
}

async function statusOf(host: MemoryHost, query: object): Promise<number> {
  const headers = { authorization: `Bearer ${host.admin}`, 'x-faunadb-api-version': '4' };
  const body = JSON.stringify(query);
  return (await host.request({ method: 'POST', path: '/', headers, body })).status;
}

const documentsIn = ({ rows }: CommitNotice): number =>
  rows.filter(({ space }) => space === 'documents').length;

test('a commit with an unknown outcome is announced when the server is back', async () => {
  const [server, tenant, writer] = [await pglite(), freshTenant(), newWriter()];
  const { database, leave, comeBack } = leavingServer(server);
  const others = new OtherCommits({ database, tenant, writer });
  const store = await openTables(database, tenant, { writer, watched: others, random: () => 0 });
  others.follow(store);
  const here = await openMemoryHost({ store });
  const there = await openMemoryHost({ store: await openTables(server, tenant) });
  const received: CommitNotice[] = [];
  const stop = others.listen((notice) => received.push(notice));
  const create = { create: { collection: 'things' }, params: { object: {} } };
  expect(await statusOf(here, { create_collection: { object: { name: 'things' } } })).toBe(201);
  expect(await statusOf(there, create)).toBe(201);
  await expect.poll(() => received).toHaveLength(1);
  leave();
  expect(await statusOf(here, create)).toBe(503);
  comeBack();
  await expect.poll(() => received).toHaveLength(2);
  // Each notice names the new document, so that only the queries that read it run again.
  expect(received.map(documentsIn)).toEqual([1, 1]);
  stop();
  others.close();
});

test.each(['reads', 'cannot be reached', 'writes'])(
  'lost commits are announced, then what replaces them, if the store is set back while this hub %s',
  async (doing) => {
    const [server, tenant, writer] = [await pglite(), freshTenant(), newWriter()];
    const { database, vanish, comeBack } = leavingServer(server);
    const others = new OtherCommits({ database, tenant, writer });
    const watched = await openTables(database, tenant, { writer, watched: others });
    others.follow(watched);
    const store = await openTables(server, tenant);
    const here = await openMemoryHost({ store: watched });
    const there = await openMemoryHost({ store });
    const head = async () => (await store.read((tx) => tx.fetch([HEAD], []))).rows[0];
    const received: CommitNotice[] = [];
    const stop = others.listen((notice) => received.push(notice));
    const create = { create: { collection: 'things' }, params: { object: {} } };
    expect(await statusOf(there, { create_collection: { object: { name: 'things' } } })).toBe(201);
    const row = await head();
    assert(row);
    const kept = headOf(row);
    expect(await statusOf(there, create)).toBe(201);
    const lost = headOf(await head());
    await expect.poll(() => received.at(-1)?.ts).toBe(lost);
    received.length = 0;
    if (doing === 'cannot be reached') vanish();
    const puts = [{ space: 'meta', row }] as const;
    await store.write(async (tx) => tx.apply({ puts, deletes: [] }), { durability: 'strict' });
    if (doing === 'reads') await vi.waitUntil(() => received.length === 1, { timeout: 10_000 });
    expect(await statusOf(doing === 'writes' ? here : there, create)).toBe(201);
    comeBack();
    const ts = headOf(await head());
    const replacing = doing === 'writes' ? [] : [{ previous: kept, ts }];
    await expect
      .poll(() => received)
      .toMatchObject([{ previous: kept, ts: kept, rows: [], entries: [] }, ...replacing]);
    expect(received.map(documentsIn)).toEqual([0, ...replacing.map(() => 1)]);
    stop();
    others.close();
  },
);

test('hasListeners() tells tenants apart, even if their long names begin alike', async () => {
  const database = await postgres();
  const long = `${freshTenant()}-`.padEnd(62, 'x');
  const [here, there] = [`${long}1`, `${long}2`].map(
    (tenant) => new OtherCommits({ database, tenant, writer: newWriter() }),
  ) as [OtherCommits, OtherCommits];
  const stop = here.listen(() => undefined);
  await expect.poll(() => here.hasListeners()).toBe(true);
  expect(await there.hasListeners()).toBe(false);
  stop();
  here.close();
});

test('other processes are notified again after a failed attempt to connect', async () => {
  let tries = 0;
  const database: SqlDatabase = {
    isExclusive: false,
    roundTrips: 0,
    connect() {
      tries += 1;
      return Promise.reject(new SqlFailure('There are too many clients.', '53300'));
    },
    listen: () => undefined,
    close: () => Promise.resolve(),
  };
  const others = new OtherCommits({ database, tenant: 'one', writer: newWriter() });
  const head = { ...HEAD, entries: [], value: '{"ts":1}' };
  others.onWritten(undefined, head);
  await expect.poll(() => tries).toBe(1);
  await new Promise((resolve) => setImmediate(resolve));
  others.onWritten(undefined, head);
  await expect.poll(() => tries).toBe(2);
  others.close();
});
