// `npm run build`: the library into dist/, as npm ships it. What needs packages is imported when they are there.
import { spawnSync } from 'node:child_process';
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { gzipSync } from 'node:zlib';
import { ensureNode, ensurePackages, root, runMain } from './setup.mjs';
import { billOfMaterials, licenceTexts, packagesIn } from './third-party.mjs';

const dist = join(root, 'dist');
/** Not shipped: what `npm run size` weighs. */
const pageAsMinified = join(root, 'node_modules/.cache/burrow/page.min.js');

/** Licences ask that changes be told. */
const CHANGES =
  'Changed for Burrow: of comlink and dexie only the parts that it uses are here, and bcryptjs computes its tables (scripts/trim-packages.mjs).';

/** What tsc makes of all rooms: what entries name of it is shipped. */
const declared = join(root, 'node_modules/.cache/burrow/declarations');

/** Declarations name sources (`./open.ts`); what ships beside them is `.js`. */
const SOURCE_IMPORT = /((?:from|import)\s*\(?\s*['"])(\.{1,2}\/[^'"]*)\.ts(['"])/g;

/** Where in the package the declarations of a source are. @param {string} path from the root, without its ending */
const shippedAt = (path) => path.replace(/^src\//, '');

/** @param {Readonly<Record<string, string>>} sources of entries, by their names */
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
  // Entries are beside index.js, their declarations where their sources are.
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
    // Readable, for the literal URL of the worker must reach users' bundlers as it is; they minify it.
    ['index.js', entries.index, { format: 'es', minify: false }],
    // A module in pages; a service worker, which may be a classic script, imports the same file.
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
    // Readable too; `npm run size` weighs it as users' bundlers make it.
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
