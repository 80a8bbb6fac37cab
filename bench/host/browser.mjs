// A Chromium with a profile on disk, never incognito, and the memory of its processes.
import { mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { chromium } from 'playwright';
import { chromiumArgs } from '../../scripts/chromium.mjs';
import { ensureBrowser } from '../../scripts/setup.mjs';
import { benchRoot } from './build.mjs';

const executablePath = await ensureBrowser();

/** @param {string} name @param {{ fresh?: boolean, args?: string[] }} [options] */
export async function openBrowser(name, { fresh = false, args = [] } = {}) {
  const folder = join(benchRoot, 'out/profiles', name);
  if (fresh) rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  const context = await chromium.launchPersistentContext(folder, {
    executablePath,
    headless: true,
    args: [...chromiumArgs, ...args],
  });
  return {
    context,
    folder,
    close: () => context.close(),
    forget: () => rmSync(folder, { recursive: true, force: true }),
  };
}

/** @param {string} path */
function textOf(path) {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    // The process has ended.
    return '';
  }
}

/**
 * The processes of a browser, found by its profile folder; memory in MB. Empty on systems other than Linux.
 * @param {string} folder
 */
export function processesOf(folder) {
  const all = new Map();
  for (const name of entriesOf('/proc').filter((entry) => /^\d+$/.test(entry))) {
    const stat = textOf(`/proc/${name}/stat`);
    const parent = Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[1]);
    // Renderers join their arguments by spaces.
    all.set(Number(name), { parent, command: textOf(`/proc/${name}/cmdline`).split(/[\0 ]/) });
  }
  const roots = [...all].filter(
    ([, { command }]) =>
      command.includes(`--user-data-dir=${folder}`) &&
      !command.some((part) => part.startsWith('--type=')),
  );
  const belongs = (/** @type {number} */ pid) => {
    for (let at = pid; at > 1; at = all.get(at)?.parent ?? 0) {
      if (roots.some(([root]) => root === at)) return true;
    }
    return false;
  };
  return [...all.keys()].filter(belongs).map((pid) => {
    const status = textOf(`/proc/${pid}/status`);
    const megabytes = (/** @type {string} */ field) =>
      Number(status.match(new RegExp(`${field}:\\s+(\\d+)`))?.[1] ?? 0) / 1024;
    const type = all
      .get(pid)
      .command.find((/** @type {string} */ part) => part.startsWith('--type='));
    return {
      pid,
      type: type?.slice('--type='.length) ?? 'browser',
      residentMb: megabytes('VmRSS'),
      peakMb: megabytes('VmHWM'),
    };
  });
}

/** Kills all processes and resolves when the browser is closed. @param {Awaited<ReturnType<typeof openBrowser>>} browser */
export async function killBrowser({ context, folder }) {
  const closed = new Promise((resolve) => context.once('close', resolve));
  for (const { pid } of processesOf(folder)) {
    try {
      process.kill(pid, 'SIGKILL');
    } catch {
      // It ended together with a process that was killed before.
    }
  }
  await closed;
}

/** @param {string} folder */
export function resetPeaks(folder) {
  for (const { pid } of processesOf(folder)) {
    try {
      writeFileSync(`/proc/${pid}/clear_refs`, '5');
    } catch {
      // Without permission to reset it, the peak is that since the start of the process.
    }
  }
}

/** Size of the site data in a profile, in bytes. @param {string} folder */
export const siteBytes = (folder) =>
  ['IndexedDB', 'File System'].reduce(
    (sum, name) => sum + bytesBelow(join(folder, 'Default', name)),
    0,
  );

/** @param {string} path @returns {number} */
function bytesBelow(path) {
  const stats = statSync(path, { throwIfNoEntry: false });
  if (!stats?.isDirectory()) return stats?.size ?? 0;
  return entriesOf(path).reduce((sum, name) => sum + bytesBelow(join(path, name)), 0);
}

/** @param {string} path */
function entriesOf(path) {
  try {
    return readdirSync(path);
  } catch {
    return [];
  }
}
