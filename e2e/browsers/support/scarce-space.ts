/** Browsers that have little room for what pages store: each is told so in its own way. */
import { spawnSync } from 'node:child_process';
import { mkdir, open, readdir, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { Browser, StartOptions } from './browser.ts';

export interface ScarceSpace {
  /** The browser, which does not run, has little room from its next start on. */
  readonly startOptions: StartOptions;
  /** With enough room again, at the next start. */
  readonly widen: () => Promise<void>;
  /** To be called at the end, when the browser does not run. */
  readonly remove: () => Promise<void>;
}

/**
 * @param browser not running; WebKit has to have stored something before
 * @returns undefined when that cannot be done on this machine
 */
export const makeSpaceScarce = async ({
  kind,
  profileDir,
}: Browser): Promise<ScarceSpace | undefined> => WAYS[kind](profileDir);

const nothing = (): Promise<void> => Promise.resolve();

/** A site has half of this, all sites together. */
const FIREFOX_KIB = 64 * 1024;

const firefoxLimit = (): ScarceSpace => ({
  startOptions: { prefs: { 'dom.quotaManager.temporaryStorage.fixedLimit': FIREFOX_KIB } },
  widen: nothing,
  remove: nothing,
});

/** What a site has in WebKitGTK. */
const WEBKIT_BYTES = 1000 * 1024 * 1024;
const LEFT_BYTES = 16_000_000;

/** It goes by the sizes of the files of databases: one that is a hole from end to end counts, and takes no room. */
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

/** Needs root. What runs out there is the disk, which Chromium treats as its quota. */
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
      // Lazily: Chromium's handler of crashes outlives it by a moment, and stands there.
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
