// The hub that `npm start` runs for the demo: starts it, fills it at its first start, stops it.
import { spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fillHub } from '../demo/build/hub-notes.mjs';
import { bundleHub, hubFolder } from './bundle-hub.mjs';
import { root, SetupError } from './setup.mjs';

/** @typedef {{ rootSecret: string; clientKey?: string }} Secrets */
/** @typedef {import('../demo/build/hub-notes.mjs').HubNotes} HubNotes */
/** @typedef {{ url: string; notes: HubNotes; stop: () => Promise<void> }} DemoHub */

const START_MS = 60_000;
const STOP_MS = 12_000;

/** @param {{ data: string; port: number }} options `data`: a folder, or `memory:` @returns {Promise<DemoHub>} */
export async function startDemoHub({ data, port }) {
  await bundleHub(hubFolder, { packages: 'outside' });
  const kept = keptSecrets(data);
  const child = startProcess(kept.secrets.rootSecret, [
    '--host=127.0.0.1',
    `--port=${await freePort(port)}`,
    `--data=${data === 'memory:' ? data : join(data, 'hub')}`,
    '--query-log=off',
    // A machine that builds or runs tests at the same time may be slow.
    '--query-timeout=30000',
    '--log-level=error',
  ]);
  const ended = new Promise((resolve) => child.once('exit', resolve));
  const stop = async () => {
    if (child.connected) child.disconnect();
    const late = setTimeout(() => child.kill('SIGKILL'), STOP_MS);
    await ended;
    clearTimeout(late);
  };
  try {
    const url = await listening(child);
    const notes = await fillHub(url, kept.secrets);
    kept.keep({ ...kept.secrets, clientKey: notes.key });
    return { url, notes, stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

/** @param {string} rootSecret @param {readonly string[]} settings */
const startProcess = (rootSecret, settings) =>
  spawn(process.execPath, [join(root, 'scripts/demo-hub-process.mjs'), 'hub', ...settings], {
    cwd: root,
    env: { ...process.env, BURROW_ROOT_SECRET: rootSecret },
    stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
    // Ctrl-C must reach only the process that started the hub, which then stops the hub in order.
    detached: process.platform !== 'win32',
  });

/**
 * Resolves to the URL that the hub prints when it is ready. Its error output after that goes to the console.
 * @param {import('node:child_process').ChildProcess} child @returns {Promise<string>}
 */
function listening(child) {
  return new Promise((resolve, reject) => {
    const late = setTimeout(
      () => reject(new SetupError(`The hub did not start within ${START_MS / 1000} s.`)),
      START_MS,
    );
    let isReady = false;
    let why = '';
    if (child.stdout)
      createInterface({ input: child.stdout }).on('line', (line) => {
        const [, url] = /^burrow hub listening on (\S+)$/.exec(line) ?? [];
        if (url === undefined) return;
        isReady = true;
        clearTimeout(late);
        resolve(url);
      });
    if (child.stderr)
      createInterface({ input: child.stderr }).on('line', (line) => {
        why = line.replace(/^burrow: /, '');
        if (isReady) console.error(`[hub] ${line}`);
      });
    child.once('close', (code) => {
      clearTimeout(late);
      reject(new SetupError(why === '' ? `The hub exited with code ${code}.` : why));
    });
  });
}

/** The given port if it is free, otherwise 0, with which the system picks one. @param {number} port @returns {Promise<number>} */
const freePort = (port) =>
  new Promise((resolve) => {
    const probe = createServer();
    probe.once('error', () => resolve(0));
    probe.listen(port, '127.0.0.1', () => probe.close(() => resolve(port)));
  });

/** Reads the secrets, or generates them at the first start. @param {string} data */
function keptSecrets(data) {
  const isKept = data !== 'memory:';
  const file = join(data, 'secrets.json');
  /** @returns {Secrets} */
  const read = () => {
    try {
      return JSON.parse(readFileSync(file, 'utf8'));
    } catch (error) {
      const isNew = error instanceof Error && 'code' in error && error.code === 'ENOENT';
      if (isNew) return { rootSecret: `burrow-root-${randomBytes(30).toString('base64url')}` };
      throw new SetupError(`Cannot read ${file}. Remove ${data} to start with an empty hub.`);
    }
  };
  const secrets = isKept
    ? read()
    : { rootSecret: `burrow-root-${randomBytes(30).toString('base64url')}` };
  const keep = (/** @type {Secrets} */ next) => {
    if (!isKept) return;
    mkdirSync(data, { recursive: true });
    writeFileSync(file, `${JSON.stringify(next, undefined, 2)}\n`, { mode: 0o600 });
  };
  keep(secrets);
  return { secrets, keep };
}
