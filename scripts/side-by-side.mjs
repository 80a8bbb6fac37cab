// Runs programs in parallel. The output of each is shown as a whole when it has ended.
import { spawn } from 'node:child_process';
import { root } from './setup.mjs';

/**
 * @typedef {{ env?: NodeJS.ProcessEnv; isShown?: boolean }} Options `isShown`: print output as it arrives, for a program that runs alone
 */

/**
 * @param {string} command @param {readonly string[]} args @param {Options} [options]
 * @returns {Promise<{ ok: boolean; printed: string }>} `printed`: the output, unless it was shown as it arrived
 */
export function run(command, args, { env = process.env, isShown = false } = {}) {
  const output = isShown ? 'inherit' : 'pipe';
  const child = spawn(command, [...args], {
    cwd: root,
    env,
    stdio: ['ignore', output, output],
    shell: process.platform === 'win32',
  });
  let printed = '';
  for (const stream of [child.stdout, child.stderr])
    stream?.setEncoding('utf8').on('data', (part) => (printed += part));
  return new Promise((resolve, reject) => {
    child.once('error', reject);
    child.once('close', (code) => resolve({ ok: code === 0, printed }));
  });
}

/**
 * Works through the jobs in order, up to `atOnce` in parallel.
 * @template Job, Result
 * @param {readonly Job[]} jobs @param {number} atOnce @param {(job: Job) => Promise<Result>} work
 * @returns {Promise<Result[]>} in the order of the jobs
 */
export async function inLanes(jobs, atOnce, work) {
  /** @type {Result[]} */
  const results = [];
  const left = [...jobs.entries()];
  const lane = async () => {
    for (let next = left.shift(); next !== undefined; next = left.shift())
      results[next[0]] = await work(next[1]);
  };
  await Promise.all(Array.from({ length: atOnce }, lane));
  return results;
}

/** @param {number} fromMs a time of `performance.now()` */
export const secondsSince = (fromMs) => ((performance.now() - fromMs) / 1000).toFixed(1);
