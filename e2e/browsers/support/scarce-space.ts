/** Limits the storage of a browser. Each browser needs another method. */
import { spawnSync } from 'node:child_process';
import { mkdir, open, readdir, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { Browser, StartOptions } from './browser.ts';

export interface ScarceSpace {
  /** Options with which the browser, which must not be running, is started with little storage. */
  readonly startOptions: StartOptions;
  /** Gives the browser enough storage again, from its next start on. */
  readonly widen: () => Promise<void>;
  /** Removes the limit. Call it at the end, when the browser is not running. */
  readonly remove: () => Promise<void>;
}

/**
 * @param browser not running; WebKit must have stored something before
 * @returns undefined if storage cannot be limited on this machine
 */
export const makeSpaceScarce = async ({
  kind,
  profileDir,
}: Browser): Promise<ScarceSpace | undefined> => WAYS[kind](profileDir);

const nothing = (): Promise<void> => Promise.resolve();

/** Limit for all sites together; one site may use half of it. */
const FIREFOX_KIB = 64 * 1024;

const firefoxLimit = (): ScarceSpace => ({
  startOptions: { prefs: { 'dom.quotaManager.temporaryStorage.fixedLimit': FIREFOX_KIB } },
  widen: nothing,
  remove: nothing,
});

/** WebKitGTK's limit per site. */
const WEBKIT_BYTES = 1000 * 1024 * 1024;
const LEFT_BYTES = 16_000_000;

/** WebKit adds up the sizes of database files. A sparse file counts with its full size, but takes no space on disk. */
async function webkitFiller(profileDir: string): Promise<ScarceSpace> {
  const names = await readdir(profileDir, { recursive: true });
  const database = names.find((name) => name.endsWith('.sqlite3') && /indexeddb/i.test(name));
  if (database === undefined) throw new Error('WebKit has stored no database yet.');
  const folder = join(profileDir, dirname(dirname(database)), 'filler');
  await mkdir(folder);
  const file = await open(join(folder, 'IndexedDB.sqlite3'), 'w');
  await file.truncate(WEBKIT_BYTES - LEFT_BYTES);
  await file.close();
  const widen = () => rm(folder, { recursive: true, force: true });
  return { startOptions: {}, widen, remove: nothing };
}

const DISK = 'size=120m';

/** Mounts a small disk, which needs root. Chromium treats the space left on the disk as its quota. */
function smallDisk(profileDir: string): ScarceSpace | undefined {
  const mount = (...args: readonly string[]) =>
    spawnSync('mount', [...args, profileDir], { stdio: 'ignore' }).status === 0;
  if (!mount('-t', 'tmpfs', '-o', DISK, 'tmpfs')) return undefined;
  return {
    startOptions: {},
    widen: async () => {
      if (!mount('-o', 'remount,size=500m')) throw new Error('The disk did not grow.');
    },
    remove: async () => {
      // Lazily, because Chromium's crash handler outlives the browser by a moment and uses the folder.
      spawnSync('umount', ['--lazy', profileDir], { stdio: 'ignore' });
    },
  };
}

const WAYS: Readonly<
  Record<Browser['kind'], (profileDir: string) => ScarceSpace | undefined | Promise<ScarceSpace>>
> = {
  chromium: smallDisk,
  firefox: firefoxLimit,
  webkit: webkitFiller,
  'webkit-storage': webkitFiller,
};
