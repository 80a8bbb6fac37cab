// Bundles the page with the contenders of this run.
import { spawnSync } from 'node:child_process';
import { existsSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'vite';
import { browserAlias, workerFromSource } from '../../scripts/bundle.mjs';
import { trimPackages } from '../../scripts/trim-packages.mjs';

export const benchRoot = fileURLToPath(new URL('..', import.meta.url));
const PAGE_OUT = join(benchRoot, 'out/page');
export const RIVALS = join(benchRoot, 'rivals');

/** @param {string} name */
const isRival = (name) => existsSync(join(RIVALS, `${name}.ts`));

/** @param {readonly string[]} contenders @param {{ minify?: boolean }} [options] */
export async function buildPage(contenders, { minify = true } = {}) {
  if (contenders.some(isRival)) installRivals();
  await build({
    root: join(benchRoot, 'page'),
    configFile: false,
    logLevel: 'warn',
    base: './',
    resolve: { alias: browserAlias },
    plugins: [
      namedModules('virtual:contenders', filesOf(contenders)),
      workerFromSource(),
      trimPackages(),
    ],
    worker: { format: 'es', plugins: () => [workerFromSource(), trimPackages()] },
    build: {
      target: 'es2022',
      outDir: PAGE_OUT,
      minify,
      emptyOutDir: true,
      chunkSizeWarningLimit: 10_000,
      rolldownOptions: {
        input: ['index.html', 'burrow.html', 'abuse.html'].map((file) =>
          join(benchRoot, 'page', file),
        ),
      },
    },
  });
  return PAGE_OUT;
}

/** @param {readonly string[]} contenders */
function filesOf(contenders) {
  const files = contenders.map((name) => {
    const file = join(isRival(name) ? RIVALS : join(benchRoot, 'contenders'), `${name}.ts`);
    if (!existsSync(file)) throw new Error(`There is no contender ${name}.`);
    return [name, file];
  });
  return Object.fromEntries(files);
}

/**
 * A virtual module that exports contenders by name. Only these are bundled, so the packages of others need not be installed.
 * @param {string} id @param {Readonly<Record<string, string>>} files
 * @returns {import('vite').Plugin}
 */
export function namedModules(id, files) {
  const members = Object.entries(files).map(
    ([name, file]) => `${JSON.stringify(name)}: () => import(${JSON.stringify(file)})`,
  );
  return {
    name: 'bench:contenders',
    resolveId: (source) => (source === id ? `\0${id}` : undefined),
    load: (loaded) =>
      loaded === `\0${id}` ? `export const contenders = { ${members.join(', ')} };` : undefined,
  };
}

export function installRivals() {
  const changed = (/** @type {string} */ file) =>
    statSync(join(RIVALS, file), { throwIfNoEntry: false })?.mtimeMs ?? 0;
  if (changed('node_modules/.package-lock.json') >= changed('package-lock.json')) return;
  console.log('Installing the packages of the rivals into bench/rivals/node_modules (npm ci).');
  const { status } = spawnSync('npm', ['ci', '--no-audit', '--no-fund'], {
    cwd: RIVALS,
    stdio: 'inherit',
    shell: process.platform === 'win32',
  });
  if (status !== 0) throw new Error('The packages of the rivals could not be installed.');
}
