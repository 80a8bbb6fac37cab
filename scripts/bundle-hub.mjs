// The hub as programs for Node. From a checkout its packages stay outside; for npm they are put inside, but for PGlite.
import { mkdirSync, readdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { rolldown } from 'rolldown';

const root = fileURLToPath(new URL('..', import.meta.url));

/** Where `npm run hub` and tests put it: packages are found from there. */
export const hubFolder = join(root, 'node_modules/.cache/burrow/hub');

/** Threads are started by their files, which stand beside the program. */
const threads = () =>
  readdirSync(join(root, 'hub'), { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('-thread.mjs'))
    .map((name) => join(root, 'hub', name));

const BARE = /^(?![./]|[A-Za-z]:)/;

/**
 * @param {string} folder
 * @param {{ packages: 'outside' | 'inside'; failpoints?: boolean }} options
 */
export async function bundleHub(folder, { packages, failpoints = false }) {
  mkdirSync(folder, { recursive: true });
  const outside = packages === 'outside' ? BARE : /^@electric-sql\/pglite/;
  await write(join(root, 'hub/main.ts'), join(folder, 'main.mjs'), outside, failpoints);
  for (const thread of threads()) {
    const target = join(folder, basename(thread));
    if (packages === 'outside') place(target, readFileSync(thread, 'utf8'));
    else await write(thread, target, outside, failpoints);
  }
}

/** @param {string} input @param {string} file @param {RegExp} outside @param {boolean} failpoints */
async function write(input, file, outside, failpoints) {
  const build = await rolldown({
    input,
    platform: 'node',
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
      minify: false,
      comments: { legal: true },
    });
    place(file, output[0].code);
  } finally {
    await build.close();
  }
}

/** At once, for a hub started from here before may be about to start a thread. @param {string} file @param {string} code */
function place(file, code) {
  const whole = `${file}.${process.pid}`;
  writeFileSync(whole, code);
  renameSync(whole, file);
}
