// Starts a browser of the system on an address, with a profile folder of its own, and ends it: what tests from outside and vitest's own provider build on.
import { fork } from 'node:child_process';
import { existsSync, mkdtempSync, rmSync, statfsSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { programOf, startOf } from './kinds.mjs';
import { signalGroup } from './process-group.mjs';

/** @typedef {import('./guard.mjs').Exit} Exit */

/**
 * @typedef {{
 *   kind: import('./kinds.mjs').Kind;
 *   url: string;
 *   profileDir?: string;
 *   isPrivate?: boolean;
 *   env?: Record<string, string>;
 *   prefs?: Record<string, string | number | boolean>;
 *   args?: string[];
 * }} LaunchOptions
 * `profileDir`: made when it is missing, and kept, with what the browser says in `browser.log`; without one there is a temporary one, removed at the end.
 * `isPrivate`: one private window. `prefs`: Firefox's settings beside those of `firefox-prefs.mjs`. `args`: before the others.
 */

/**
 * @typedef {{
 *   pid: number;
 *   profileDir: string;
 *   exited: Promise<Exit>;
 *   kill: (signal?: NodeJS.Signals) => boolean;
 *   close: () => Promise<Exit>;
 * }} RunningBrowser
 * `pid`: its first process, which leads its group. `exited`: none of the group lives, so its profile folder can be used again.
 * `kill`: a signal to every process of it at once, SIGKILL by default; false when it is gone. `close`: it is asked to end, and killed when it does not.
 */

const CLOSE_MS = 10_000;

/** Rejects when the browser is not on this machine or cannot be started. @param {LaunchOptions} options @returns {Promise<RunningBrowser>} */
export async function launch({
  kind,
  url,
  profileDir,
  isPrivate = false,
  env = {},
  prefs = {},
  args = [],
}) {
  const program = programOf(kind);
  if (program === undefined) throw new Error(`${kind} is not installed.`);
  const folder = profileDir ?? mkdtempSync(join(temporaryParent(), `burrow-${kind}-`));
  const start = startOf(kind, { url, profileDir: folder, isPrivate, prefs });
  const guard = fork(fileURLToPath(new URL('guard.mjs', import.meta.url)), {
    // Ctrl-C is for whoever started it: that one lets go of it in order.
    detached: true,
    execArgv: [],
    stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
  });
  guard.send({
    ...start,
    program,
    args: [...args, ...start.args],
    env: { ...start.env, ...env },
    profileDir: folder,
    isTemporary: profileDir === undefined,
  });
  const { started, exited } = reports(guard);
  try {
    const { pid } = await started;
    return { pid, profileDir: folder, exited, ...endings(pid, exited) };
  } catch (error) {
    if (profileDir === undefined) rmSync(folder, { recursive: true, force: true });
    throw error;
  }
}

/** In memory where there is room: it need not outlive the machine, and browsers wait for their disk at each small database. */
function temporaryParent() {
  if (!existsSync(MEMORY)) return tmpdir();
  const { bavail, bsize } = statfsSync(MEMORY);
  return bavail * bsize < ROOM_BYTES ? tmpdir() : MEMORY;
}

const MEMORY = '/dev/shm';
/** More than three times what a run of all browser tests was seen to need. */
const ROOM_BYTES = 1e9;

/** What the guard tells. @param {import('node:child_process').ChildProcess} guard */
function reports(guard) {
  /** @type {PromiseWithResolvers<{ pid: number }>} */
  const started = promised();
  /** @type {PromiseWithResolvers<Exit>} */
  const exited = promised();
  /** @type {Exit} */
  let exit = { code: null, signal: null };
  guard.on('message', (/** @type {import('./guard.mjs').Report} */ message) => {
    if ('pid' in message) started.resolve(message);
    else if ('failed' in message) started.reject(new Error(message.failed));
    else exit = message.exit;
  });
  // The guard ends last, with the screen and the temporary folder gone.
  guard.once('exit', () => {
    started.reject(new Error('The browser did not start.'));
    exited.resolve(exit);
  });
  return { started: started.promise, exited: exited.promise };
}

/** @template T @returns {PromiseWithResolvers<T>} */
function promised() {
  /** @type {(value: T | PromiseLike<T>) => void} */
  let resolve = () => undefined;
  /** @type {(reason: unknown) => void} */
  let reject = () => undefined;
  /** @type {Promise<T>} */
  const promise = new Promise((yes, no) => {
    resolve = yes;
    reject = no;
  });
  return { promise, resolve, reject };
}

/** @param {number} pid @param {Promise<Exit>} exited @returns {Pick<RunningBrowser, 'kill' | 'close'>} */
function endings(pid, exited) {
  let hasExited = false;
  void exited.then(() => (hasExited = true));
  // The number may be somebody else's by then.
  const kill = (/** @type {NodeJS.Signals} */ signal = 'SIGKILL') =>
    !hasExited && signalGroup(pid, signal);
  const close = async () => {
    if (!hasExited) terminate(pid);
    const late = setTimeout(kill, CLOSE_MS, 'SIGKILL');
    const exit = await exited;
    clearTimeout(late);
    return exit;
  };
  return { kill, close };
}

/** Its first process only, which ends the others in order. @param {number} pid */
function terminate(pid) {
  try {
    process.kill(pid, 'SIGTERM');
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && error.code === 'ESRCH')) throw error;
  }
}
