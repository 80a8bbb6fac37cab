/** What a server does to a hub: restarts, ended back ends, transactions held open; and what other hubs on it see. */
import { Client } from 'pg';
import { afterAll, expect, test } from 'vitest';
import { HEAD, headOf } from '../../src/engine/transactions.ts';
import {
  COUNTER,
  counterOf,
  everything,
  increment,
  keysOf,
  put,
  rangeOf,
  row,
  STRICT,
} from '../../src/store/testing/store-rows.ts';
import type { CommitNotice } from '../../src/engine/host.ts';
import { openMemoryHost, type MemoryHost } from '../../src/http/testing/memory-host.ts';
import { freshTenant, openOnPostgres, openServer, sharedPostgres } from '../testing/hub-stores.ts';
import type { HubStore } from './open-store.ts';
import { openTables } from './sql-tables.ts';

const postgres = sharedPostgres();

const opened: HubStore[] = [];
const open = async (tenant: string): Promise<HubStore> => {
  const hub = await openOnPostgres(await postgres(), tenant);
  opened.push(hub);
  return hub;
};
afterAll(() => Promise.all(opened.map((each) => each.close())));

async function withClient<T>(use: (client: Client) => Promise<T>): Promise<T> {
  const client = new Client({ connectionString: (await postgres()).url });
  client.on('error', () => undefined);
  await client.connect();
  try {
    return await use(client);
  } finally {
    await client.end();
  }
}

/** Until it holds; the test's own deadline is the limit. */
async function until(holds: () => Promise<boolean>): Promise<void> {
  while (!(await holds())) await new Promise((resolve) => setTimeout(resolve, 10));
}

/** A promise, and the way to keep it. */
function signal(): { readonly given: Promise<void>; readonly give: () => void } {
  let give = (): void => undefined;
  const given = new Promise<void>((resolve) => {
    give = resolve;
  });
  return { given, give: () => give() };
}

const isWaiting = (client: Client) => async (): Promise<boolean> => {
  const { rows } = await client.query(
    "SELECT 1 FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND query LIKE '%burrow_sequencers%'",
  );
  return rows.length > 0;
};

test('write() counts correctly through server restarts and terminated connections (F22, S3)', async () => {
  const server = await postgres();
  const tenant = freshTenant();
  const hubs = [await open(tenant), await open(tenant)];
  const tally = { done: 0, isOver: false };
  const refusals: unknown[] = [];
  const work = async ({ store }: HubStore): Promise<void> => {
    while (!tally.isOver) {
      try {
        await increment(store);
        tally.done += 1;
      } catch (reason) {
        refusals.push(reason);
      }
    }
  };
  const workers = [...hubs, ...hubs].map(work);
  const passed = async (more: number): Promise<void> => {
    const from = tally.done;
    await until(async () => tally.done >= from + more);
  };
  await passed(20);
  for (let i = 0; i < 10; i += 1) {
    await withClient((client) =>
      client.query(
        'SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = $1 AND pid <> pg_backend_pid()',
        ['burrow'],
      ),
    );
    await passed(5);
  }
  await server.restart();
  await passed(20);
  tally.isOver = true;
  await Promise.all(workers);
  expect(refusals).toEqual([]);
  for (const { store } of hubs) expect(await counterOf(store)).toBe(tally.done);
});

test('write() waits for a server that does nothing for three seconds, and makes no write twice (F28)', async () => {
  const tenant = freshTenant();
  const hubs = [await open(tenant), await open(tenant)];
  for (const { store } of hubs) await increment(store);
  const backEnds = await withClient(async (client) => {
    const { rows } = await client.query<{ pid: number }>(
      'SELECT pid FROM pg_stat_activity WHERE application_name = $1',
      ['burrow'],
    );
    return rows.map(({ pid }) => pid);
  });
  const sendAll = (signal: NodeJS.Signals): void => {
    for (const pid of backEnds) process.kill(pid, signal);
  };
  sendAll('SIGSTOP');
  let settled = 0;
  const writes = hubs.flatMap(({ store }) =>
    Array.from({ length: 20 }, () => increment(store).finally(() => (settled += 1))),
  );
  try {
    await new Promise((resolve) => setTimeout(resolve, 3000));
    expect(settled).toBeLessThan(writes.length);
  } finally {
    sendAll('SIGCONT');
  }
  await Promise.all(writes);
  for (const { store } of hubs) expect(await counterOf(store)).toBe(42);
});

