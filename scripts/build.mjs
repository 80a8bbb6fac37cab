// `npm run build`: builds the library into dist/, as npm ships it. Modules that need packages are imported after the packages are
// installed.
import { spawnSync } from 'node:child_process';
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { gzipSync } from 'node:zlib';
import { ensureNode, ensurePackages, root, runMain } from './setup.mjs';
import { billOfMaterials, licenceTexts, packagesIn } from './third-party.mjs';

const dist = join(root, 'dist');
/** Not shipped: `npm run size` measures it. */
const pageAsMinified = join(root, 'node_modules/.cache/burrow/page.min.js');

/** The licences of these packages require a note about changes. */
const CHANGES =
  'Changed for Burrow: of comlink and dexie only the parts that it uses are here, and bcryptjs computes its tables (scripts/trim-packages.mjs).';

/** Declarations of all rooms, from tsc. Only those that the entries refer to are shipped. */
const declared = join(root, 'node_modules/.cache/burrow/declarations');

/** Imports of source files in declarations (`./open.ts`). The shipped files end in `.js`. */
const SOURCE_IMPORT = /((?:from|import)\s*\(?\s*['"])(\.{1,2}\/[^'"]*)\.ts(['"])/g;

/** Path in the package of a source's declarations. @param {string} path from the root, without its extension */
const shippedAt = (path) => path.replace(/^src\//, '');

/** @param {Readonly<Record<string, string>>} sources of the entries, by name */
function buildDeclarations(sources) {
  const tsc = join(root, 'node_modules/typescript/bin/tsc');
  const ofPlugins = [tsc, '-p', 'tsconfig.bundlers.json'];
  if (spawnSync(process.execPath, ofPlugins, { cwd: root, stdio: 'inherit' }).status !== 0)
    throw new Error('tsc could not emit the declarations: fix the type errors in bundlers/.');
  for (const name of readdirSync(dist)) {
    if (!name.endsWith('.d.ts')) continue;
    const path = join(dist, name);
    writeFileSync(path, readFileSync(path, 'utf8').replaceAll(SOURCE_IMPORT, '$1$2.js$3'));
  }
  rmSync(declared, { recursive: true, force: true });
  const args = [tsc, '-p', 'tsconfig.declarations.json', '--outDir', declared];
  const { status } = spawnSync(process.execPath, args, { cwd: root, stdio: 'inherit' });
  if (status !== 0)
    throw new Error('tsc could not emit the declarations: fix the type errors in src/index.ts.');
  const wanted = Object.values(sources).map((path) => relative(root, path).slice(0, -'.ts'.length));
  for (const source of wanted) {
    const shipped = shippedAt(source);
    const text = readFileSync(join(declared, `${source}.d.ts`), 'utf8').replaceAll(
      SOURCE_IMPORT,
      (_, before, path, after) => {
        const next = join(dirname(source), path);
        if (!wanted.includes(next)) wanted.push(next);
        const there = relative(dirname(shipped), shippedAt(next));
        return `${before}${there.startsWith('.') ? there : `./${there}`}.js${after}`;
      },
    );
    mkdirSync(dirname(join(dist, shipped)), { recursive: true });
    writeFileSync(join(dist, `${shipped}.d.ts`), text);
  }
  // All entries are beside index.js, but declarations keep the folders of their sources, so an entry's declaration re-exports them.
  for (const [name, source] of Object.entries(sources)) {
    const shipped = shippedAt(relative(root, source).slice(0, -'.ts'.length));
    if (shipped !== name)
      writeFileSync(join(dist, `${name}.d.ts`), `export * from './${shipped}.js';\n`);
  }
}

await runMain(async () => {
  ensureNode();
  ensurePackages();
  const { bundleHub } = await import('./bundle-hub.mjs');
  const { besideIndex, bundle, entries, inNode, inProcess, plugins } = await import('./bundle.mjs');
  rmSync(dist, { recursive: true, force: true });
  mkdirSync(dist, { recursive: true });
  const files = /** @type {const} */ ([
    // Not minified: bundlers of apps find the worker by the literal expression with its URL. They minify the file themselves.
    ['index.js', entries.index, { format: 'es', minify: false }],
    // One file for two uses: pages load it as a module, and service workers, which may be classic scripts, import it.
    ['worker.js', entries.worker, { format: 'iife', minify: true }],
    ['service-worker.js', entries.serviceWorker, { format: 'iife', minify: true }],
  ]);
  /** @type {string[]} */
  const inside = [];
  for (const [name, input, options] of files) {
    const { code, modules } = await bundle(input, options);
    inside.push(...modules);
    writeFileSync(join(dist, name), code);
    console.log(
      `dist/${name}  ${(code.length / 1024).toFixed(1)} KiB, gzip ${(gzipSync(code).length / 1024).toFixed(1)} KiB`,
    );
  }
  for (const [name, input] of Object.entries(besideIndex)) {
    // Not minified either. `npm run size` measures a minified version, as bundlers of apps produce.
    const options = /** @type {const} */ ({ format: 'es', besideIndex: 'packages outside' });
    const { code } = await bundle(input, { ...options, minify: false });
    writeFileSync(join(dist, `${name}.js`), code);
    const { code: minified } = await bundle(input, { ...options, minify: true });
    mkdirSync(dirname(pageAsMinified), { recursive: true });
    writeFileSync(join(dirname(pageAsMinified), `${name}.min.js`), minified);
    console.log(
      `dist/${name}.js, minified: gzip ${(gzipSync(minified).length / 1024).toFixed(1)} KiB`,
    );
  }
  for (const [name, input] of Object.entries(plugins)) {
    const options = /** @type {const} */ ({
      format: 'es',
      minify: false,
      besideIndex: 'packages outside',
    });
    writeFileSync(join(dist, `${name}.js`), (await bundle(input, options)).code);
  }
  for (const [name, input] of Object.entries(inProcess)) {
    const { code, modules } = await bundle(input, {
      format: 'es',
      minify: true,
      besideIndex: 'packages inside',
    });
    inside.push(...modules);
    writeFileSync(join(dist, `${name}.js`), code);
    console.log(`dist/${name}.js  gzip ${(gzipSync(code).length / 1024).toFixed(1)} KiB`);
  }
  const { code: page } = await bundle(entries.index, { format: 'es', minify: true });
  mkdirSync(dirname(pageAsMinified), { recursive: true });
  writeFileSync(pageAsMinified, page);
  console.log(`the page, minified: gzip ${(gzipSync(page).length / 1024).toFixed(1)} KiB`);
  buildDeclarations({ ...besideIndex, ...inProcess, ...inNode, index: entries.index });
  writeFileSync(join(dist, 'THIRD-PARTY.txt'), `${CHANGES}\n\n${licenceTexts(packagesIn(inside))}`);
  const ofHub = await bundleHub(join(dist, 'hub'), { packages: 'inside' });
  const package_ = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
  const all = packagesIn([...inside, ...ofHub]);
  writeFileSync(join(dist, 'sbom.cdx.json'), billOfMaterials(all, package_));
  const hub = readFileSync(join(dist, 'hub/main.mjs'));
  const folders = readFileSync(join(dist, 'hub/node.mjs'));
  console.log(`dist/hub/node.mjs  gzip ${(gzipSync(folders).length / 1024).toFixed(1)} KiB`);
  console.log(
    `dist/hub/main.mjs  ${(hub.length / 1024).toFixed(1)} KiB, gzip ${(gzipSync(hub).length / 1024).toFixed(1)} KiB`,
  );
});
