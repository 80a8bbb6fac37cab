/** Databases in folders. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { copyFile, cp, mkdir, mkdtemp, readdir, rm, stat, writeFile } from 'node:fs/promises';
import { hostname, tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { openHubStore } from '../hub/store/open-store.ts';
import { openPglite } from '../hub/sql/pglite-database.ts';
import { prepareFolder } from '../hub/testing/prepared-pglite.ts';
import { fillDisk, onSmallDisk } from '../hub/testing/small-disk.ts';
import { openSyncTestHub } from '../hub/testing/sync-test-hub.ts';
import { openTestHub } from '../hub/testing/test-hub.ts';
import { bundleNode } from '../scripts/bundle-hub.mjs';
import {
  DatabaseLocked,
  NotFound,
  q,
  UsageError,
  type Client,
  type Database,
} from '../src/index.ts';
import { connect } from './remote.ts';
import { openDatabase, type FolderOptions } from './node.ts';
import { signUp, todos } from './testing/todo-kit.ts';

interface Note {
  readonly n: number;
}

const notes = q.Collection<Note>('notes');
/** The number of acknowledged writes after which the process is killed. */
const ENOUGH = 41;
const writer = fileURLToPath(new URL('./testing/write-until-killed.mjs', import.meta.url));
let base: string;
let folders = 0;
/** The path of a folder that does not exist yet. */
const newFolder = (): string => join(base, String((folders += 1)));
/** A copy of a folder that was opened and closed. */
async function emptyFolder(): Promise<string> {
  const folder = newFolder();
  await cp(join(base, 'empty'), folder, { recursive: true });
  return folder;
}

beforeAll(async () => {
  base = await mkdtemp(join(tmpdir(), 'burrow-node-'));
  await (await openDatabase(await prepareFolder(join(base, 'empty')))).close();
});
afterAll(() => rm(base, { recursive: true, force: true }));

const ports = (): number =>
  process.getActiveResourcesInfo().filter((name) => name === 'MessagePort').length;

async function addNotes(client: Client, numbers: readonly number[]): Promise<void> {
  await client.query(q.CreateCollection({ name: 'notes' }));
  await client.query(q.Map([...numbers], (n) => q.Create(notes, { data: { n } })));
}

const numbersIn = (client: Client): Promise<readonly number[]> =>
  client.query(
    q.Select(
      'data',
      q.Map(q.Paginate(q.Documents(notes), { size: 100_000 }), (ref) =>
        q.Select(['data', 'n'], q.Get(ref)),
      ),
    ),
  );

test('a folder keeps its documents after it is reopened, and live queries see each change', async () => {
  // The folder does not exist: PGlite creates it.
  const folder = newFolder();
  const first = await openDatabase(folder);
  await addNotes(first.client(), [1, 2]);
  const counts: number[] = [];
  const stop = first
    .client()
    .subscribe(q.Count(q.Documents(notes)), { next: (count) => counts.push(count) });
  await expect.poll(() => counts).toEqual([2]);
  const { ref } = await first.client().query(q.Create(notes, { data: { n: 3 } }));
  await expect.poll(() => counts).toEqual([2, 3]);
  stop();
  await first.close();

  const again = await openDatabase(folder);
  expect(await numbersIn(again.client())).toEqual([1, 2, 3]);
  await again.client().query(q.Delete(ref));
  await expect(again.client().query(q.Get(ref))).rejects.toBeInstanceOf(NotFound);
  expect(await again.verify()).toEqual([]);
  await again.close();
});

test('a user logs in with a password, signs out and unlocks the database', async () => {
  const folder = await emptyFolder();
  const db = await openDatabase(folder, { hashCost: 10 });
  const admin = db.client();
  await addNotes(admin, [1]);
  await admin.query(q.CreateCollection({ name: 'users' }));
  const user = q.Ref(q.Collection('users'), '1');
  await admin.query(q.Create(user, { credentials: { password: 'secret' } }));
  const wrong = admin.query(q.Login(user, { password: 'wrong' }));
  await expect(wrong).rejects.toMatchObject({ code: 'authentication failed' });
  const { secret } = await admin.query(q.Login(user, { password: 'secret' }));
  expect(await db.client({ secret }).query(q.HasCurrentIdentity())).toBe(true);

  await db.signOut();
  const refused = db.client({ secret }).query(q.Now());
  await expect(refused).rejects.toThrow('signed out');
  await expect(refused).rejects.toBeInstanceOf(DatabaseLocked);
  await db.unlock({ secret });
  expect(await numbersIn(db.client())).toEqual([1]);
  await db.signOut();
  await db.close();

  const locked = await openDatabase(folder);
  expect(locked.isLocked).toBe(true);
  await locked.close();
  const unlocked = await openDatabase(folder, { unlock: { secret } });
  expect(await numbersIn(unlocked.client())).toEqual([1]);
  await unlocked.close();
});

