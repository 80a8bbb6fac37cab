// Starts a system browser with its own profile folder on a URL, and closes it. Used by tests that drive browsers from outside, and by
// vitest's provider.
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
 *   env?: Readonly<Record<string, string>>;
 *   prefs?: Record<string, string | number | boolean>;
 *   args?: string[];
 * }} LaunchOptions
 * `profileDir`: created if it is missing, and kept, with the browser's output in `browser.log`. Without it, a temporary folder is used and
 * deleted at the end. `isPrivate`: opens one private window. `prefs`: Firefox preferences in addition to `firefox-prefs.mjs`. `args`:
 * placed before the default arguments.
 */

/**
 * @typedef {{
 *   pid: number;
 *   profileDir: string;
 *   exited: Promise<Exit>;
 *   kill: (signal?: NodeJS.Signals) => boolean;
 *   close: () => Promise<Exit>;
 * }} RunningBrowser
 * `pid`: the browser's first process, which leads its group. `exited`: resolves when no process of the group is alive, so the profile
 * folder can be reused. `kill`: sends a signal to all processes of the group, SIGKILL by default; returns false if none is left. `close`:
 * asks the browser to exit, and kills it if it does not.
 */

const CLOSE_MS = 10_000;

/** Rejects if the browser is not installed or cannot be started. @param {LaunchOptions} options @returns {Promise<RunningBrowser>} */
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
    // Ctrl-C must reach only the process that launched the browser, which then closes it in order.
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

/**
 * In memory if there is room: a temporary profile need not survive a restart, and browsers wait for the disk when they create a database.
 */
function temporaryParent() {
  if (!existsSync(MEMORY)) return tmpdir();
  const { bavail, bsize } = statfsSync(MEMORY);
  return bavail * bsize < ROOM_BYTES ? tmpdir() : MEMORY;
}

const MEMORY = '/dev/shm';
/** More than three times what all browser tests together were seen to need. */
const ROOM_BYTES = 1e9;

/** Promises for the messages of the guard. @param {import('node:child_process').ChildProcess} guard */
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
  // The guard exits last, after the display and the temporary folder have been removed.
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
  // After the exit, the process id may belong to another process.
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

/** Terminates the first process, which ends the others in order. @param {number} pid */
function terminate(pid) {
  try {
    process.kill(pid, 'SIGTERM');
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && error.code === 'ESRCH')) throw error;
  }
}
