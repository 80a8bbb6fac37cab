// Tests the package as a user gets it: packs it, installs it in an empty folder, and uses it there.
import { spawn, spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { root, succeedsWithRetries } from './setup.mjs';

const isWindows = process.platform === 'win32';

/** @param {string} command @param {string[]} args @param {string} cwd */
function run(command, args, cwd) {
  const { status, stdout, stderr } = spawnSync(command, args, {
    cwd,
    encoding: 'utf8',
    shell: isWindows,
  });
  if (status !== 0) throw new Error(`${command} ${args.join(' ')}:\n${stdout}${stderr}`);
  return stdout;
}

/** A program of an app that imports every entry, with its types. */
const CONSUMER = `
import { openDatabase as openFolder, type FolderOptions } from 'burrowdb/node';
import { BurrowError, openDatabase, q, type Client, type Database } from 'burrowdb';
interface Note { readonly text: string }
export async function open(): Promise<number> {
  const db: Database = await openDatabase('notes', { worker: () => new Worker('burrowdb/worker', { type: 'module' }) });
  const options: FolderOptions = { log: { enabled: true } };
  const inFolder: Promise<Database> = openFolder('notes', options);
  const client: Client = db.client();
  const made = await client.query(q.Create(q.Collection<Note>('notes'), { data: { text: 'a heron' } }));
  const text: string = made.data.text;
  // @ts-expect-error: the package knows what a note is
  const wrong: number = made.data.text;
  const login = { user: q.Match(q.Index('users_by_email'), 'a@example.org'), password: 'p', key: 'k' };
  const sync = await db.sync({ url: 'https://hub.example', login, sets: [] }).catch((reason: unknown) => {
    if (reason instanceof BurrowError) return undefined;
    throw reason;
  });
  return [text, wrong, sync, inFolder].length;
}
`;

const TESTS = `
import { q } from 'burrowdb';
import { exportDatabase, importDatabase } from 'burrowdb/data';
import { connect } from 'burrowdb/remote';
import { openDatabase as openFolder } from 'burrowdb/node';
import { openDatabase, openHub } from 'burrowdb/testing';
const hub = await openHub();
await hub.client().query(q.CreateCollection({ name: 'notes' }));
const db = await openDatabase('notes', { log: { enabled: true } });
const notes = q.Documents(q.Collection('notes'));
const sync = await db.sync({ url: hub.url, secret: hub.rootSecret, sets: [notes] });
const { settled } = await sync.client.submit(q.Create(q.Collection('notes')));
const { state } = await settled;
console.log(await hub.client().query(q.Count(notes)), state);
const copy = await openDatabase();
const { imported } = await importDatabase(copy, exportDatabase(hub));
if (imported !== 1) console.log(imported, 'imported');
await copy.close();
await db.close();
await hub.close();
const remote = await connect({ url: 'http://127.0.0.1:1', secret: 'any' });
console.log(await remote.client().query(1).catch(({ code }) => code));
await remote.close();
let folder = await openFolder('field-notes');
await folder.client().query(q.CreateCollection({ name: 'users' }));
const user = q.Ref(q.Collection('users'), '1');
await folder.client().query(q.Create(user, { credentials: { password: 'secret' } }));
await folder.close();
folder = await openFolder('field-notes');
const { secret } = await folder.client().query(q.Login(user, { password: 'secret' }));
console.log(typeof secret);
await folder.close();
`;

/** @returns {Promise<string[]>} problems; empty if there are none */
export async function tryInstalledPackage() {
  const folder = mkdtempSync(join(tmpdir(), 'burrow-package-'));
  try {
    const [packed] = JSON.parse(run('npm', ['pack', '--json', '--pack-destination', folder], root));
    const { devDependencies } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
    const pglite = `@electric-sql/pglite@${devDependencies['@electric-sql/pglite']}`;
    const app = join(folder, 'app');
    mkdirSync(app);
    writeFileSync(join(app, 'package.json'), '{"name":"app","private":true,"type":"module"}');
    const tarball = join(folder, packed.filename);
    const quiet = ['--no-audit', '--no-fund', '--prefer-offline', '--ignore-scripts'];
    if (!succeedsWithRetries('npm', ['install', ...quiet, tarball, pglite], { cwd: app }))
      return ['the packed package could not be installed'];
    return [
      ...wrongPackages(app),
      ...wrongTypes(app),
      ...wrongTests(app),
      ...(await wrongHub(app)),
    ];
  } catch (error) {
    return [error instanceof Error ? error.message : String(error)];
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** The package bundles its dependencies, so installing it must install nothing else, apart from PGlite. @param {string} app */
function wrongPackages(app) {
  const { packages } = JSON.parse(readFileSync(join(app, 'package-lock.json'), 'utf8'));
  const asked = ['', 'node_modules/burrowdb', 'node_modules/@electric-sql/pglite'];
  return Object.keys(packages)
    .filter((path) => !asked.includes(path))
    .map((path) => `installing the package also installs ${path}, which belongs inside it`);
}

/** @param {string} app */
function wrongTypes(app) {
  const options = {
    strict: true,
    noEmit: true,
    target: 'es2023',
    module: 'esnext',
    moduleResolution: 'bundler',
    lib: ['es2023', 'dom', 'dom.iterable', 'dom.asynciterable'],
    types: [],
  };
  writeFileSync(join(app, 'consumer.ts'), CONSUMER);
  writeFileSync(
    join(app, 'tsconfig.json'),
    JSON.stringify({ compilerOptions: options, files: ['consumer.ts'] }),
  );
  const compiler = join(root, 'node_modules/typescript/bin/tsc');
  const { status, stdout } = spawnSync(process.execPath, [compiler, '-p', app], {
    encoding: 'utf8',
  });
  return status === 0
    ? []
    : [`a program that imports the installed package does not compile:\n${stdout}`];
}

/** Runs a test program, which must exit by itself once it has closed all that it opened. @param {string} app */
function wrongTests(app) {
  writeFileSync(join(app, 'try.mjs'), TESTS);
  const { status, stdout, stderr } = spawnSync(process.execPath, ['try.mjs'], {
    cwd: app,
    encoding: 'utf8',
    timeout: 120_000,
  });
  // Stderr must be empty: a newer Node prints warnings about experimental and deprecated features there.
  return status === 0 && stdout.trim() === '1 confirmed\nhub_unreachable\nstring' && stderr === ''
    ? []
    : [
        `a program that uses burrowdb/testing, burrowdb/remote and burrowdb/node ended with ${status}: ${stdout}${stderr}`,
      ];
}

/** @param {string} app */
async function wrongHub(app) {
  const args = ['--no-install', 'burrow', 'hub', '--port', '0', '--data', join(app, 'data')];
  const hub = spawn('npx', args, {
    cwd: app,
    shell: isWindows,
    detached: !isWindows,
    timeout: 60_000,
  });
  let said = '';
  const ended = new Promise((resolve) => hub.once('close', resolve));
  try {
    await new Promise((resolve, reject) => {
      /** @param {Buffer} part */
      const hear = (part) => {
        said += String(part);
        if (said.includes('burrow hub listening on ')) resolve(undefined);
      };
      hub.stdout.on('data', hear);
      hub.stderr.on('data', hear);
      void ended.then(() => reject(new Error(`npx burrow hub exited: ${said}`)));
    });
    const url = /listening on (\S+)/.exec(said)?.[1] ?? '';
    const secret = /Root secret, shown this once: (\S+)/.exec(said)?.[1] ?? '';
    const answer = await fetch(url, {
      method: 'POST',
      headers: { authorization: `Bearer ${secret}`, 'x-faunadb-api-version': '4' },
      body: '{"create_collection":{"object":{"name":"notes"}}}',
    });
    if (answer.status === 201) return [];
    return [
      `the hub of the installed package responded with ${answer.status} ${await answer.text()}`,
    ];
  } finally {
    // Signals the whole process group, because npx may not forward the signal to its child.
    if (hub.pid !== undefined && !isWindows && hub.exitCode === null)
      process.kill(-hub.pid, 'SIGTERM');
    else hub.kill();
    await ended;
  }
}
