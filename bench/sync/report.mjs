// Writes the results of a run: results/sync.json for programs, results/SYNC.md for people.
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { wrapMarkdown } from '../../scripts/wrap-markdown.mjs';
import { short } from '../host/asks.mjs';
import { benchRoot } from '../host/build.mjs';

/** @typedef {{ workload: string; contender: string; round: number; load: number; result: any }} Row */
/**
 * @typedef {object} Run
 * @property {Date} startedAt
 * @property {Awaited<ReturnType<typeof import('../host/machine.mjs').describeMachine>>} machine
 * @property {ReturnType<typeof import('./run.mjs').readArguments>} wanted
 * @property {readonly Row[]} rows
 */
/** @typedef {ReturnType<typeof figuresOf>} Figures */

const LATENCY_MOST = 0.5;
const QUEUE_MOST = 1.5;
const GAP_MOST_MS = 25;
const FIRST_LOAD_MOST = 1.3;

/** @param {readonly number[]} values @param {number} share */
function quantile(values, share) {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))] ?? Number.NaN;
}

const median = (/** @type {readonly number[]} */ values) => quantile(values, 0.5);

/** @param {Run['rows']} rows @param {string} contender */
const valuesIn =
  (rows, contender) =>
  (/** @type {string} */ workload, /** @type {(result: any) => readonly number[]} */ of) =>
    rows
      .filter((row) => row.workload === workload && row.contender === contender)
      .flatMap(({ result }) => of(result));

/** @param {Run} run */
function figuresOf({ rows, wanted }) {
  return wanted.contenders.map((contender) => {
    const all = valuesIn(rows, contender);
    const shown = all('latency', (result) => result.shown);
    const rebase = (/** @type {string} */ name) => median(all('rebase', (result) => result[name]));
    /** @type {readonly { idle: number; busy: number }[]} */
    const gaps = rows
      .filter((row) => row.workload === 'rebase' && row.contender === contender)
      .flatMap(({ result }) => result.rebaseGap);
    return {
      contender,
      title: rows.find((row) => row.contender === contender && row.result.title)?.result.title,
      latency: { writes: shown.length, p50: median(shown), p95: quantile(shown, 0.95) },
      stored: median(all('latency', (result) => result.stored)),
      first: {
        loaded: median(all('first load', (result) => result.loaded)),
        byHand: median(all('first load', (result) => result.byHand)),
      },
      push: {
        pushed: median(all('push', (result) => result.pushed)),
        direct: median(all('push', (result) => result.direct)),
        submitted: median(all('push', (result) => result.submitted)),
      },
      rebase: {
        apply: rebase('apply'),
        run: rebase('run'),
        together: rebase('rebase'),
        busyGap: median(gaps.map(({ busy }) => busy)),
        idleGap: median(gaps.map(({ idle }) => idle)),
        addedGap: median(gaps.map(({ busy, idle }) => busy - idle)),
      },
    };
  });
}

/** @param {Figures} figures */
function asksOf(figures) {
  const rivals = figures.filter(({ contender }) => !contender.startsWith('burrow'));
  return figures
    .filter(({ contender }) => contender.startsWith('burrow'))
    .flatMap((own) => [...latencyAsks(own, rivals), ...queueAsks(own), firstLoadAsk(own)])
    .filter(({ value }) => Number.isFinite(value));
}

/** @param {Figures[number]} own @param {Figures} rivals */
const latencyAsks = (own, rivals) =>
  rivals.flatMap((rival) =>
    /** @type {const} */ (['p50', 'p95']).map((at) => {
      const [ours, theirs] = [own.latency[at], rival.latency[at]];
      const name = `${own.contender}: write to live result, ${at}, against ${rival.contender} ≤ ${LATENCY_MOST}`;
      const detail = `${short(ours)} against ${short(theirs)} ms`;
      return { name, value: ours / theirs, isMet: ours / theirs <= LATENCY_MOST, detail };
    }),
  );

/** @param {Figures[number]} own */
function queueAsks({ contender, push, rebase }) {
  const pushed = push.pushed / push.direct;
  const together = rebase.together / (rebase.apply + rebase.run);
  return [
    {
      name: `${contender}: a queue pushed against sent one by one ≤ ${QUEUE_MOST}`,
      value: pushed,
      isMet: pushed <= QUEUE_MOST,
      detail: `${short(push.pushed)} against ${short(push.direct)} ms`,
    },
    {
      name: `${contender}: rebase against its parts ≤ ${QUEUE_MOST}`,
      value: together,
      isMet: together <= QUEUE_MOST,
      detail: `${short(rebase.together)} against ${short(rebase.apply)} + ${short(rebase.run)} ms`,
    },
    {
      name: `${contender}: longest gap on the main thread meanwhile, beyond that of the idle page just before, ms ≤ ${GAP_MOST_MS}`,
      value: rebase.addedGap,
      isMet: rebase.addedGap <= GAP_MOST_MS,
      detail: `${short(rebase.busyGap)} against ${short(rebase.idleGap)} ms; medians of the rounds`,
    },
  ];
}

