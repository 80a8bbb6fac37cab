// Writes the results of a run: results/latest.json for programs, results/RESULTS.md for people.
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { wrapMarkdown } from '../../scripts/wrap-markdown.mjs';
import { aheadOf } from './ahead.mjs';
import { floorOf, judge, short } from './asks.mjs';
import { benchRoot } from './build.mjs';
import { figureOf, figures } from './results.mjs';

/**
 * @typedef {object} Run
 * @property {Date} startedAt
 * @property {Awaited<ReturnType<typeof import('./machine.mjs').describeMachine>>} machine
 * @property {ReturnType<typeof import('./arguments.mjs').readArguments>} wanted
 * @property {readonly import('./results.mjs').Measured[]} measured
 */

/** @param {Run} run */
export function writeResults(run) {
  const { startedAt, machine, wanted, measured } = run;
  const folder = join(benchRoot, wanted.out);
  mkdirSync(folder, { recursive: true });
  const asks = ['burrow', 'burrow-strict']
    .filter((contender) => wanted.contenders.includes(contender))
    .map((contender) => ({ contender, verdicts: judge(measured, contender) }));
  const text = [
    '# Benchmark results',
    `${startedAt.toISOString()}, commit ${machine.commit}. ${describe(machine, wanted, measured)}`,
    'Written by `npm run bench`; the workloads are described in docs/benchmarks.md. A result is the median of the rounds, with minimum and maximum in brackets. Compare only results of the same run.',
    ...aheadTables(measured, wanted.contenders),
    ...asks.flatMap(({ contender, verdicts }) => [
      `## Asks: ${titleOf(measured, contender)} against ${titleOf(measured, floorOf(contender))}`,
      table(
        ['ask', 'reached', 'figures', ''],
        verdicts.map(({ ask, value, isMet, detail }) => [
          ask,
          short(value),
          detail,
          isMet ? 'PASS' : '**short**',
        ]),
      ),
    ]),
    '## Figures',
    figuresTable(measured, wanted.contenders),
    ...extras(measured),
    ...failures(measured),
  ].join('\n\n');
  writeFileSync(join(folder, 'RESULTS.md'), `${wrapMarkdown(text)}\n`);
  const medians = Object.fromEntries(
    wanted.contenders.map((contender) => [
      contender,
      Object.fromEntries(
        figures.map(({ name, workload, of }) => [
          name,
          figureOf(measured, contender, workload, of),
        ]),
      ),
    ]),
  );
  const json = { startedAt, machine, wanted, asks, medians, extras: extrasOf(measured) };
  writeFileSync(join(folder, 'latest.json'), `${JSON.stringify(json, undefined, 2)}\n`);
  console.log(`\n${text}`);
}

/** @param {Run['machine']} machine @param {Run['wanted']} wanted @param {Run['measured']} measured */
function describe(machine, wanted, measured) {
  const loads = measured.map(({ load }) => load);
  return [
    `${machine.processor}, ${machine.memoryGib} GiB, ${machine.system}, ${machine.browser}, Node ${machine.node}.`,
    `${roundsOf(measured)} interleaved rounds, ${wanted.documents.toLocaleString('en-US')} documents${wanted.big ? ` and ${wanted.big.toLocaleString('en-US')}` : ''}.`,
    `Load of the machine (the benchmark itself adds about 2): ${short(Math.min(...loads))} to ${short(Math.max(...loads))}.`,
  ].join(' ');
}

/** Rounds that were completed or begun. @param {Run['measured']} measured */
const roundsOf = (measured) => Math.max(0, ...measured.map(({ round }) => round));

/** @param {Run['measured']} measured @param {string} contender @returns {string} */
const titleOf = (measured, contender) =>
  measured.find((row) => row.contender === contender && row.workload === 'info')?.result?.title ??
  contender;

