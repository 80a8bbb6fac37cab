// The browsers that tests run in, and how each is started: its program, and its words for a profile folder, a private window and an address.
import { existsSync, readdirSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { chromiumArgs, chromiumPath } from '../chromium.mjs';
import { firefoxPrefs } from './firefox-prefs.mjs';

/** `webkit-storage`: WebKitGTK with the features for storage that Safari has and WebKitGTK leaves off. @typedef {'chromium' | 'firefox' | 'webkit' | 'webkit-storage'} Kind */

/**
 * What a start is made of.
 * @typedef {{
 *   args: string[];
 *   env: Record<string, string>;
 *   files: Record<string, string>;
 *   needsDisplay: boolean;
 * }} Start `files`: to be in the profile folder, by their names
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

/** Distributions keep it beside the library, in a folder with the version of the library's interface. */
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

/** It keeps all it stores in the user's folders: these are its profile. @param {Wish} wish @param {string[]} more @returns {Start} */
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
    // No desktop is there to be asked for settings, or to be told what is shown.
    GSETTINGS_BACKEND: 'memory',
    NO_AT_BRIDGE: '1',
    LIBGL_ALWAYS_SOFTWARE: '1',
    // No plugins for media: a new profile would have all of them scanned, which takes a second of a core at each start.
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

/** Path of the program; undefined when it is not on this machine. @param {Kind} kind */
export const programOf = (kind) =>
  // A browser is ended as a group of processes, which Windows does not have.
  process.platform === 'win32' ? undefined : table[kind].find();

/** @param {Kind} kind @param {Wish} wish */
export const startOf = (kind, wish) => table[kind].start(wish);
