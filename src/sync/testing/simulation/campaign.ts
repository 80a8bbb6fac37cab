/** Runs many simulations one after the other. Reports failures, and how often each event occurred. */
import { FAULT_NAMES } from './nemesis.ts';
import { HUB_PLACES, TAB_PLACES } from './instrumented.ts';
import { simulate } from './simulate.ts';

/** A seed as stored in a file, which is tried in each run. */
export interface KeptSeed {
  readonly seed: number;
  readonly operations: number;
  /** A fault that occurs far more often than the others. */
  readonly often?: string;
}

export interface Failure extends KeptSeed {
  readonly problems: readonly string[];
  readonly story: readonly string[];
}

export interface Found {
  readonly failures: readonly Failure[];
  readonly counts: ReadonlyMap<string, number>;
  /** Number of seeds that were tried. */
  readonly tried: number;
  readonly seedsPerSecond: number;
}

export const OPERATIONS = 60;

/**
 * @param clock in ms
 * @param counts of events in earlier simulations
 */
export async function runCampaign(
  seeds: Iterable<KeptSeed>,
  clock: () => number,
  counts = new Map<string, number>(),
): Promise<Found> {
  const started = clock();
  const failures: Failure[] = [];
  let tried = 0;
  for (const kept of seeds) {
    const { seed, ...options } = kept;
    const outcome = await simulate(seed, { ...options, hasFaults: true });
    tried += 1;
    for (const [what, count] of outcome.counts) counts.set(what, (counts.get(what) ?? 0) + count);
    if (outcome.problems.length > 0) failures.push(await told(kept, outcome.problems));
  }
  return { failures, counts, tried, seedsPerSecond: (tried * 1000) / (clock() - started) };
}

const MORE_SEEDS_FROM = 1001;
const MORE_SEEDS_MAX = 100;

/**
 * The fixed seeds, and then, as long as an expected event has not occurred, further seeds in which tabs die far more often: the places
 * where they die with a given seed change with every change of the code.
 */
export function* seedsUntilMet(
  always: readonly number[],
  counts: ReadonlyMap<string, number>,
): Generator<KeptSeed> {
  for (const seed of always) yield { seed, operations: OPERATIONS };
  for (let more = 0; more < MORE_SEEDS_MAX && notMet(counts).length > 0; more++)
    yield { seed: MORE_SEEDS_FROM + more, operations: OPERATIONS, often: 'tab doomed' };
}

/** Runs the seed again and records all events. */
async function told(kept: KeptSeed, found: Failure['problems']): Promise<Failure> {
  const { seed, ...options } = kept;
  const { problems, story } = await simulate(seed, { ...options, hasFaults: true, tells: true });
  const isSame = problems[0] === found[0];
  const other = isSame ? [] : [`NOT THE SAME THE SECOND TIME: ${problems[0] ?? 'nothing'}`];
  return { ...kept, story, problems: [...found, ...other] };
}

/** I10: events that must occur at least once in a campaign; otherwise it proves nothing. */
const EXPECTED: readonly string[] = [
  ...FAULT_NAMES,
  ...HUB_PLACES.map((place) => `hub dies: ${place}`),
  ...TAB_PLACES.map((place) => `tab dies: ${place}`),
  'request lost',
  'answer lost',
  'request duplicated',
  'answer late',
  'answer 429',
  'answer 503',
  'poke',
  'poke that brings',
  'poke lost',
  'change untold',
  'store fails before a commit',
  'store fails after a commit',
  'syncer superseded',
  'write discarded',
  'write tried again',
  'write failed here',
  'verdict confirmed',
  'verdict amended',
  'verdict refused',
  'copies compared',
  'answers complete',
  'answers partial',
  'views replayed',
];

export const notMet = (counts: ReadonlyMap<string, number>): readonly string[] =>
  EXPECTED.filter((what) => !counts.has(what));

export const countsAsText = (counts: ReadonlyMap<string, number>): string =>
  [...counts]
    .sort(([one], [other]) => (one < other ? -1 : 1))
    .map(([what, count]) => `${String(count).padStart(8)}  ${what}`)
    .join('\n');
