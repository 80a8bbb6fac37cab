import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import {
  chown,
  mkdir,
  mkdtemp,
  readdir,
  readFile,
  rm,
  stat,
  symlink,
  utimes,
  writeFile,
} from 'node:fs/promises';
import { createServer } from 'node:net';
import { hostname, tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import type { Worker } from 'node:worker_threads';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { Refusal } from '../../src/errors.ts';
import { documentKey } from '../../src/codec/key.ts';
import { EngineWorld, ROOT } from '../../src/engine/testing/engine-world.ts';
import {
  COUNTER,
  counterOf,
  everything,
  increment,
  put,
  row,
  STRICT,
} from '../../src/store/testing/store-rows.ts';
import { freshTenant, openServer, sharedPostgres } from '../testing/hub-stores.ts';
import { openPreparedPglite, prepareFolder, startPrepared } from '../testing/prepared-pglite.ts';
import { dataIn, takeFolder } from './folder-lock.ts';
import { prepareHubRows } from './hub-rows.ts';
import { socketOf, type SocketHolder } from './lock-socket.ts';
import { MIGRATIONS, migrate } from '../sql/migrations.ts';
import { openHubStore } from './open-store.ts';
import { openPglite, startThread } from '../sql/pglite-database.ts';
import type { SqlConnection, Statement } from '../sql/sql-client.ts';
import { openTables } from './sql-tables.ts';

const sql = (text: string): Statement => ({ name: '', text, values: [] });

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'burrow-store-'));
});
afterAll(() => rm(folder, { recursive: true, force: true }));

const textOf = (file: string): string => readFileSync(new URL(file, import.meta.url), 'utf8');
const statements = textOf('../sql/statements.ts');
const migrations = textOf('../sql/migrations.ts');

const silent = (): void => undefined;

