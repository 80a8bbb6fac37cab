// `node bench/cold.mjs [--before <checkout>]`: CPU time of single queries in Node while their code is interpreted, as in a page that has
// just opened, and after it is compiled; and of the first ten pages of a fresh process. With another checkout: of both, interleaved, with
// the ratio.
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { rolldown } from 'rolldown';
import { commandOptions } from '../scripts/setup.mjs';
import { medianOf } from './host/results.mjs';

const options = commandOptions({
  before: { type: 'string' },
  modes: { type: 'string', default: 'interpreted,compiled,fresh' },
  rounds: { type: 'string', default: '3' },
  /** Workloads, separated by `|`. */
  only: { type: 'string' },
  /** A folder in which to keep programs and data. */
  out: { type: 'string' },
});

/** V8's flags, and the task to measure with them. @type {Readonly<Record<string, { flags: readonly string[], task: string }>>} */
const MODES = {
  interpreted: { flags: ['--no-opt', '--no-sparkplug', '--no-maglev'], task: 'few' },
  jitless: { flags: ['--jitless', '--no-expose-wasm'], task: 'few' },
  compiled: { flags: [], task: 'many' },
};
const FRESH_PROCESSES = 5;

const rounds = Number(options.rounds);
const checkouts = [
  ...(options.before === undefined ? [] : [resolve(options.before)]),
  fileURLToPath(new URL('..', import.meta.url)),
];
const folder = options.out ?? mkdtempSync(join(tmpdir(), 'burrow-bench-'));
const data = join(folder, 'data');

/** Bundles the queries with the engine of this checkout. @param {string} checkout @param {number} at */
async function build(checkout, at) {
  const bundle = await rolldown({
    input: fileURLToPath(new URL('cold/queries.ts', import.meta.url)),
    platform: 'node',
    plugins: [
      {
        name: 'bench:checkout',
        resolveId: (source) =>
          source.startsWith('../../src/') ? join(checkout, source.slice(6)) : undefined,
      },
    ],
  });
  const { output } = await bundle.generate({ format: 'es' });
  const program = join(folder, `queries-${at}.mjs`);
  writeFileSync(program, output[0].code);
  return program;
}

const measure = fileURLToPath(new URL('cold/measure.mjs', import.meta.url));

/** @param {readonly string[]} flags @param {readonly string[]} rest */
function run(flags, ...rest) {
  const command = ['--single-threaded-gc', ...flags, measure, ...rest];
  const { status, stdout } = spawnSync(process.execPath, command, {
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  if (status !== 0) throw new Error('A process failed.');
  return stdout === '' ? undefined : JSON.parse(stdout);
}

/** @param {string} what @param {readonly (readonly number[])[]} sides times of each checkout; the last one is this checkout */
function report(what, sides) {
  const own = sides.at(-1) ?? [];
  const [former] = sides;
  const line = `${what.padEnd(36)} ${medianOf(own).toFixed(0).padStart(6)} µs`;
  if (!former || former === own) return console.log(line);
  // The ratio of neighbouring measurements, because the load of the machine affects both alike.
  const ratio = medianOf(own.map((micros, at) => micros / (former[at] ?? Number.NaN)));
  console.log(`${line}, before ${medianOf(former).toFixed(0).padStart(6)}: ${ratio.toFixed(3)}`);
}

/** @param {string} mode @param {readonly string[]} programs @param {readonly string[]} names */
function measureQueries(mode, programs, names) {
  const { flags, task } = MODES[mode] ?? { flags: [], task: mode };
  for (const name of names) {
    /** @type {number[][]} */
    const sides = programs.map(() => []);
    for (let round = 0; round < rounds; round += 1) {
      const figures = run(flags, task, data, name, ...programs);
      sides.forEach((side, at) => side.push(...figures[at]));
    }
    report(`${mode} ${name}`, sides);
  }
}

/** @param {readonly string[]} programs */
function measureFresh(programs) {
  /** Times by side, query and process. @type {number[][][]} */
  const sides = programs.map(() => []);
  for (let process = 0; process < rounds * FRESH_PROCESSES; process += 1) {
    programs.forEach((program, side) => {
      /** @type {number[][]} */
      const [pages = []] = run(['--single-threaded'], 'first', data, '', program);
      pages.forEach((micros, query) => ((sides[side] ??= [])[query] ??= []).push(micros));
    });
  }
  for (let query = 0; query < 10; query += 1)
    report(
      `fresh, page ${query + 1}`,
      sides.map((side) => side[query] ?? []),
    );
}

try {
  const programs = await Promise.all(checkouts.map(build));
  const [program = ''] = programs;
  run([], 'fill', data, '', program);
  const names = options.only?.split('|') ?? run([], 'names', '', '', program);
  for (const mode of options.modes.split(','))
    if (mode === 'fresh') measureFresh(programs);
    else measureQueries(mode, programs, names);
} finally {
  if (options.out === undefined) rmSync(folder, { recursive: true });
}
