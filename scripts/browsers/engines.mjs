// The engines of browsers that tests run in: which are on this machine, and how one gets there.
import { spawnSync } from 'node:child_process';
import { ensureBrowser, tryInstallPackages, SetupError } from '../setup.mjs';
import { programOf } from './kinds.mjs';

/** @typedef {import('./kinds.mjs').Kind} Kind */
/** @typedef {'chromium' | 'firefox' | 'webkit'} Engine */
/** @typedef {{ kinds: readonly Kind[]; chromium: string | undefined; notRun: readonly string[] }} ReadyBrowsers */

/** WebKit as Safari has it, then as it is built without its features for storage. @type {Readonly<Record<Engine, readonly Kind[]>>} */
const kindsOf = {
  chromium: ['chromium'],
  firefox: ['firefox'],
  webkit: ['webkit-storage', 'webkit'],
};

/** @type {readonly Engine[]} */
export const engines = ['chromium', 'firefox', 'webkit'];

/** As Debian names them. @type {Readonly<Record<Exclude<Engine, 'chromium'>, readonly string[]>>} */
const packagesOf = { firefox: ['firefox-esr'], webkit: ['webkit2gtk-driver', 'xvfb'] };

/** @param {string} list names with commas between @returns {Engine[]} */
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
 * Installs what is missing where that can be done. Chromium must be there; of the others `notRun` says which are not, unless `isAsked`.
 * @param {readonly Engine[]} wanted
 * @param {boolean} isAsked whether they were named: then a missing one is a fault
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
  // WebKit's tells its version on a screen only. Of Firefox there are stubs that are no browser.
  if (engine === 'webkit') return true;
  return spawnSync(program, ['--version'], { stdio: 'ignore', timeout: 30_000 }).status === 0;
}
