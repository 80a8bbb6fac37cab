// The browser engines that tests run in: which are installed on this machine, and how to install the others.
import { spawnSync } from 'node:child_process';
import { ensureBrowser, tryInstallPackages, SetupError } from '../setup.mjs';
import { programOf } from './kinds.mjs';

/** @typedef {import('./kinds.mjs').Kind} Kind */
/** @typedef {'chromium' | 'firefox' | 'webkit'} Engine */
/** @typedef {{ kinds: readonly Kind[]; chromium: string | undefined; notRun: readonly string[] }} ReadyBrowsers */

/** WebKit runs with the storage features of Safari, then with its own defaults. @type {Readonly<Record<Engine, readonly Kind[]>>} */
const kindsOf = {
  chromium: ['chromium'],
  firefox: ['firefox'],
  webkit: ['webkit-storage', 'webkit'],
};

/** @type {readonly Engine[]} */
export const engines = ['chromium', 'firefox', 'webkit'];

/** Names of Debian's packages. @type {Readonly<Record<Exclude<Engine, 'chromium'>, readonly string[]>>} */
const packagesOf = { firefox: ['firefox-esr'], webkit: ['webkit2gtk-driver', 'xvfb'] };

/** @param {string} list names, separated by commas @returns {Engine[]} */
export function enginesNamed(list) {
  const names = list.split(',').map((name) => name.trim());
  const unknown = names.filter((name) => !engines.some((engine) => engine === name));
  if (unknown.length > 0)
    throw new SetupError(
      `Unknown browsers: ${unknown.join(', ')}. Known browsers: ${engines.join(', ')}.`,
    );
  return engines.filter((engine) => names.includes(engine));
}

/**
 * Installs missing engines where possible. Chromium is required. Other engines that cannot be installed are listed in `notRun`.
 * @param {readonly Engine[]} wanted
 * @param {boolean} isAsked whether the user named the engines: then a missing one is an error
 * @returns {Promise<ReadyBrowsers>}
 */
export async function ensureEngines(wanted, isAsked) {
  /** @type {Kind[]} */
  const kinds = [];
  /** @type {string[]} */
  const notRun = [];
  /** @type {string | undefined} */
  let chromium;
  for (const engine of wanted) {
    if (engine === 'chromium') chromium = await ensureBrowser();
    else if (!ensured(engine)) {
      const sentence = `${engine} is not installed (Debian: apt-get install ${packagesOf[engine].join(' ')})`;
      if (isAsked) throw new SetupError(`${sentence}, and could not be installed.`);
      notRun.push(sentence);
      continue;
    }
    kinds.push(...kindsOf[engine]);
  }
  return { kinds, chromium, notRun };
}

/** @param {Exclude<Engine, 'chromium'>} engine */
const ensured = (engine) =>
  runs(engine) || (tryInstallPackages(`No ${engine} found`, packagesOf[engine]) && runs(engine));

/** @param {Exclude<Engine, 'chromium'>} engine */
function runs(engine) {
  const program = programOf(engine);
  if (program === undefined) return false;
  // WebKit's browser prints its version only with a display. Some `firefox` programs are stubs, so Firefox must print its version.
  if (engine === 'webkit') return true;
  return spawnSync(program, ['--version'], { stdio: 'ignore', timeout: 30_000 }).status === 0;
}
