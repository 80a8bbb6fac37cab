/**
 * Tests the cluster of ops/cluster under load: primaries, hubs and machines are killed, a machine is cut off, hubs are upgraded. The
 * history checker judges what clients observed. BURROW_CLUSTER_FAILOVERS sets how many primaries are lost (2 by default), BURROW_SEED the
 * actions.
 */
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Client as SqlClient } from 'pg';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { asked, expectSerializable, figuresOf, Histories } from '../../hub/testing/histories.ts';
import * as queries from '../../hub/testing/history-queries.ts';
import { openDatabase } from '../../in-process/node.ts';
import { q } from '../../src/index.ts';
import { dumpStore } from '../../hub/operations/dump.ts';
import { openHubStore } from '../../hub/store/open-store.ts';
import { HEAD, headOf } from '../../src/engine/transactions.ts';
import { seedOf } from '../../src/engine/testing/random-source.ts';
import { Cluster, obstacle, until } from './cluster.mjs';

const ASKED = process.env['BURROW_CLUSTER_FAILOVERS'];
const FAILOVERS = Number(ASKED ?? 2);
const SEED = seedOf('BURROW_SEED');
const CLIENTS = 8;
const ANSWER_MS = 40_000;
/** Limit of the time without a successful write after a failover. */
const GAP_MAX_MS = 30_000;
const BETWEEN_MS = 2000;
/**
 * Patroni's settings for tests that need no failover, in s: on a machine that does other work at the same time, a primary may be unable
 * to renew a shorter lease.
 */
const LONG_LEASES = { ttl: 180, retry_timeout: 80 };
const DEVICES = 4;
const PUSH_MS = 20;

const why = obstacle();
if (why !== undefined) console.log(`[skipped] ops/cluster: ${why}`);

test('every placeholder in the templates is filled', () => {
  const cluster = new Cluster('/nowhere');
  const names = ['SUPERUSER', 'REPLICATION', 'REWIND', 'BURROW'].map((name) => `${name}_PASSWORD`);
  const secrets = Object.fromEntries([...names, 'ROOT_SECRET'].map((name) => [name, 'x']));
  for (const place of [...cluster.machines, cluster.front])
    for (const [name, text] of cluster.filesOf(place, secrets))
      expect(text, name).not.toMatch(/@[A-Z_]+@/u);
});

/** A client of the cluster, through the HAProxy in front. */
class Client {
  readonly url: string;
  readonly secret: string;
  /** Times, in ms, at which a successful response arrived. */
  readonly done: number[];
  readonly failures: string[] = [];

  constructor(url: string, secret: string, done: number[] = []) {
    this.url = url;
    this.secret = secret;
    this.done = done;
  }

  async ask(query: unknown): Promise<{ status: number; body: string } | undefined> {
    try {
      const answer = await fetch(this.url, {
        method: 'POST',
        headers: { authorization: `Bearer ${this.secret}`, 'x-faunadb-api-version': '4' },
        body: JSON.stringify(query),
        signal: AbortSignal.timeout(ANSWER_MS),
      });
      const body = await answer.text();
      if (answer.ok) this.done.push(performance.now());
      // A rejected transaction (status 400) is a valid response, not a failure.
      else if (answer.status !== 400) this.failures.push(`${answer.status} ${body}`);
      return { status: answer.status, body };
    } catch (reason) {
      this.failures.push(String(reason));
      return undefined;
    }
  }
}

/** Process id of the startup process of a standby's PostgreSQL, which replays the log that the standby receives. */
async function replayOf({ folder }: { readonly folder: string }): Promise<number> {
  const client = new SqlClient({ host: folder, user: 'postgres', database: 'postgres' });
  await client.connect();
  const found = await client.query<{ pid: number }>(
    "SELECT pid FROM pg_stat_activity WHERE backend_type = 'startup'",
  );
  await client.end();
  const pid = found.rows[0]?.pid;
  if (pid === undefined) throw new Error(`${folder} is no standby`);
  return pid;
}

const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

