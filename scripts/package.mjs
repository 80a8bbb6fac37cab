// `npm run package`: checks that dist has all files of the exports map, that a server can import the package, and that an installed copy
// works.
import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { isBuiltin } from 'node:module';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { tryInstalledPackage } from './installed-package.mjs';
import { root } from './setup.mjs';

const { exports } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
const files = Object.values(exports).flatMap((target) =>
  typeof target === 'string' ? target : Object.values(target),
);
/** @type {string[]} */
const wrongs = files
  .filter((file) => !existsSync(join(root, file)))
  .map((file) => `${file} is listed in exports but was not built`);

/** @param {string} file */
const text = (file) => (existsSync(join(root, file)) ? readFileSync(join(root, file), 'utf8') : '');

if (
  !/new Worker\(\s*new URL\((['"])\.\/worker\.js\1, import\.meta\.url\)/.test(text('dist/index.js'))
) {
  wrongs.push(
    "dist/index.js has no literal new Worker(new URL('./worker.js', import.meta.url)): so bundlers cannot find the worker",
  );
}
for (const file of ['dist/worker.js', 'dist/service-worker.js']) {
  if (/^\s*(import|export)[\s{*"']/m.test(text(file)) || /\bimport\s*\(/.test(text(file))) {
    wrongs.push(`${file} is not self-contained: it has imports or exports`);
  }
  if (text(file).includes('import.meta.url')) {
    wrongs.push(`${file} refers to another file (import.meta.url): it must be self-contained`);
  }
}
if (wrongs.length === 0) {
  try {
    await import(pathToFileURL(join(root, 'dist/index.js')).href);
  } catch (error) {
    wrongs.push(
      `dist/index.js cannot be imported on a server: ${error instanceof Error ? error.stack : String(error)}`,
    );
  }
}
if (wrongs.length === 0) {
  const beside = Object.keys(exports).filter((name) =>
    ['adopt', 'background', 'hooks', 'schema', 'in-process', 'inspector'].some((room) =>
      existsSync(join(root, `dist/${room}/${name.slice(2)}.d.ts`)),
    ),
  );
  for (const name of beside) {
    const file = exports[name].default;
    const imported = [...text(file).matchAll(/(?:^|;)import\b[^;"]*from ?"(.*?)";/gm)];
    const isOfNode = file.startsWith('./dist/hub/');
    const strangers = imported
      .map(([, from = '']) => from)
      .filter((from) => from !== (isOfNode ? '../index.js' : './index.js'))
      .filter((from) => !(isOfNode && isBuiltin(from)) && !`./${from}`.startsWith(name));
    if (strangers.length > 0) wrongs.push(`${file} imports ${strangers.join(', ')}`);
    await import(pathToFileURL(join(root, file)).href).catch((error) =>
      wrongs.push(`${file} cannot be imported on a server: ${error}`),
    );
  }
}
const hub = spawnSync(process.execPath, [join(root, 'dist/hub/main.mjs'), '--version'], {
  encoding: 'utf8',
});
if (hub.status !== 0) wrongs.push(`dist/hub/main.mjs does not run: ${hub.stderr}`);
if (!text('dist/hub/THIRD-PARTY.txt').includes('prom-client'))
  wrongs.push('dist/hub/THIRD-PARTY.txt does not list the packages bundled into the hub');
for (const name of ['dexie', 'comlink', 'bcryptjs'])
  if (!new RegExp(`^${name} \\d`, 'm').test(text('dist/THIRD-PARTY.txt')))
    wrongs.push(`dist/THIRD-PARTY.txt does not list ${name}, which is bundled`);
if (wrongs.length === 0) wrongs.push(...(await tryInstalledPackage()));
for (const wrong of wrongs) console.error(wrong);
process.exitCode = wrongs.length === 0 ? 0 : 1;
