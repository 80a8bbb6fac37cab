// Bundles the hub and `burrowdb/node` for Node. In a checkout, packages are not bundled; for npm they are, except PGlite.
import { mkdirSync, readdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { rolldown } from 'rolldown';
import { browserAlias, entries, inNode } from './bundle.mjs';
import { licenceTexts, packagesIn } from './third-party.mjs';

const root = fileURLToPath(new URL('..', import.meta.url));

/** Where `npm run hub` and tests put the bundle: Node finds the packages from there. */
export const hubFolder = join(root, 'node_modules/.cache/burrow/hub');

/** Programs made from sources: the hub, and its thread for long queries. */
const programs = ['main.ts', 'evaluator-thread.ts'].map((name) => join(root, 'hub', name));

/** Bundled beside the hub for the command `burrow schema`, which uses the page's client. */
const schemaCommands = join(root, 'in-process/schema-commands.ts');

/** Files that are started as threads. They must be beside the program. */
const threads = () =>
  readdirSync(join(root, 'hub'), { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('-thread.mjs'))
    .map((name) => join(root, 'hub', name));

const PGLITE = /^@electric-sql\/pglite/;
const BARE = /^(?![./]|[A-Za-z]:)/;

/**
 * @param {string} folder
 * @param {{ packages: 'outside' | 'inside'; failpoints?: boolean }} options
 * @returns {Promise<ReadonlySet<string>>} the bundled modules
 */
export async function bundleHub(folder, { packages, failpoints = false }) {
  mkdirSync(folder, { recursive: true });
  const isInside = packages === 'inside';
  const outside = isInside ? PGLITE : BARE;
  /** @type {Set<string>} */
  const inside = new Set();
  const files = [
    ...programs,
    schemaCommands,
    ...(isInside ? [...threads(), ...Object.values(inNode)] : []),
  ];
  // In the package, the page's client is a file beside the hub's folder, so it is not bundled.
  const options = { failpoints, minify: isInside, hasPage: !isInside };
  for (const file of files) {
    const name = basename(file).replace(/\.ts$/, '.mjs');
    const { code, modules } = await bundled(file, outside, options);
    place(join(folder, name), name === 'main.mjs' ? `#!/usr/bin/env node\n${code}` : code);
    for (const each of modules) inside.add(each);
  }
  if (isInside) place(join(folder, 'THIRD-PARTY.txt'), licenceTexts(packagesIn(inside)));
  else placeThreads(folder);
  return inside;
}

/**
 * Bundles `burrowdb/node`, with the page's client, for tests. Of packages it needs PGlite, and bcryptjs for its threads.
 * @param {string} folder
 */
export async function bundleNode(folder) {
  mkdirSync(folder, { recursive: true });
  const options = { failpoints: false, minify: false, hasPage: true };
  const { code } = await bundled(inNode.node, PGLITE, options);
  place(join(folder, 'node.mjs'), code);
  placeThreads(folder);
}

/** @param {string} folder */
function placeThreads(folder) {
  for (const thread of threads())
    place(join(folder, basename(thread)), readFileSync(thread, 'utf8'));
}

/**
 * Imports the page's client from `../index.js`, for files in a folder of the package.
 * @type {import('rolldown').Plugin}
 */
const pageFromIndex = {
  name: 'burrow:page-from-index',
  resolveId: (source, importer) =>
    importer && join(dirname(importer), source) === entries.index
      ? { id: '../index.js', external: true }
      : undefined,
};

const PG_INDEX = /[\\/]pg[\\/]lib[\\/]index\.js$/;
const NOTHING = '\0nothing';

/**
 * Leaves out what packages import only for uses that the hub does not make: exemplars of metrics, and the client of `pg` that needs
 * a native package.
 * @type {import('rolldown').Plugin}
 */
const withoutUnused = {
  name: 'burrow:without-unused',
  resolveId(source, importer) {
    if (source === '@opentelemetry/api') return NOTHING;
    return source === './native' && importer && PG_INDEX.test(importer)
      ? join(dirname(importer), 'client.js')
      : undefined;
  },
  load: (id) => (id === NOTHING ? 'export {};' : undefined),
};

/** @param {string} input @param {RegExp} outside @param {{ failpoints: boolean; minify: boolean; hasPage?: boolean }} options */
async function bundled(input, outside, { failpoints, minify, hasPage = false }) {
  const build = await rolldown({
    input,
    platform: 'node',
    plugins: hasPage ? [] : [pageFromIndex, withoutUnused],
    resolve: { alias: { dexie: browserAlias.dexie } },
    external: (/** @type {string} */ id) =>
      id.startsWith('node:') || (id !== input && outside.test(id)),
    transform: { target: 'node20', define: { 'globalThis.BURROW_FAILPOINTS': String(failpoints) } },
    onLog(level, log, print) {
      print(log.code === 'UNRESOLVED_IMPORT' ? 'error' : level, log);
    },
  });
  try {
    const { output } = await build.generate({
      format: 'es',
      codeSplitting: false,
      minify,
      comments: { legal: true, annotation: !minify, jsdoc: !minify },
    });
    return { code: output[0].code, modules: output[0].moduleIds };
  } finally {
    await build.close();
  }
}

/**
 * Replaces the file atomically: a hub that was started from this folder earlier may be about to start a thread from it.
 * @param {string} file @param {string} code
 */
function place(file, code) {
  const whole = `${file}.${process.pid}`;
  writeFileSync(whole, code);
  renameSync(whole, file);
}
