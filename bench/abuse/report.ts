/** The table of the attacks' effects. */
import type { Experience } from './innocent.ts';
import type { Watched } from './hub-under-attack.ts';

export interface Outcome {
  readonly store: string;
  readonly attack: string;
  readonly quiet: Experience;
  readonly under: Experience;
  readonly watched: Watched;
  readonly memoryBeforeBytes: number;
  readonly answers: Readonly<Record<string, number>>;
}

/**
 * Requirements (issue "bounds by work"): the innocent client's p95 within 3 times of that without attack, /ping within 50 ms, memory
 * bounded.
 */
const P95_RATIO_MAX = 3;
/** A p95 below this always passes: it is within one tick of the timer or of the scheduler, so a ratio means nothing. */
const P95_FLOOR_MS = 10;
const DELAY_MS_MAX = 50;
const MEMORY_BYTES_MAX = 512 * 2 ** 20;

export function failuresOf({ quiet, under, watched, memoryBeforeBytes }: Outcome): string[] {
  const p95Max = Math.max(P95_FLOOR_MS, quiet.queryP95 * P95_RATIO_MAX);
  return [
    ...(under.queryP95 <= p95Max ? [] : ['p95']),
    ...(watched.delayMs <= DELAY_MS_MAX ? [] : ['delay']),
    ...(Object.keys(under.failed).length === 0 ? [] : ['refused']),
    ...(watched.memoryBytes - memoryBeforeBytes <= MEMORY_BYTES_MAX ? [] : ['memory']),
  ];
}

const ms = (value: number): string => (Number.isNaN(value) ? '–' : value.toFixed(1));
const mib = (bytes: number): string => (bytes / 2 ** 20).toFixed(0);
const members = (counts: Readonly<Record<string, number>>): string =>
  Object.entries(counts)
    .map(([name, value]) => `${name}: ${value}`)
    .join(', ') || '–';

export const HEADINGS = [
  'store',
  'attack',
  'its answers',
  'query p95, quiet → under attack (ms)',
  'longest query, `/ping` (ms)',
  'event loop blocked (ms)',
  'memory, before → after (MiB)',
  'innocent refused',
  'holds',
];

export function rowOf(outcome: Outcome): string[] {
  const { store, attack, quiet, under, watched, memoryBeforeBytes, answers } = outcome;
  return [
    store,
    attack,
    members(answers),
    `${ms(quiet.queryP95)} → ${ms(under.queryP95)}`,
    `${ms(under.queryMax)}, ${ms(under.pingMax)}`,
    ms(watched.delayMs),
    `${mib(memoryBeforeBytes)} → ${mib(watched.memoryBytes)}`,
    members(under.failed),
    failuresOf(outcome).join(', ') || 'yes',
  ];
}

export const tableOf = (outcomes: readonly Outcome[]): string =>
  [HEADINGS, HEADINGS.map(() => '---'), ...outcomes.map(rowOf)]
    .map((cells) => `| ${cells.join(' | ')} |`)
    .join('\n');