/** @param {Figures[number]} own */
function firstLoadAsk({ contender, first }) {
  const value = first.loaded / first.byHand;
  return {
    name: `${contender}: first load against one download stored by hand ≤ ${FIRST_LOAD_MOST}`,
    value,
    isMet: value <= FIRST_LOAD_MOST,
    detail: `${short(first.loaded)} against ${short(first.byHand)} ms`,
  };
}

/** @param {Run} run */
export function writeSyncResults(run) {
  const { startedAt, machine, wanted } = run;
  const figures = figuresOf(run);
  const asks = asksOf(figures);
  const text = [
    '# Sync benchmark results',
    `${startedAt.toISOString()}, commit ${machine.commit}. ${describe(run)}`,
    'Written by `npm run bench:sync`; the measurements are described in docs/benchmarks.md. Compare only results of the same run.',
    '## Asks',
    table(
      ['ask', 'reached', 'figures', ''],
      asks.map(({ name, value, isMet, detail }) => [
        name,
        short(value),
        detail,
        isMet ? 'PASS' : '**short**',
      ]),
    ),
    ...latencySection(figures),
    ...queueSection(figures, wanted),
    ...firstLoadSection(figures, wanted),
  ].join('\n\n');
  const folder = join(benchRoot, wanted.out);
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, 'SYNC.md'), `${wrapMarkdown(text)}\n`);
  const json = { startedAt, machine, wanted, asks, figures };
  writeFileSync(join(folder, 'sync.json'), `${JSON.stringify(json, undefined, 2)}\n`);
  console.log(`\n${text}`);
}

/** @param {Run} run */
function describe({ machine, wanted, rows }) {
  const loads = rows.map(({ load }) => load);
  return [
    `${machine.processor}, ${machine.memoryGib} GiB, ${machine.system}, ${machine.browser}, Node ${machine.node}.`,
    `${wanted.rounds} interleaved rounds.`,
    `Load of the machine (the benchmark itself adds about 2): ${short(Math.min(...loads))} to ${short(Math.max(...loads))}.`,
  ].join(' ');
}

/** @param {Figures} figures */
function latencySection(figures) {
  const rows = figures
    .filter(({ latency }) => latency.writes > 0)
    .map(({ title, contender, latency, stored }) => [
      title ?? contender,
      String(latency.writes),
      ...[latency.p50, latency.p95, stored].map(short),
    ]);
  if (rows.length === 0) return [];
  const head = ['', 'writes', 'p50, ms', 'p95, ms', 'stored where it was written, p50, ms'];
  return ['## From a write in one browser to the live result in another', table(head, rows)];
}

/** @param {Figures} figures @param {Run['wanted']} wanted */
function queueSection(figures, { queued, incoming, pending }) {
  const rows = figures
    .filter(({ push }) => Number.isFinite(push.pushed))
    .map(({ contender, push, rebase }) => [
      contender,
      ...[push.submitted, push.pushed, push.direct].map(short),
      ...[rebase.apply, rebase.run, rebase.together].map(short),
    ]);
  if (rows.length === 0) return [];
  const head = [
    '',
    `${queued} writes made offline, ms`,
    'pushed, ms',
    'sent one by one, ms',
    `${incoming} documents applied, ms`,
    `${pending} queries run, ms`,
    'both at once, ms',
  ];
  return ['## Queues', table(head, rows)];
}

/** @param {Figures} figures @param {Run['wanted']} wanted */
function firstLoadSection(figures, { first }) {
  const rows = figures
    .filter((each) => Number.isFinite(each.first.loaded))
    .map((each) => [
      each.title ?? each.contender,
      ...[each.first.loaded, each.first.byHand, each.first.loaded / each.first.byHand].map(short),
    ]);
  if (rows.length === 0) return [];
  const head = [
    '',
    `${first.toLocaleString('en-US')} documents are here, ms`,
    'downloaded as one file and stored by hand, ms',
    'ratio',
  ];
  return ['## First load', table(head, rows)];
}

/** @param {readonly string[]} head @param {readonly (readonly string[])[]} rows */
const table = (head, rows) =>
  [head, head.map(() => '---'), ...rows].map((cells) => `| ${cells.join(' | ')} |`).join('\n');