/** @param {Run['measured']} measured @param {readonly string[]} contenders */
function aheadTables(measured, contenders) {
  return ['burrow', 'burrow-strict']
    .filter((contender) => contenders.includes(contender))
    .flatMap((contender) => {
      const { others, rows, won } = aheadOf(measured, contender, contenders);
      if (rows.length === 0) return [];
      const isAhead = others.map((other, at) => `${titleOf(measured, other)} in ${won[at]}`);
      return [
        `## Ahead of: ${titleOf(measured, contender)}`,
        `Times faster, or smaller; **bold**: behind. Ahead of ${isAhead.join('; ')} rows.`,
        table(['', ...others.map((other) => titleOf(measured, other))], rows),
      ];
    });
}

/** @param {Run['measured']} measured @param {readonly string[]} contenders */
function figuresTable(measured, contenders) {
  const rows = figures.map(({ name, unit, workload, of }) => [
    `${name}, ${unit}`,
    ...contenders.map((contender) => {
      const figure = figureOf(measured, contender, workload, of);
      return figure
        ? `${short(figure.median)} (${short(figure.least)}–${short(figure.most)})`
        : '–';
    }),
  ]);
  return table(['', ...contenders.map((contender) => titleOf(measured, contender))], rows);
}

const EXTRAS = ['logins', 'reads beside logins', 'log', 'compute', 'refs', 'role pages', 'growth'];

/** @param {Run['measured']} measured */
const extrasOf = (measured) =>
  Object.fromEntries(
    measured
      .filter(({ workload, result }) => EXTRAS.includes(workload) && result)
      .map(({ workload, result }) => [workload, result]),
  );

/** @param {Run['measured']} measured */
function extras(measured) {
  const { compute, refs, growth } = extrasOf(measured);
  const said = [];
  if (compute) {
    said.push(
      `- 10,000 steps of a pure query: ${short(compute.stepsMs)} ms; the same in plain JS: ${short(compute.plainStepsMs)} ms; ratio ${short(compute.stepsMs / compute.plainStepsMs)}.`,
      `- Parsing and checking ${short(compute.parsedKb)} KB of query: ${short(compute.parseMs)} ms; \`JSON.parse\` alone: ${short(compute.plainParseMs)} ms; ratio ${short(compute.parseMs / compute.plainParseMs)}. An empty query, whole: ${short(compute.emptyMs)} ms.`,
    );
  }
  if (refs) {
    said.push(
      `- 100,000 refs of \`Documents\`: ${short(refs.ms)} ms, gap on the main thread ${short(refs.gap)} ms.`,
    );
  }
  if (growth) {
    const { samples, beside, reads, workerMb } = growth;
    const [first, last] = [samples[0], samples.at(-1)];
    const longest = (/** @type {'commitMs' | 'createMs' | 'readMs'} */ of) =>
      short(Math.max(...samples.map((/** @type {any} */ sample) => sample[of])));
    said.push(
      `- Growing to ${short(last.documents)} documents, packed: ${short(first.perSecond)} docs/s at first, ${short(last.perSecond)} at the end; the longest commit of 1,000 ${longest('commitMs')} ms, of one document beside them ${longest('createMs')} ms, the longest \`Get\` ${longest('readMs')} ms; then ${short(beside.creates)} creates one by one, eight at once, beside flushes and merges: the longest ${short(beside.createMs)} ms, the longest \`Get\` ${short(beside.readMs)} ms; memory of the worker, without garbage: ${short(workerMb.emptyMb)} MB empty, ${short(workerMb.filledMb)} MB filled, ${short(workerMb.readMb)} MB after reads all over it (get ${short(reads.get)} ms, 64 of a match ${short(reads.city)} ms).`,
    );
  }
  return said.length > 0 ? ['## Beside the workloads', said.join('\n')] : [];
}

/** @param {Run['measured']} measured */
function failures(measured) {
  const failed = measured.flatMap(({ contender, round, workload, error }) =>
    error === undefined
      ? []
      : [`- ${contender}, round ${round}, ${workload}: ${error.split('\n')[0]}`],
  );
  return failed.length > 0 ? ['## Failed', failed.join('\n')] : [];
}

/** @param {readonly string[]} head @param {readonly (readonly string[])[]} rows */
const table = (head, rows) =>
  [head, head.map(() => '---'), ...rows].map((cells) => `| ${cells.join(' | ')} |`).join('\n');
