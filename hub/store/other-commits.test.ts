/** What a hub is told about commits that it cannot recognize as its own. */
import { expect, test } from 'vitest';
import type { CommitNotice } from '../../src/engine/host.ts';
import { HEAD } from '../../src/engine/transactions.ts';
import { openMemoryHost, type MemoryHost } from '../../src/http/testing/memory-host.ts';
import { SqlFailure, type SqlDatabase } from '../sql/sql-client.ts';
import { freshTenant, sharedDatabases } from '../testing/hub-stores.ts';
import { OtherCommits } from './other-commits.ts';
import { newWriter, openTables } from './sql-tables.ts';

const { pglite, postgres } = sharedDatabases();

/** A server that can disappear right after a commit, before it answers, and stays away until the test calls it back. */
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