test('write() counts correctly while an administrator changes types of columns', async () => {
  const tenant = freshTenant();
  const hub = await openOnPostgres(await postgres(), tenant, 16);
  opened.push(hub);
  const { store } = hub;
  await increment(store);
  for (const type of ['varchar', 'text']) {
    // On each connection of the pool, the statement that reads the row is prepared.
    const all = signal();
    let reading = 0;
    const reads = Array.from({ length: 16 }, () =>
      store.read(async (tx) => {
        await tx.fetch([], [rangeOf({})]);
        await tx.fetch([COUNTER], []);
        reading += 1;
        if (reading === 16) all.give();
        await all.given;
      }),
    );
    await Promise.all(reads);
    await withClient(async (client) => {
      await client.query(`ALTER TABLE burrow_rows ALTER COLUMN body TYPE ${type}`);
    });
    await increment(store);
  }
  expect(await counterOf(store)).toBe(3);
  expect((await everything(store)).documents).toEqual([]);
});

test('write() is refused while the server is down, and succeeds when it is back', async () => {
  const server = await postgres();
  const hub = await open(freshTenant());
  await increment(hub.store);
  await server.pause(async () => {
    const refused = { code: 'storage_unavailable' };
    await Promise.all([
      expect(increment(hub.store)).rejects.toMatchObject(refused),
      expect(counterOf(hub.store)).rejects.toMatchObject(refused),
    ]);
  });
  await increment(hub.store);
  expect(await counterOf(hub.store)).toBe(2);
});

test('write() waits for a transaction that began earlier and does not overtake it (F34)', async () => {
  const tenant = freshTenant();
  const [one, other] = [await open(tenant), await open(tenant)];
  await increment(one.store);
  const order: string[] = [];
  await withClient(async (client) => {
    const held = signal();
    const begun = signal();
    const first = one.store
      .write(async (tx) => {
        const { rows } = await tx.fetch([COUNTER], []);
        begun.give();
        await held.given;
        tx.apply({
          puts: [
            { space: 'meta', row: { ...row('counter'), value: `${Number(rows[0]?.value) + 10}` } },
          ],
          deletes: [],
        });
      }, STRICT)
      .then(() => order.push('first'));
    const second = begun.given.then(() => increment(other.store)).then(() => order.push('second'));
    await until(isWaiting(client));
    expect(await counterOf(other.store)).toBe(1);
    held.give();
    await Promise.all([first, second]);
  });
  expect(order).toEqual(['first', 'second']);
  expect(await counterOf(one.store)).toBe(12);
});

test('read() with two fetches sees one snapshot, even if a commit comes in between', async () => {
  const tenant = freshTenant();
  const [one, other] = [await open(tenant), await open(tenant)];
  await put(one.store, 'meta', [
    { ...row('a'), value: '0' },
    { ...row('b'), value: '0' },
  ]);
  const a = { space: 'meta', key: row('a').key } as const;
  const b = { space: 'meta', key: row('b').key } as const;
  let runs = 0;
  const seen = await one.store.read(async (tx) => {
    runs += 1;
    const first = (await tx.fetch([a], [])).rows[0]?.value;
    if (runs === 1)
      await put(other.store, 'meta', [
        { ...row('a'), value: '1' },
        { ...row('b'), value: '1' },
      ]);
    return [first, (await tx.fetch([b], [])).rows[0]?.value];
  });
  expect(runs).toBe(2);
  expect(seen).toEqual(['1', '1']);
});

async function hostOn(hub: HubStore): Promise<MemoryHost> {
  return openMemoryHost({ store: hub.store });
}

const query = async (host: MemoryHost, secret: string, body: unknown): Promise<unknown> => {
  const answer = await host.request({
    method: 'POST',
    path: '/',
    headers: { authorization: `Bearer ${secret}`, 'x-faunadb-api-version': '4' },
    body: JSON.stringify(body),
  });
  expect(answer.status, answer.body).toBeLessThan(300);
  return JSON.parse(answer.body);
};

const collection = (name: string): unknown => ({ collection: name });
const createIn = (name: string, n: number): unknown => ({
  create: collection(name),
  params: { object: { data: { object: { n } } } },
});

