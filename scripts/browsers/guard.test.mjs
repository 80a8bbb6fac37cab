// Tests the guard with a shell and its child instead of a browser and its processes.
import { fork, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, describe, expect, test } from 'vitest';
import { groupEnds, signalGroup } from './process-group.mjs';

const guardFile = fileURLToPath(new URL('guard.mjs', import.meta.url));
/** A timeout that only a hanging test reaches. */
const LONG_MS = 60_000;

/** @type {number[]} */
const groups = [];
/** @type {string[]} */
const folders = [];
afterEach(() => {
  for (const leader of groups.splice(0)) signalGroup(leader, 'SIGKILL');
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true, force: true });
});

/** @param {string} script @param {Partial<import('./guard.mjs').Order>} [more] @returns {import('./guard.mjs').Order} */
function order(script, more) {
  const profileDir = mkdtempSync(join(tmpdir(), 'burrow-guard-'));
  folders.push(profileDir);
  return {
    program: '/bin/sh',
    args: ['-c', script],
    env: {},
    files: {},
    needsDisplay: false,
    profileDir,
    isTemporary: true,
    ...more,
  };
}

/** @param {import('./guard.mjs').Order} wish */
async function started(wish) {
  const guard = fork(guardFile, { detached: true, execArgv: [] });
  /** @type {import('./guard.mjs').Report[]} */
  const reports = [];
  guard.on('message', (/** @type {import('./guard.mjs').Report} */ report) => reports.push(report));
  const ended = once(guard, 'exit');
  guard.send(wish);
  await once(guard, 'message');
  const [report] = reports;
  if (report !== undefined && 'pid' in report) groups.push(report.pid);
  return { reports, ended };
}

describe.skipIf(process.platform === 'win32')('the guard of a browser', () => {
  test('reports the process, and its end when no process of its group is left', async () => {
    const { reports, ended } = await started(order('sleep 1000 & wait'));
    const [leader] = groups;
    if (leader === undefined) throw new Error('It told no process.');
    signalGroup(leader, 'SIGKILL');
    await ended;
    expect(reports).toEqual([{ pid: leader }, { exit: { code: null, signal: 'SIGKILL' } }]);
    expect(await groupEnds(leader, 0)).toBe(true);
  });

  test('writes the files for the start, logs the output of the browser, and removes only a temporary folder', async () => {
    const said = 'cat given; echo "$WORD"';
    const more = { files: { given: 'a file\n' }, env: { WORD: 'a word' } };
    const kept = order(said, { ...more, isTemporary: false });
    const { reports, ended } = await started(kept);
    await ended;
    expect(reports.at(-1)).toEqual({ exit: { code: 0, signal: null } });
    expect(readFileSync(join(kept.profileDir, 'browser.log'), 'utf8')).toBe('a file\na word\n');
    const removed = order(said, more);
    await (
      await started(removed)
    ).ended;
    expect(existsSync(removed.profileDir)).toBe(false);
  });

  test('reports why a program could not be started', async () => {
    const { reports, ended } = await started(order('', { program: '/nowhere/browser' }));
    await ended;
    expect(reports).toEqual([{ failed: 'spawn /nowhere/browser ENOENT' }]);
  });

  test('ends the process group when the script that started the guard is killed', async () => {
    const wish = order('sleep 1000 & wait');
    const script = `
      const guard = require('node:child_process').fork(${JSON.stringify(guardFile)}, { detached: true });
      guard.on('message', (report) => console.log(report.pid));
      guard.send(${JSON.stringify(wish)});`;
    const starter = spawn(process.execPath, ['-e', script], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    const [line] = await once(starter.stdout, 'data');
    const leader = Number(line);
    expect(leader).toBeGreaterThan(1);
    groups.push(leader);
    starter.kill('SIGKILL');
    expect(await groupEnds(leader, LONG_MS)).toBe(true);
    await expect.poll(() => existsSync(wish.profileDir)).toBe(false);
  });
});