describe('openHubStore() with a folder', () => {
  test('refuses a second process, and the first one continues (F25)', async () => {
    const data = await prepareFolder(join(folder, 'two'));
    const first = await openHubStore({ at: { data } });
    await increment(first.store);
    await expect(openHubStore({ at: { data } })).rejects.toMatchObject({
      code: 'storage_blocked',
      message: expect.stringContaining(`Process ${process.pid} on ${hostname()}`),
    });
    await increment(first.store);
    expect(await counterOf(first.store)).toBe(2);
    await first.close();

    const again = await openHubStore({ at: { data } });
    expect(await counterOf(again.store)).toBe(2);
    expect(again).toMatchObject({ describe: `PGlite in ${data}` });
    expect(again.lease?.term()).toBe(1);
    await again.close();
    expect(again.lease?.term()).toBeUndefined();
  });

  // Windows has no such permissions.
  test.skipIf(process.platform === 'win32')(
    'gives only the owner access to the data, even if others may read the folder',
    async () => {
      const data = join(folder, 'open to all');
      await mkdir(data, { mode: 0o755 });
      const made = await openHubStore({ at: { data } });
      await made.close();
      expect((await stat(join(data, 'pglite'))).mode & 0o777).toBe(0o700);
    },
  );

  // Windows has no such owners.
  test.skipIf(process.platform === 'win32')(
    'refuses a folder of another user and leaves it unchanged',
    async () => {
      const data = join(folder, 'of another');
      await mkdir(data);
      if (process.getuid?.() === 0) {
        await prepareFolder(data);
        await chown(dataIn(data), 4321, 4321);
      } else await symlink('/usr', dataIn(data));
      const uid = (await stat(dataIn(data))).uid;
      await expect(openHubStore({ at: { data } })).rejects.toMatchObject({
        code: 'storage_unavailable',
        message: expect.stringContaining(`sudo -u '#${uid}'`),
      });
      expect((await readdir(data)).filter((name) => name !== 'pglite')).toEqual([]);
    },
  );

  test('refuses a folder that cannot be created, with the error of the system', async () => {
    const [unlikely, file] = ['/proc/burrow/data', join(folder, 'no folder')];
    await writeFile(file, '');
    for (const data of [unlikely, join(file, 'data')])
      await expect(openHubStore({ at: { data } })).rejects.toMatchObject({
        code: 'storage_unavailable',
        message: expect.stringMatching(/^Cannot use the folder .*: E[A-Z]+: .*, mkdir '/u),
      });
  });

  test('refuses a database without PG_VERSION instead of replacing it by an empty one', async () => {
    const data = await prepareFolder(join(folder, 'without mark'));
    const first = await openHubStore({ at: { data } });
    await increment(first.store);
    await first.close();
    const mark = join(dataIn(data), 'PG_VERSION');
    const version = await readFile(mark);
    await rm(mark);
    await expect(openHubStore({ at: { data } })).rejects.toMatchObject({
      code: 'storage_unavailable',
      message: expect.stringContaining('has no PG_VERSION'),
    });
    await writeFile(mark, version);
    const again = await openHubStore({ at: { data } });
    expect(await counterOf(again.store)).toBe(1);
    await again.close();
  });

  test('names a database that PostgreSQL cannot open, and the likely reason', async () => {
    const data = await prepareFolder(join(folder, 'damaged'));
    await rm(join(dataIn(data), 'global', 'pg_control'));
    await expect(openHubStore({ at: { data } })).rejects.toMatchObject({
      code: 'storage_unavailable',
      message: expect.stringContaining(`cannot open ${dataIn(data)}: its files are damaged`),
    });
  });

  test('creates the database again if its creation was interrupted, and leaves no remains', async () => {
    const data = join(folder, 'cut off');
    await mkdir(join(data, 'pglite'), { recursive: true });
    await writeFile(join(data, 'pglite', 'PG_VERSION'), '17\n');
    await writeFile(join(data, 'pglite.unfinished'), '');
    await expect(openHubStore({ at: { data }, mustExist: true })).rejects.toThrow('holds no data');
    const made = await openHubStore({ at: { data } });
    const left = (await readdir(data)).filter((name) => !name.endsWith('.sock'));
    expect(left).toEqual(['burrow.lock', 'pglite']);
    await increment(made.store);
    await made.close();
    const again = await openHubStore({ at: { data } });
    expect(await counterOf(again.store)).toBe(1);
    await again.close();
  });
});

describe('takeFolder()', () => {
  const lockOf = (path: string): string => join(path, 'burrow.lock');

  test('takes over the lock of a process that has ended, and reports it', async () => {
    const path = join(folder, 'stale');
    const child = spawn(process.execPath, ['-e', '']);
    await once(child, 'exit');
    const taken = await takeFolder(path, silent);
    await taken.release();
    const stale = { pid: child.pid, host: hostname(), since: 'yesterday' };
    await writeFile(lockOf(path), JSON.stringify(stale));
    const said: string[] = [];
    const again = await takeFolder(path, (sentence) => said.push(sentence));
    expect(said).toEqual([expect.stringContaining(`of process ${child.pid}`)]);
    expect(JSON.parse(await readFile(lockOf(path), 'utf8'))).toMatchObject({ pid: process.pid });
    await again.release();
  });

  test.runIf(process.platform === 'linux')(
    'takes over the lock of a process that was killed and not yet reaped',
    async () => {
      const path = join(folder, 'zombie');
      await mkdir(path);
      // The shell is replaced by a program that never reads the exit status of its child. If the child were killed before that,
      // the shell would read the status and the zombie would disappear.
      const parent = spawn('sh', ['-c', 'sleep 1000 & echo $!; exec sleep 1001']);
      try {
        const [printed] = (await once(parent.stdout, 'data')) as [Buffer];
        const pid = Number(printed.toString());
        const of = (id: number | undefined, what: string) => () =>
          readFile(`/proc/${id}/${what}`, 'latin1');
        await expect.poll(of(parent.pid, 'cmdline')).toContain('sleep\x001001');
        process.kill(pid, 'SIGKILL');
        await expect.poll(of(pid, 'stat')).toContain(') Z ');
        await writeFile(lockOf(path), JSON.stringify({ pid, host: hostname(), since: '' }));
        await (await takeFolder(path, silent)).release();
      } finally {
        parent.kill('SIGKILL');
      }
    },
  );

  test.runIf(process.platform === 'linux')(
    'takes over the lock of an ended process whose pid is used by another one',
    async () => {
      const path = join(folder, 'recycled');
      await mkdir(path);
      const other = spawn('sleep', ['1000']);
      try {
        const holder = { pid: other.pid, host: hostname(), since: '', started: '1' };
        await writeFile(lockOf(path), JSON.stringify(holder));
        await (await takeFolder(path, silent)).release();
        await writeFile(lockOf(path), JSON.stringify({ ...holder, started: undefined }));
        await expect(takeFolder(path, silent)).rejects.toMatchObject({ code: 'storage_blocked' });
      } finally {
        other.kill('SIGKILL');
      }
    },
  );

  test('takes over a lock that is unreadable', async () => {
    const path = join(folder, 'torn');
    await (await takeFolder(path, silent)).release();
    await writeFile(lockOf(path), '{"pid":');
    const said: string[] = [];
    const taken = await takeFolder(path, (sentence) => said.push(sentence));
    expect(said).toEqual([expect.stringContaining('could not be read')]);
    await taken.release();
  });

  test.runIf(process.platform === 'linux')(
    'leaves no socket behind, neither its own nor one of an ended process',
    async () => {
      const path = join(folder, 'sockets');
      const first = await takeFolder(path, silent);
      const lock = JSON.parse(await readFile(lockOf(path), 'utf8')) as SocketHolder;
      const socket = socketOf(path, lock);
      expect(await readdir(path)).toEqual([basename(socket), 'burrow.lock'].toSorted());
      await first.release();
      expect(await readdir(path)).toEqual([]);
      const ended = { ...lock, started: '1' };
      await writeFile(lockOf(path), JSON.stringify(ended));
      await writeFile(socketOf(path, ended), '');
      await (await takeFolder(path, silent)).release();
      expect(await readdir(path)).toEqual([]);
    },
  );

  test.runIf(process.platform === 'linux')(
    'does not trust a socket from another machine or file system',
    async () => {
      const path = join(folder, 'elsewhere');
      const first = await takeFolder(path, silent);
      const lock = JSON.parse(await readFile(lockOf(path), 'utf8')) as SocketHolder;
      await first.release();
      const living = { ...lock, pid: process.ppid, started: undefined };
      await writeFile(socketOf(path, living), '');
      for (const place of [`0 ${lock.place}`, `${lock.place}0`, undefined]) {
        await writeFile(lockOf(path), JSON.stringify({ ...living, place }));
        await expect(takeFolder(path, silent)).rejects.toMatchObject({ code: 'storage_blocked' });
      }
      await writeFile(lockOf(path), JSON.stringify(living));
      await (await takeFolder(path, silent)).release();
    },
  );

  // Run concurrently, because they wait.
  test.concurrent.each([
    ['another machine', { host: 'another-container' }],
    // A container that uses the network of its host also has its host name, but its pids start again at 1.
    ['another container of this host', { host: hostname(), pidNamespace: 'pid:[1]' }],
  ])('takes over the lock of %s after 12 s of silence, but not a renewed one', async (_, who) => {
    const { host } = who;
    const [silentOne, livingOne] = [join(folder, `silent ${host}`), join(folder, `living ${host}`)];
    const theirs = JSON.stringify({ pid: process.pid, since: 'then', ...who });
    for (const path of [silentOne, livingOne]) {
      await (await takeFolder(path, silent)).release();
      await writeFile(lockOf(path), theirs);
    }
    const beat = setInterval(() => {
      const now = new Date();
      void utimes(lockOf(livingOne), now, now);
    }, 1000);
    const said: string[] = [];
    const [taken, refused] = await Promise.allSettled([
      takeFolder(silentOne, (sentence) => said.push(sentence)),
      takeFolder(livingOne, silent),
    ]);
    clearInterval(beat);
    expect(said).toEqual([
      expect.stringContaining('checking for 12 s whether it is alive'),
      expect.stringContaining(`on ${host}, which has ended`),
    ]);
    expect(refused).toMatchObject({ status: 'rejected', reason: { code: 'storage_blocked' } });
    expect(await readFile(lockOf(livingOne), 'utf8')).toBe(theirs);
    if (taken.status === 'fulfilled') await taken.value.release();
    expect(taken.status).toBe('fulfilled');
  });

  test('lets one of many concurrent callers have the folder', async () => {
    const path = join(folder, 'many');
    const settled = await Promise.allSettled(
      Array.from({ length: 12 }, () => takeFolder(path, silent)),
    );
    const taken = settled.flatMap((each) => (each.status === 'fulfilled' ? [each.value] : []));
    expect(taken).toHaveLength(1);
    const refused = settled.flatMap((each) => (each.status === 'rejected' ? [each.reason] : []));
    expect(
      refused.every((each) => each instanceof Refusal && each.code === 'storage_blocked'),
    ).toBe(true);
    await taken[0]?.release();
  });

  test.runIf(process.platform === 'linux')(
    'refuses a folder whose lock was deleted while its process lives',
    async () => {
      const path = join(folder, 'lock removed');
      await mkdir(path);
      const other = createServer((caller) => caller.destroy());
      await once(other.listen(socketOf(path, { pid: 4711, started: '1' })), 'listening');
      await expect(takeFolder(path, silent)).rejects.toMatchObject({
        code: 'storage_blocked',
        message: expect.stringContaining('Process 4711'),
      });
      expect((await readdir(path)).filter((name) => name.startsWith('burrow.lock'))).toEqual([]);
      // A killed process leaves its socket behind.
      await writeFile(socketOf(path, { pid: 4712, started: '1' }), '');
      other.close();
      await (await takeFolder(path, silent)).release();
    },
  );

  test('refuses a path that is a file', async () => {
    const path = join(folder, 'file');
    await writeFile(path, '');
    await expect(takeFolder(path, silent)).rejects.toMatchObject({ code: 'storage_unavailable' });
  });
});

describe('PGlite', () => {
  test('runs in its own thread and does not block the main thread (F36)', async () => {
    const database = openPreparedPglite();
    const connection = await database.connect();
    let isDone = false;
    const busy = connection
      .run([sql('SELECT count(*) FROM generate_series(1, 6000000)')])
      .finally(() => (isDone = true));
    let ticks = 0;
    const ticking = setInterval(() => (ticks += 1), 10);
    await expect.poll(() => ticks).toBeGreaterThan(3);
    expect(isDone).toBe(false);
    await busy;
    clearInterval(ticking);
    connection.release();
    await database.close();
  });

  const watched = (startOne: (dataDir: string) => Worker | Promise<Worker>) => {
    const threads: Worker[] = [];
    const start = async (dataDir: string): Promise<Worker> => {
      const thread = await startOne(dataDir);
      threads.push(thread);
      return thread;
    };
    return { start, threads };
  };

  test('in a folder is reopened if its thread ends, and loses nothing', async () => {
    const { start, threads } = watched(startThread);
    const data = dataIn(await prepareFolder(join(folder, 'ended')));
    const database = openPglite(data, start);
    const store = await openTables(database, 'main');
    await increment(store);
    const under = store.write(async (tx) => {
      const { rows } = await tx.fetch([COUNTER], []);
      if (threads.length === 1) await threads[0]?.terminate();
      tx.apply({
        puts: [
          { space: 'meta', row: { ...row('counter'), value: `${Number(rows[0]?.value) + 1}` } },
        ],
        deletes: [],
      });
    }, STRICT);
    await Promise.all([under, increment(store), increment(store)]);
    expect(threads).toHaveLength(2);
    expect(await counterOf(store)).toBe(4);
    await database.close();
  });

  test('stores deeply nested values without parsing them; the engine refuses such queries (F35)', async () => {
    const database = openPreparedPglite();
    const store = await openTables(database, 'main');
    const deep = '['.repeat(8000) + ']'.repeat(8000);
    await put(store, 'documents', [{ ...row('deep', ['e']), value: deep }]);
    expect((await everything(store)).documents[0]?.value).toBe(deep);
    const { engine } = new EngineWorld(store);
    const request = { secret: ROOT, query: deep, apiVersion: '4', allows: 'write' } as const;
    expect(await engine.query(request)).toMatchObject({ status: 400 });
    expect(statements + migrations).not.toMatch(/json/iu);
    await database.close();
  });

  test('in memory is lost with its thread and not replaced by an empty one', async () => {
    const { start, threads } = watched(startPrepared);
    const database = openPglite('memory:', start);
    const store = await openTables(database, 'main', { random: () => 0 });
    await increment(store);
    await threads[0]?.terminate();
    await expect(counterOf(store)).rejects.toMatchObject({ code: 'storage_unavailable' });
    expect(threads).toHaveLength(1);
    await database.close();
  });
});

describe('migrate()', () => {
  const TABLES = ['schema', 'rows', 'entries', 'sequencers', 'commits'].map(
    (name) => `burrow_${name}`,
  );
  const postgres = sharedPostgres();
  const connect = async (count: number): Promise<readonly SqlConnection[]> => {
    const database = openServer((await postgres()).url);
    const connections = await Promise.all(Array.from({ length: count }, () => database.connect()));
    onTestFinished(async () => {
      for (const each of connections) each.release();
      await database.close();
    });
    return connections;
  };

  test('runs once if many call it concurrently', async () => {
    const connections = await connect(4);
    // Which of them collide, and where, is random.
    for (let round = 0; round < 25; round++) {
      await connections[0]?.run([sql(`DROP TABLE IF EXISTS ${TABLES.join(', ')}`)]);
      await Promise.all(connections.map((each) => migrate(each)));
    }
    const [found] = (await connections[0]?.run([sql('SELECT version FROM burrow_schema')])) ?? [];
    expect(found?.rows).toEqual([[String(MIGRATIONS.length)]]);
  });

  test('only queries the version if the tables are up to date', async () => {
    const [connection] = await connect(1);
    if (!connection) throw new Error('No connection.');
    await migrate(connection);
    const asked: (readonly Statement[])[] = [];
    const run = (statements: readonly Statement[]) => {
      asked.push(statements);
      return connection.run(statements);
    };
    await migrate({ run, release: () => undefined });
    expect(asked).toHaveLength(1);
  });

  test('continues from the stored version, and rolls back if a step fails', async () => {
    const [connection] = await connect(1);
    if (!connection) throw new Error('No connection.');
    await migrate(connection);
    const next = [...MIGRATIONS, ['CREATE TABLE burrow_next (n integer)']];
    const failing = [...next, ['CREATE TABLE burrow_last (n integer)', 'SELECT nonsense']];
    await expect(migrate(connection, failing)).rejects.toMatchObject({ code: '42703' });
    await expect(connection.run([sql('SELECT * FROM burrow_next')])).rejects.toMatchObject({
      code: '42P01',
    });
    await migrate(connection, next);
    await connection.run([sql('SELECT * FROM burrow_next')]);
    await expect(migrate(connection)).rejects.toMatchObject({
      code: 'storage_unavailable',
      message: expect.stringMatching(/version 2, and this version of Burrow knows/u),
    });
    await connection.run([
      sql('DROP TABLE burrow_next'),
      sql('UPDATE burrow_schema SET version = 1'),
    ]);
  });
});

describe('openHubStore() with isReadOnly', () => {
  const postgres = sharedPostgres();

  test('reads a server that refuses writes, like a standby', async () => {
    const { url } = await postgres();
    const tenant = freshTenant();
    const writable = await openHubStore({ at: { postgres: url, tenant } });
    const address = { space: 'documents', key: documentKey(0, 1024, 1n) } as const;
    const row = { key: address.key, entries: [], value: 'kept' };
    await writable.store.write(
      async (tx) => tx.apply({ puts: [{ space: address.space, row }], deletes: [] }),
      { durability: 'strict' },
    );
    await writable.close();
    const standby = `${url}?options=${encodeURIComponent('-c default_transaction_read_only=on')}`;
    const opened = await openHubStore({ at: { postgres: standby, tenant }, isReadOnly: true });
    const { rows } = await opened.store.read((tx) => tx.fetch([address], []));
    expect(rows[0]?.value).toBe('kept');
    await opened.close();
    await expect(openHubStore({ at: { postgres: standby, tenant } })).rejects.toMatchObject({
      code: 'storage_unavailable',
    });
  });

  test('is refused, with mustExist, for a tenant that no hub has served', async () => {
    const { url } = await postgres();
    const at = { postgres: url, tenant: freshTenant() };
    for (const isReadOnly of [false, true])
      await expect(openHubStore({ at, mustExist: true, isReadOnly })).rejects.toMatchObject({
        code: 'storage_unavailable',
        message: `PostgreSQL at ${new URL(url).host}/postgres, tenant ${at.tenant} holds no data of a hub.`,
      });
    const served = await openHubStore({ at });
    await prepareHubRows(served.store, () => undefined);
    await served.close();
    await (await openHubStore({ at, mustExist: true, isReadOnly: true })).close();
  });

  test('is refused if no hub has created the tables', async () => {
    const { url } = await postgres();
    const database = openServer(url);
    const connection = await database.connect();
    await connection.run([sql('CREATE DATABASE empty')]);
    connection.release();
    await database.close();
    const at = { postgres: url.replace(/\/postgres$/, '/empty') };
    await expect(openHubStore({ at, isReadOnly: true })).rejects.toMatchObject({
      code: 'storage_unavailable',
      message: 'The database holds no data of a hub.',
    });
  });
});
