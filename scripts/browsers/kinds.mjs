// The browsers that tests run in, and how each is started: its program and its arguments for a profile folder, a private window and a URL.
import { existsSync, readdirSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { chromiumArgs, chromiumPath } from '../chromium.mjs';
import { firefoxPrefs } from './firefox-prefs.mjs';

/**
 * `webkit-storage`: WebKitGTK with the storage features that Safari enables and WebKitGTK disables by default.
 * @typedef {'chromium' | 'firefox' | 'webkit' | 'webkit-storage'} Kind
 */

/**
 * How a browser is started.
 * @typedef {{
 *   args: string[];
 *   env: Record<string, string>;
 *   files: Record<string, string>;
 *   needsDisplay: boolean;
 * }} Start `files`: contents of files to create in the profile folder, by name
 */

/**
 * @typedef {{
 *   url: string; profileDir: string; isPrivate: boolean; prefs: Record<string, string | number | boolean>;
 * }} Wish
 */

/** @param {readonly string[]} names @param {readonly string[]} places */
const firstOf = (names, places) =>
  [
    ...places,
    ...(process.env.PATH ?? '')
      .split(delimiter)
      .filter((folder) => folder !== '')
      .flatMap((folder) => names.map((name) => join(folder, name))),
  ].find((path) => existsSync(path));

/** Paths of WebKitGTK's MiniBrowser: distributions install it beside the library, in a folder named after the library's API version. */
function miniBrowsers() {
  const libraries = ['/usr/lib', '/usr/libexec', '/usr/lib64'];
  const perMachine = { x64: 'x86_64-linux-gnu', arm64: 'aarch64-linux-gnu' }[
    /** @type {string} */ (process.arch)
  ];
  if (perMachine !== undefined) libraries.push(`/usr/lib/${perMachine}`);
  return libraries
    .filter((folder) => existsSync(folder))
    .flatMap((folder) =>
      readdirSync(folder)
        .filter((name) => /^webkit(2gtk|gtk)-\d/.test(name))
        .map((name) => join(folder, name, 'MiniBrowser')),
    );
}

const hasDisplayServer = () => firstOf(['Xvfb'], []) !== undefined;

/** @param {Wish} wish @returns {Start} */
const chromiumStart = ({ url, profileDir, isPrivate }) => ({
  args: [
    ...chromiumArgs,
    '--headless',
    `--user-data-dir=${profileDir}`,
    '--no-default-browser-check',
    '--hide-crash-restore-bubble',
    '--disable-popup-blocking',
    '--password-store=basic',
    ...(isPrivate ? ['--incognito'] : []),
    url,
  ],
  env: {},
  files: {},
  needsDisplay: false,
});

/** @param {Wish} wish @returns {Start} */
const firefoxStart = ({ url, profileDir, isPrivate, prefs }) => ({
  args: [
    '--headless',
    '--new-instance',
    '--profile',
    profileDir,
    ...(isPrivate ? ['--private-window'] : []),
    url,
  ],
  env: { HOME: profileDir, MOZ_CRASHREPORTER_DISABLE: '1' },
  files: {
    'user.js': Object.entries({ ...firefoxPrefs, ...prefs })
      .map(([name, value]) => `user_pref(${JSON.stringify(name)}, ${JSON.stringify(value)});\n`)
      .join(''),
  },
  needsDisplay: false,
});

/**
 * WebKitGTK stores everything in the user's XDG folders, so these point into the profile.
 * @param {Wish} wish @param {string[]} more @returns {Start}
 */
const webkitStart = ({ url, profileDir, isPrivate }, more) => ({
  args: [
    ...more,
    ...(isPrivate ? ['--private'] : []),
    '--javascript-can-open-windows-automatically=true',
    '--enable-write-console-messages-to-stdout=true',
    url,
  ],
  env: {
    HOME: profileDir,
    XDG_DATA_HOME: join(profileDir, 'data'),
    XDG_CACHE_HOME: join(profileDir, 'cache'),
    XDG_CONFIG_HOME: join(profileDir, 'config'),
    // There is no desktop session to read settings from, and no accessibility bus.
    GSETTINGS_BACKEND: 'memory',
    NO_AT_BRIDGE: '1',
    LIBGL_ALWAYS_SOFTWARE: '1',
    // No media plugins: with a new profile, each start would scan all of them, which takes one second of CPU.
    GST_PLUGIN_SYSTEM_PATH_1_0: '',
  },
  files: {},
  needsDisplay: true,
});

const STORAGE_FEATURES =
  '--features=+StorageAPI,+StorageAPIEstimate,+FileSystem,+FileSystemWritableStream';

const findWebkit = () => (hasDisplayServer() ? firstOf([], miniBrowsers()) : undefined);

/** @type {Readonly<Record<Kind, { find: () => string | undefined; start: (wish: Wish) => Start }>>} */
const table = {
  chromium: {
    find: () => chromiumPath ?? firstOf(['chromium', 'chromium-browser', 'google-chrome'], []),
    start: chromiumStart,
  },
  firefox: {
    find: () =>
      firstOf(
        ['firefox-esr', 'firefox'],
        ['/usr/bin/firefox-esr', '/Applications/Firefox.app/Contents/MacOS/firefox'],
      ),
    start: firefoxStart,
  },
  webkit: { find: findWebkit, start: (wish) => webkitStart(wish, []) },
  'webkit-storage': { find: findWebkit, start: (wish) => webkitStart(wish, [STORAGE_FEATURES]) },
};

/** @type {readonly Kind[]} */
export const kinds = ['chromium', 'firefox', 'webkit', 'webkit-storage'];

/** @param {string} text @returns {text is Kind} */
export const isKind = (text) => kinds.some((kind) => kind === text);

/** Path of the program, or undefined if it is not installed. @param {Kind} kind */
export const programOf = (kind) =>
  // Closing a browser needs a process group, which Windows does not have.
  process.platform === 'win32' ? undefined : table[kind].find();

/** @param {Kind} kind @param {Wish} wish */
export const startOf = (kind, wish) => table[kind].start(wish);