describe.runIf(why === undefined)('a cluster of three machines', () => {
  const cluster = new Cluster(join(tmpdir(), `burrow-cluster-${process.pid}`));
  let admin: Client;
  const clients: Client[] = [];
  const done: number[] = [];
  const histories = new Histories(SEED);

  beforeAll(async () => {
    await cluster.up();
    admin = new Client(cluster.url, cluster.rootSecret);
    for (const query of queries.setUp) await asked(admin, query);
    for (let i = 0; i < CLIENTS; i++) {
      const key = { create_key: { object: { role: 'admin' } } };
      const { secret } = (await asked(admin, key)) as { secret: string };
      clients.push(new Client(cluster.url, secret, done));
    }
  });
  afterAll(() => cluster.down({ erase: true }));
  // The first commits after a failover can still fail, and a standby may need some time to follow.
  beforeEach(() => until(() => cluster.isWhole(), 'all machines follow one primary'));

  /** Runs the clients while `meanwhile` runs. @returns the longest time, in ms, in which no client got a successful response */
  async function underLoad(meanwhile: () => Promise<void>): Promise<number> {
    const over = new AbortController();
    done.length = 0;
    for (const client of clients) client.failures.length = 0;
    done.push(performance.now());
    const work = clients.map(async (client, by) => {
      while (!over.signal.aborted) await histories.act(by, client);
    });
    await meanwhile();
    over.abort();
    await Promise.all(work);
    const gaps = done.slice(1).map((at, i) => at - (done[i] ?? at));
    return Math.round(Math.max(...gaps));
  }

  test(`when a primary is lost ${FAILOVERS} times, in three ways, no acknowledged write is lost or duplicated, and writers go on (seed ${SEED})`, async () => {
    const gaps: Record<string, number[]> = {};
    for (let i = 0; i < FAILOVERS; i++) {
      const way = (['PostgreSQL killed', 'machine crashed', 'machine cut off'] as const)[i % 3];
      const gapMs = await underLoad(async () => {
        await pause(BETWEEN_MS);
        const primary = await cluster.primary();
        if (!primary) throw new Error('there is no primary');
        if (way === 'PostgreSQL killed') cluster.crashPostgres(primary);
        else if (way === 'machine crashed') cluster.crash(primary);
        else cluster.cut(primary);
        await until(async () => {
          const now = await cluster.primary();
          return now !== undefined && now !== primary;
        }, 'another machine is primary');
        const from = done.length;
        await until(() => done.length > from + CLIENTS, 'writers go on');
        if (way === 'machine crashed') await cluster.start(primary);
        if (way === 'machine cut off') cluster.join(primary);
        await until(() => cluster.isWhole(), 'all machines follow again');
      });
      (gaps[way ?? ''] ??= []).push(gapMs);
      await expectSerializable(histories, admin);
    }
    const seen = figuresOf(histories);
    console.log(`[figures] failovers: ${JSON.stringify({ ...seen, longestGapMs: gaps })}`);
    // On a machine that does other work at the same time, the duration of a failover means nothing.
    if (ASKED === undefined) return;
    for (const all of Object.values(gaps))
      for (const gap of all) expect(gap).toBeLessThan(GAP_MAX_MS);
    expect(seen.lists).toBeGreaterThan(FAILOVERS * 20);
  });

  test('when a standby is cut off with its etcd, writers go on with the other one, and it follows again later', async () => {
    const gapMs = await underLoad(async () => {
      const primary = await cluster.primary();
      const standby = cluster.machines.find((each) => each !== primary);
      if (!primary || !standby) throw new Error('there is no standby');
      cluster.cut(standby);
      await until(async () => !(await cluster.isWhole()), 'a standby is missed');
      await until(() => cluster.isReplicated(), 'a standby replicates synchronously');
      const from = done.length;
      await until(() => done.length > from + CLIENTS, 'writers go on');
      expect(await cluster.primary()).toBe(primary);
      cluster.join(standby);
      await until(() => cluster.isWhole(), 'all machines follow again');
    });
    await expectSerializable(histories, admin);
    await cluster.configurePatroni(LONG_LEASES);
    console.log(`[figures] standby cut off: ${JSON.stringify({ longestGapMs: gapMs })}`);
  });

  test(`when hubs are killed during pushes of ${DEVICES} devices, each write is confirmed, and stored once`, async () => {
    const things = q.Collection('things');
    await asked(admin, { create_collection: { object: { name: 'things' } } });
    const devices = await Promise.all(
      Array.from({ length: DEVICES }, async (_, i) => {
        const db = await openDatabase(join(cluster.folder, `device-${i}`));
        const secret = clients[i]?.secret ?? '';
        return {
          db,
          sync: await db.sync({ url: cluster.url, sets: [q.Documents(things)], secret }),
        };
      }),
    );
    const over = new AbortController();
    const settled: Promise<{ readonly state: string }>[] = [];
    const names: string[] = [];
    const writers = devices.map(async ({ sync }, i) => {
      while (!over.signal.aborted) {
        const name = `${i}-${names.length}`;
        names.push(name);
        const write = await sync.client.submit(q.Create(things, { data: { name } }));
        settled.push(write.settled);
        await pause(PUSH_MS);
      }
    });
    for (const machine of cluster.machines) {
      const from = settled.length;
      await until(() => settled.length > from + DEVICES, 'devices write');
      cluster.endHub(machine, 'SIGKILL');
      await pause(BETWEEN_MS);
      await cluster.startHub(machine);
      await cluster.hubAnswers(machine);
    }
    over.abort();
    await Promise.all(writers);
    const verdicts = await Promise.all(settled);
    expect(new Set(verdicts.map(({ state }) => state))).toEqual(new Set(['confirmed']));
    const all = {
      map: { lambda: 'each', expr: { select: ['data', 'name'], from: { get: { var: 'each' } } } },
      collection: { paginate: { documents: { collection: 'things' } }, size: 100_000 },
    };
    const { data } = (await asked(admin, all)) as { data: string[] };
    expect(data.toSorted()).toEqual(names.toSorted());
    await Promise.all(devices.map(({ db }) => db.close()));
    console.log(`[figures] hubs killed amid pushes: ${JSON.stringify({ writes: names.length })}`);
  });

  test('a standby can be dumped', async () => {
    const primary = await cluster.primary();
    const standby = cluster.machines.find((each) => each !== primary);
    const password = cluster.secrets()['BURROW_PASSWORD'];
    const postgres = `postgres://burrow:${password}@${standby?.address}:5432/burrow`;
    const opened = await openHubStore({ at: { postgres }, isReadOnly: true });
    const file = join(cluster.folder, 'dump.gz');
    const rows = await dumpStore(opened.store, file, {
      now: () => new Date(),
      onProgress: () => undefined,
    });
    expect(rows).toBeGreaterThan(CLIENTS);
    await opened.close();
  });

  test('standbys that fall behind do not delay writes, and every hub shows all acknowledged writes', async () => {
    const primary = await cluster.primary();
    const standbys = cluster.machines.filter((each) => each !== primary);
    const password = cluster.secrets()['BURROW_PASSWORD'];
    const shown = async ({ address }: { readonly address: string }): Promise<number> => {
      const postgres = `postgres://burrow:${password}@${address}:5432/burrow`;
      const opened = await openHubStore({ at: { postgres }, isReadOnly: true });
      const found = await opened.store.read((tx) => tx.fetch([HEAD], []));
      await opened.close();
      return headOf(found.rows[0]);
    };
    // SIGSTOP, because Patroni resumes a replay that was paused by SQL. The standby still receives the log that the process would replay.
    const replays = await Promise.all(standbys.map(replayOf));
    const before = await Promise.all(standbys.map(shown));
    for (const pid of replays) process.kill(pid, 'SIGSTOP');
    try {
      await asked(admin, { create_collection: { object: { name: 'late' } } });
      for (let n = 1; n <= 20; n++) {
        const late = { ref: { collection: 'late' }, id: String(n) };
        await asked(admin, { create: late, params: { object: {} } });
        for (const { address } of cluster.machines) {
          const hub = new Client(`http://${address}:8443`, cluster.rootSecret);
          expect(await asked(hub, { exists: late })).toBe(true);
        }
      }
      expect(await Promise.all(standbys.map(shown))).toEqual(before);
      const postgres = `postgres://burrow:${password}@${standbys[0]?.address}:5432/burrow`;
      const opened = await openHubStore({ at: { postgres }, isReadOnly: true });
      const file = join(cluster.folder, 'early.gz');
      const lastSeen = (before[0] ?? 0) + 1;
      const options = { now: () => new Date(), onProgress: () => undefined, lastSeen };
      await expect(dumpStore(opened.store, file, options)).rejects.toThrow('is missing');
      await opened.close();
    } finally {
      for (const pid of replays) process.kill(pid, 'SIGCONT');
    }
    for (const [i, standby] of standbys.entries())
      await until(async () => (await shown(standby)) > (before[i] ?? 0), 'a standby follows again');
  });

  test('no request fails while hubs are restarted one after the other under load', async () => {
    const gapMs = await underLoad(async () => {
      await pause(BETWEEN_MS);
      await cluster.upgrade();
      await pause(BETWEEN_MS);
    });
    expect(clients.flatMap(({ failures }) => failures)).toEqual([]);
    await expectSerializable(histories, admin);
    const figures = { ...figuresOf(histories), longestGapMs: gapMs };
    console.log(`[figures] rolling upgrade: ${JSON.stringify(figures)}`);
  });
});
