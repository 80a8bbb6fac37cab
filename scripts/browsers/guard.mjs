// The process between a script and the browser that it starts. When the script ends, in whatever way, the IPC channel closes and this
// process kills the browser.
import { spawn } from 'node:child_process';
import { mkdirSync, openSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { startDisplay } from './display.mjs';
import { groupEnds, signalGroup } from './process-group.mjs';

/** @typedef {import('./kinds.mjs').Start & { program: string; profileDir: string; isTemporary: boolean }} Order */
/** @typedef {{ code: number | null; signal: string | null }} Exit */
/** @typedef {{ pid: number } | { exit: Exit } | { failed: string }} Report */

/** Time, after the browser's first process has ended, in which its other processes may finish writing to disk. */
const REST_MS = 5000;

/** @param {Report} report */
const tell = (report) => process.connected && process.send?.(report);

process.once('message', (/** @type {Order} */ order) => {
  run(order)
    .then(
      (exit) => tell({ exit }),
      (/** @type {unknown} */ error) =>
        tell({ failed: error instanceof Error ? error.message : String(error) }),
    )
    .finally(() => process.connected && process.disconnect());
});

/** @param {Order} order @returns {Promise<Exit>} */
async function run({ program, args, env, files, profileDir, isTemporary, needsDisplay }) {
  mkdirSync(profileDir, { recursive: true });
  try {
    for (const [name, text] of Object.entries(files)) writeFileSync(join(profileDir, name), text);
    const display = needsDisplay ? await startDisplay(join(profileDir, 'display.key')) : undefined;
    try {
      return await runBrowser(program, args, profileDir, { ...env, ...display?.env });
    } finally {
      await display?.close();
    }
  } finally {
    if (isTemporary) rmSync(profileDir, { recursive: true, force: true, maxRetries: 10 });
  }
}

/**
 * @param {string} program @param {string[]} args @param {string} profileDir @param {Record<string, string>} env
 * @returns {Promise<Exit>}
 */
async function runBrowser(program, args, profileDir, env) {
  const log = openSync(join(profileDir, 'browser.log'), 'a');
  const browser = spawn(program, args, {
    // Makes the browser the leader of its own process group, which this process is not part of.
    detached: true,
    cwd: profileDir,
    env: { ...process.env, ...env },
    stdio: ['ignore', log, log],
  });
  /** @type {Promise<Exit>} */
  const exited = new Promise((resolve, reject) => {
    browser.once('error', reject);
    browser.once('exit', (code, signal) => resolve({ code, signal }));
  });
  const { pid } = browser;
  if (pid === undefined) return exited;
  const kill = () => signalGroup(pid, 'SIGKILL');
  if (process.connected) process.once('disconnect', kill);
  else kill();
  tell({ pid });
  const exit = await exited;
  if (!(await groupEnds(pid, REST_MS))) {
    kill();
    await groupEnds(pid, REST_MS);
  }
  process.off('disconnect', kill);
  return exit;
}