test('Map(Paginate, Get) of 64 documents takes two round trips, a Get takes one', async () => {
  // Without the notices of a hub to others, which go out in the background.
  const database = openServer((await postgres()).url);
  const store = await openTables(database, freshTenant());
  const host = await openMemoryHost({ store });
  const run = (body: unknown) => query(host, host.admin, body);
  await run({ create_collection: { object: { name: 'things' } } });
  await run({ do: Array.from({ length: 64 }, (_, n) => createIn('things', n)) });
  const page = {
    map: { lambda: 'x', expr: { get: { var: 'x' } } },
    collection: { paginate: { documents: collection('things') }, size: 64 },
  };
  const counted = async (body: unknown): Promise<number> => {
    const before = database.roundTrips;
    await run(body);
    return database.roundTrips - before;
  };
  expect(await counted(page)).toBeLessThanOrEqual(2);
  const one = { get: { ref: collection('things'), id: '1' } };
  await run({ create: { ref: collection('things'), id: '1' }, params: { object: {} } });
  expect(await counted(one)).toBe(1);
  await database.close();
});

test('onOtherCommit() reports commits of other processes, and not its own', async () => {
  const tenant = freshTenant();
  const [one, other] = [await open(tenant), await open(tenant)];
  const here = await hostOn(one);
  const there = await openMemoryHost({ store: other.store });
  const received: CommitNotice[] = [];
  const own: number[] = [];
  here.http.engine.onCommit(({ ts }) => own.push(ts));
  const stop = one.onOtherCommit((notice) => received.push(notice));
  await query(here, here.admin, { create_collection: { object: { name: 'things' } } });
  const headNow = async (): Promise<number> =>
    one.store.read(async (tx) => headOf((await tx.fetch([HEAD], [])).rows[0]));
  for (let i = 0; i < 5; i += 1) {
    await query(there, there.admin, createIn('things', i));
    await query(here, here.admin, createIn('things', 100 + i));
  }
  await query(there, there.admin, createIn('things', 9));
  const head = await headNow();
  await until(async () => received.at(-1)?.ts === head);
  stop();
  expect(received).toHaveLength(6);
  for (const { ts, rows } of received) {
    expect(own).not.toContain(ts);
    expect(rows.filter(({ space }) => space === 'documents')).toHaveLength(1);
  }
  expect(received.map(({ ts }) => ts)).toEqual(
    received.map(({ ts }) => ts).toSorted((x, y) => x - y),
  );
});

const withOption = async (option: string): Promise<{ readonly url: string }> => ({
  url: `${(await postgres()).url}?options=${encodeURIComponent(`-c ${option}`)}`,
});

test('bytes are read as stored, whatever output format the server uses', async () => {
  const bytes = Uint8Array.from({ length: 256 }, (_, at) => at);
  const every = String.fromCharCode(...bytes);
  const stored = { ...row(`\\x41${every}\\`, [`\\x${every}`]), value: bytes };
  for (const format of ['escape', 'hex']) {
    const hub = await openOnPostgres(await withOption(`bytea_output=${format}`), freshTenant());
    opened.push(hub);
    await put(hub.store, 'documents', [stored]);
    expect((await everything(hub.store)).documents, format).toEqual([stored]);
  }
});

test('a range beside rows has the order of bytes, whatever output format the server uses', async () => {
  // As text, the escaped bytes would come in another order: `_`, `\\200`, `a`.
  const rows = ['_', 'a', '\x80'].map((name) => row(name, [name]));
  const hub = await openOnPostgres(await withOption('bytea_output=escape'), freshTenant());
  opened.push(hub);
  await put(hub.store, 'documents', rows);
  for (const by of ['key', 'entry'] as const) {
    for (const reverse of [false, true]) {
      const range = rangeOf({ space: 'documents', by, reverse, limit: 2 });
      const found = await hub.store.read((tx) => tx.fetch([COUNTER], [range]));
      const first = (reverse ? rows.toReversed() : rows).slice(0, 2);
      expect(found.ranges.map((each) => keysOf(each))).toEqual([first.map(({ key }) => key)]);
    }
  }
});

test('a database whose encoding lacks characters is refused before it stores anything', async () => {
  const { url } = await postgres();
  await withClient(async (client) => {
    await client.query("CREATE DATABASE latin TEMPLATE template0 ENCODING 'LATIN1' LOCALE 'C'");
    const latin = new URL('latin', url).href;
    await expect(openOnPostgres({ url: latin }, freshTenant())).rejects.toMatchObject({
      code: 'storage_unavailable',
      message: expect.stringMatching(/encoding LATIN1.*ENCODING 'UTF8'/u),
    });
  });
});
