// `npm run size`: checks that the bundles are within their size limits. With `--table`: prints how many bytes of page and worker come from
// each source.
import { spawnSync } from 'node:child_process';
import { join, relative } from 'node:path';
import { gzipSync } from 'node:zlib';
import { ensurePackages, root, runMain } from './setup.mjs';

const DIGITS = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/';

/** Decodes one segment of a source map (base64 VLQ). @param {string} segment */
function numbersIn(segment) {
  const numbers = [];
  let value = 0;
  let shift = 0;
  for (const letter of segment) {
    const digit = DIGITS.indexOf(letter);
    value |= (digit & 31) << shift;
    shift += 5;
    if (digit & 32) continue;
    numbers.push(value & 1 ? -(value >> 1) : value >> 1);
    value = 0;
    shift = 0;
  }
  return numbers;
}

/**
 * The ranges of the bundled code that come from each source.
 * @param {string} code @param {{ sources: readonly string[]; mappings: string }} map
 */
function piecesBySource(code, { sources, mappings }) {
  /** @type {Map<string, [number, number][]>} */
  const pieces = new Map();
  const lines = code.split('\n');
  let lineStart = 0;
  let source = 0;
  let last = { at: 0, name: 'made by the bundler' };
  const end = (/** @type {number} */ at) => {
    const { name } = last;
    pieces.set(name, [...(pieces.get(name) ?? []), [last.at, at]]);
  };
  mappings.split(';').forEach((line, index) => {
    let at = lineStart;
    for (const segment of line.split(',').filter(Boolean)) {
      const [column = 0, step] = numbersIn(segment);
      at += column;
      source += step ?? 0;
      end(at);
      last = { at, name: (step !== undefined && sources[source]) || 'made by the bundler' };
    }
    lineStart += (lines[index] ?? '').length + 1;
  });
  end(code.length);
  return pieces;
}

/** @param {string} title @param {{ code: string; map: { sources: readonly string[]; mappings: string } }} bundled */
function printTable(title, { code, map }) {
  const pieces = piecesBySource(code, map);
  const whole = gzipSync(code).length;
  /**
   * How much smaller the gzipped bundle is without these ranges. The shares of all sources add up to somewhat less than the whole.
   * @param {[number, number][]} removed
   */
  const share = (removed) => {
    let rest = '';
    let at = 0;
    for (const [from, to] of removed.sort(([a], [b]) => a - b)) {
      rest += code.slice(at, from);
      at = to;
    }
    return whole - gzipSync(rest + code.slice(at)).length;
  };
  console.log(`${title}: ${code.length} bytes, ${whole} gzipped\n  bytes  gzipped  from`);
  const rows = [...pieces].map(([name, removed]) => ({
    name: nameOf(name),
    bytes: removed.reduce((sum, [from, to]) => sum + to - from, 0),
    removed,
  }));
  for (const { name, bytes, removed } of rows.sort((a, b) => b.bytes - a.bytes).slice(0, ROWS_MAX))
    console.log(`${String(bytes).padStart(7)} ${String(share(removed)).padStart(8)}  ${name}`);
}

const ROWS_MAX = 60;

/** @param {string} source */
const nameOf = (source) => source.replace(/^.*node_modules\//, '').replace(/^(?:\.\.\/)+/, '');

await runMain(async () => {
  ensurePackages();
  if (!process.argv.includes('--table')) {
    const limits = join(root, 'node_modules/size-limit/bin.js');
    process.exitCode =
      spawnSync(process.execPath, [limits], { cwd: root, stdio: 'inherit' }).status ?? 1;
    return;
  }
  const { bundle, entries } = await import('./bundle.mjs');
  for (const entry of [entries.index, entries.worker]) {
    printTable(relative(root, entry), await bundle(entry, { format: 'es', minify: true }));
  }
});
