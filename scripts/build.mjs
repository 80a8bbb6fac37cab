// `npm run build`: the library into dist/, as npm ships it. What needs packages is imported when they are there.
import { spawnSync } from 'node:child_process';
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { ensureNode, ensurePackages, root, runMain } from './setup.mjs';
import { billOfMaterials, licenceTexts, packagesIn } from './third-party.mjs';

const dist = join(root, 'dist');
/** Not shipped: what `npm run size` weighs. */
const pageAsMinified = join(root, 'node_modules/.cache/burrow/page.min.js');

/** Licences ask that changes be told. */
const CHANGES =
  'Changed for Burrow: of comlink and dexie only the parts that it uses are here, and bcryptjs computes its tables (scripts/trim-packages.mjs).';

/** Declarations name sources (`./open.ts`); what ships beside them is `.js`. */
const SOURCE_IMPORT = /((?:from|import)\s*\(?\s*['"]\.{1,2}\/[^'"]*)\.ts(['"])/g;

/** @param {readonly string[]} names of entries beside index.js */
function buildDeclarations(names) {
  const tsc = join(root, 'node_modules/typescript/bin/tsc');
  for (const project of ['tsconfig.declarations.json', 'tsconfig.bundlers.json']) {
    const { status } = spawnSync(process.execPath, [tsc, '-p', project], {
      cwd: root,
      stdio: 'inherit',
    });
    if (status !== 0)
      throw new Error(`tsc could not emit the declarations: fix the type errors of ${project}.`);
  }
  for (const name of readdirSync(dist, { recursive: true, encoding: 'utf8' })) {
    if (!name.endsWith('.d.ts')) continue;
    const path = join(dist, name);
    writeFileSync(path, readFileSync(path, 'utf8').replaceAll(SOURCE_IMPORT, '$1.js$2'));
  }
  // Entries are beside index.js, their declarations where their sources are.
  for (const name of names)
    writeFileSync(join(dist, `${name}.d.ts`), `export * from './hooks/${name}.js';\n`);
}

await runMain(async () => {
  ensureNode();
  ensurePackages();
  const { bundleHub } = await import('./bundle-hub.mjs');
  const { besideIndex, bundle, entries, plugins } = await import('./bundle.mjs');
  rmSync(dist, { recursive: true, force: true });
  mkdirSync(dist, { recursive: true });
  const files = /** @type {const} */ ([
    // Readable, for the literal URL of the worker must reach users' bundlers as it is; they minify it.
    ['index.js', entries.index, { format: 'es', minify: false }],
    ['worker.js', entries.worker, { format: 'es', minify: true }],
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
    const options = /** @type {const} */ ({ format: 'es', isBesideIndex: true });
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
    const options = /** @type {const} */ ({ format: 'es', minify: false, isBesideIndex: true });
    writeFileSync(join(dist, `${name}.js`), (await bundle(input, options)).code);
  }
  const { code: page } = await bundle(entries.index, { format: 'es', minify: true });
  mkdirSync(dirname(pageAsMinified), { recursive: true });
  writeFileSync(pageAsMinified, page);
  console.log(`the page, minified: gzip ${(gzipSync(page).length / 1024).toFixed(1)} KiB`);
  buildDeclarations(Object.keys(besideIndex));
  writeFileSync(join(dist, 'THIRD-PARTY.txt'), `${CHANGES}\n\n${licenceTexts(packagesIn(inside))}`);
  const ofHub = await bundleHub(join(dist, 'hub'), { packages: 'inside' });
  const package_ = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
  const all = packagesIn([...inside, ...ofHub]);
  writeFileSync(join(dist, 'sbom.cdx.json'), billOfMaterials(all, package_));
  const hub = readFileSync(join(dist, 'hub/main.mjs'));
  console.log(
    `dist/hub/main.mjs  ${(hub.length / 1024).toFixed(1)} KiB, gzip ${(gzipSync(hub).length / 1024).toFixed(1)} KiB`,
  );
});