test('the query log is recorded and exported', async () => {
  const db = await openDatabase(await emptyFolder(), { log: { enabled: true } });
  await db.client().query(q.Now());
  const hour = 3_600_000;
  const { request_id: id } = await db.logs.request({
    time_start: new Date(Date.now() - hour),
    time_end: new Date(Date.now() + hour),
  });
  await expect.poll(async () => (await db.logs.status(id)).state).toBe('Complete');
  await db.close();
});

test('a folder syncs with a hub, and only its owner can read the token', async () => {
  const hub = await openSyncTestHub();
  const admin = await connect({ url: hub.url, secret: hub.secret });
  const { login } = await signUp(admin);
  const folder = await emptyFolder();
  const sets = [q.Documents(todos)];
  const add = async (db: Database, title: string, options: { login?: typeof login }) => {
    const sync = await db.sync({ url: hub.url, sets, ...options });
    await sync.whenSynced();
    const { settled } = await sync.client.submit(q.Create(todos, { data: { title } }));
    expect(await settled).toMatchObject({ state: 'confirmed' });
    return sync;
  };
  const first = await openDatabase(folder);
  await add(first, 'a heron', { login });
  await first.close();
  const { mode } = await stat(join(folder, 'hub-token'));
  // Windows has no such file modes.
  expect(process.platform === 'win32' ? 0o600 : mode & 0o777).toBe(0o600);

  const again = await openDatabase(folder);
  const sync = await add(again, 'a wren', {});
  expect(await admin.client().query(q.Count(q.Documents(todos)))).toBe(2);
  const counts: number[] = [];
  sync.client.subscribe(q.Count(q.Documents(todos)), { next: (count) => counts.push(count) });
  await admin.client().query(q.Create(todos, { data: { title: 'a swift' } }));
  await expect.poll(() => counts.at(-1)).toBe(3);
  await again.signOut({ forget: true });
  expect(await readdir(base)).not.toContain(folder.slice(base.length + 1));
  await admin.close();
  await hub.close();
});

test('destroy() deletes only the database from its folder', async () => {
  const folder = await emptyFolder();
  await writeFile(join(folder, 'mine'), '');
  const db = await openDatabase(folder);
  await addNotes(db.client(), [1]);
  await db.destroy();
  expect(await readdir(folder)).toEqual(['mine']);
  const empty = await openDatabase(folder);
  expect(await empty.client().query(q.Exists(notes))).toBe(false);
  await empty.close();
});

test('close() unlocks the folder, and leaves nothing that keeps a process running', async () => {
  const folder = await emptyFolder();
  const before = ports();
  const db = await openDatabase(folder);
  await db.client().query(q.Now());
  expect(ports()).toBeGreaterThan(before);
  await db.close();
  await expect.poll(ports).toBe(before);
  const next = await openHubStore({ at: { data: folder } });
  await next.close();
});

test('on a full disk, writes are refused and the error names the folder', (context) =>
  onSmallDisk(context, 200, async (disk) => {
    const folder = join(disk, 'notes');
    await cp(join(base, 'empty'), folder, { recursive: true });
    const db = await openDatabase(folder);
    const client = db.client();
    await addNotes(client, [1]);
    const filler = join(disk, 'filler');
    await fillDisk(disk, filler, 2 ** 20);
    const full = { code: 'quota_exceeded', message: expect.stringContaining(folder) };
    await expect(client.query(q.Create(notes, { data: { n: 2 } }))).rejects.toMatchObject(full);
    await expect(db.files.put(new Blob(['x'.repeat(2 ** 21)]))).rejects.toMatchObject(full);
    expect(await numbersIn(client)).toEqual([1]);
    await rm(filler);
    await client.query(q.Create(notes, { data: { n: 3 } }));
    await db.close();
  }));

