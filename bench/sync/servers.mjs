// Starts the servers of a run, Burrow's hub and those of the rivals. Each is a process with its own data folder.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { bundleHub } from '../../scripts/bundle-hub.mjs';
import { root } from '../../scripts/setup.mjs';
import { RIVALS } from '../host/build.mjs';

const ROOT_SECRET = 'burrow-root-of-a-bench-hub-which-is-known';

/** @typedef {{ url: string; secret: string; stop: () => Promise<void> }} Served */

/** @param {string} contender @returns {Promise<Served>} */
export async function startServer(contender) {
  if (contender.startsWith('burrow')) return startHub();
  const folder = mkdtempSync(join(tmpdir(), 'burrow-bench-rival-'));
  const program = join(RIVALS, `sync-${contender}-server.mjs`);
  const { found, stop } = await startProcess([program, folder], folder, /listening (\d+)/);
  return { url: `http://127.0.0.1:${found}`, secret: '', stop };
}

/** @param {Readonly<Record<string, string>>} given */
const flags = (given) => Object.entries(given).flatMap(([name, value]) => [`--${name}`, value]);

async function startHub() {
  const folder = mkdtempSync(join(tmpdir(), 'burrow-bench-hub-'));
  const programs = join(root, `node_modules/.cache/burrow/sync-bench-${process.pid}`);
  await bundleHub(programs, { packages: 'outside' });
  const { found: url, stop } = await startProcess(
    [
      join(programs, 'main.mjs'),
      'hub',
      ...flags({ port: '0', data: join(folder, 'hub'), cors: '*', 'log-level': 'silent' }),
      // No rate limits, so that the hub never delays or refuses a request.
      ...flags({ rate: '0', 'rate-address': '0', 'sockets-per-address': '1000' }),
    ],
    folder,
    /burrow hub listening on (\S+)/,
  );
  const secret = await createTestData(url);
  const stopAll = async () => {
    await stop();
    rmSync(programs, { recursive: true, force: true });
  };
  return { url, secret, stop: stopAll };
}

/**
 * @param {readonly string[]} args @param {string} folder removed at the end
 * @param {RegExp} pattern
 */
async function startProcess(args, folder, pattern) {
  const env = { ...process.env, BURROW_ROOT_SECRET: ROOT_SECRET };
  const child = spawn(process.execPath, args, { env, stdio: ['ignore', 'pipe', 'inherit'] });
  let said = '';
  /** @type {string} */
  const found = await new Promise((resolve, reject) => {
    child.once('exit', () => reject(new Error(`${args.join(' ')} ended: ${said}`)));
    child.stdout.on('data', (part) => {
      said += String(part);
      const match = pattern.exec(said)?.[1];
      if (match !== undefined) resolve(match);
    });
  });
  const stop = async () => {
    const exit = once(child, 'exit');
    const late = setTimeout(() => child.kill('SIGKILL'), 10_000);
    child.kill('SIGTERM');
    await exit;
    clearTimeout(late);
    rmSync(folder, { recursive: true, force: true });
  };
  return { found, stop };
}

/** Executes a query at the hub with the root secret. @param {string} url @param {unknown} query @returns {Promise<any>} */
export async function askRoot(url, query) {
  const headers = { authorization: `Bearer ${ROOT_SECRET}`, 'x-faunadb-api-version': '4' };
  const answer = await fetch(url, { method: 'POST', headers, body: JSON.stringify(query) });
  const { resource, errors } = await answer.json();
  if (errors) throw new Error(JSON.stringify(errors));
  return resource;
}

const object = (/** @type {object} */ members) => ({ object: members });
const collection = (/** @type {string} */ name) => ({ collection: name });

/**
 * Creates a collection of notes that a user may read and write, indexed by room.
 * @param {string} url @returns {Promise<string>} the user's token
 */
async function createTestData(url) {
  const ask = (/** @type {unknown} */ query) => askRoot(url, query);
  for (const name of ['people', 'notes']) await ask({ create_collection: object({ name }) });
  await ask({
    create_index: object({
      name: 'notes_by_room',
      source: collection('notes'),
      terms: [object({ field: ['data', 'room'] })],
    }),
  });
  const actions = object({ read: true, write: true, create: true, delete: true });
  await ask({
    create_role: object({
      name: 'person',
      membership: [object({ resource: collection('people') })],
      privileges: [
        object({ resource: collection('notes'), actions }),
        object({ resource: { index: 'notes_by_room' }, actions: object({ read: true }) }),
      ],
    }),
  });
  const somebody = { create: { ref: collection('people'), id: '1' }, params: object({}) };
  await ask(somebody);
  const instance = { ref: collection('people'), id: '1' };
  const token = await ask({ create: { tokens: null }, params: object({ instance }) });
  return token.secret;
}