describe('openDatabase() refuses', () => {
  test('a folder that is open, and names the process that has it open', async () => {
    const folder = await emptyFolder();
    const db = await openDatabase(folder);
    await expect(openDatabase(folder)).rejects.toMatchObject({
      code: 'storage_blocked',
      description: expect.stringContaining(
        `Process ${process.pid} on ${hostname()} has had the folder open`,
      ) as unknown,
    });
    expect(await db.client().query(1)).toBe(1);
    await db.close();
  });

  test('a folder written by a newer version of Burrow', async () => {
    const folder = await emptyFolder();
    await (await openDatabase(folder)).close();
    const database = openPglite(join(folder, 'pglite'));
    const connection = await database.connect();
    await connection.run([{ name: '', text: 'UPDATE burrow_schema SET version = 99', values: [] }]);
    connection.release();
    await database.close();
    await expect(openDatabase(folder)).rejects.toMatchObject({
      code: 'storage_unavailable',
      description: expect.stringMatching(/version 99, .* install a newer Burrow/u) as unknown,
    });
  });

  test('the folder of a hub, because its devices would not see the changes', async () => {
    const folder = await emptyFolder();
    const storage = await openHubStore({ at: { data: folder } });
    const hub = await openTestHub({ storage });
    await hub.close();
    await expect(openDatabase(folder)).rejects.toMatchObject({
      code: 'storage_unavailable',
      description: expect.stringContaining('holds the data of a hub') as unknown,
    });
  });

  test('a path that is not a folder', async () => {
    const file = newFolder();
    await writeFile(file, '');
    await expect(openDatabase(file)).rejects.toMatchObject({ code: 'storage_unavailable' });
    await expect(openDatabase('')).rejects.toBeInstanceOf(UsageError);
  });

  test('options that are only for browsers, and gives the reason', async () => {
    const options: FolderOptions = Object.fromEntries([['store', 'packed']]);
    const opening = openDatabase(newFolder(), options);
    await expect(opening).rejects.toBeInstanceOf(UsageError);
    await expect(opening).rejects.toThrow('a folder is stored by PGlite');
    const unknown: FolderOptions = Object.fromEntries([['hashcost', 10]]);
    await expect(openDatabase(newFolder(), unknown)).rejects.toThrow('hashCost');
  });
});

describe('a process', () => {
  const root = fileURLToPath(new URL('..', import.meta.url));
  const built = join(root, 'node_modules/.cache/burrow', `node-test-${process.pid}`);
  beforeAll(() => bundleNode(built));
  afterAll(() => rm(built, { recursive: true, force: true }));

  test('that is killed keeps all acknowledged writes', async () => {
    const folder = await emptyFolder();
    const child = spawn(process.execPath, [writer, join(built, 'node.mjs'), folder], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    let said = '';
    child.stdout.on('data', (part) => {
      said += String(part);
      if (said.split('\n').length > ENOUGH) child.kill('SIGKILL');
    });
    const [, signal] = (await once(child, 'close')) as [unknown, string | null];
    expect(signal).toBe('SIGKILL');
    const acknowledged = said.split('\n').slice(0, -1).map(Number);
    expect(acknowledged.length).toBeGreaterThanOrEqual(ENOUGH);
    const db = await openDatabase(folder);
    const kept = await numbersIn(db.client());
    expect(kept).toEqual(expect.arrayContaining(acknowledged));
    // The writes in progress may be stored too, but nothing else.
    expect(kept.length - acknowledged.length).toBeLessThanOrEqual(4);
    expect(await db.verify()).toEqual([]);
    await db.close();
  });

  test('without PGlite gets an error that says how to install it', async () => {
    // No package is installed in this folder.
    const away = newFolder();
    await mkdir(away);
    await copyFile(join(built, 'node.mjs'), join(away, 'node.mjs'));
    const code = `const { openDatabase } = await import(${JSON.stringify(pathToFileURL(join(away, 'node.mjs')).href)});
      await openDatabase('none').catch(({ code, message }) => console.log(code, message));`;
    const child = spawn(process.execPath, ['--input-type=module', '-e', code], { cwd: away });
    let said = '';
    child.stdout.on('data', (part) => (said += String(part)));
    child.stderr.on('data', (part) => (said += String(part)));
    await once(child, 'close');
    expect(said).toContain('unsupported');
    expect(said).toContain('npm install @electric-sql/pglite');
    expect(await readdir(away)).toEqual(['node.mjs']);
  });
});
