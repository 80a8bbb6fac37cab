/** Many simulations, one after the other: what was found, and how often each thing was done. */
import { FAULT_NAMES } from './nemesis.ts';
import { HUB_PLACES, TAB_PLACES } from './instrumented.ts';
import { simulate } from './simulate.ts';

/** As it is kept in a file, to be tried again each time. */
export interface KeptSeed {
  readonly seed: number;
  readonly operations: number;
  /** A fault that fires far more often than the others. */
  readonly often?: string;
}

export interface Failure extends KeptSeed {
  readonly problems: readonly string[];
  readonly story: readonly string[];
}

export interface Found {
  readonly failures: readonly Failure[];
  readonly counts: ReadonlyMap<string, number>;
  /** Number of seeds. */
  readonly tried: number;
  readonly seedsPerSecond: number;
}

export const OPERATIONS = 60;

/**
 * @param clock ms
 * @param counts what was done before
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
 * Seeds that are always the same, and after them, as long as something was not met, others in which tabs die far more often: where
 * they die in which seed is another with each change of the code.
 */
export function* seedsUntilMet(
  always: readonly number[],
  counts: ReadonlyMap<string, number>,
): Generator<KeptSeed> {
  for (const seed of always) yield { seed, operations: OPERATIONS };
  for (let more = 0; more < MORE_SEEDS_MAX && notMet(counts).length > 0; more++)
    yield { seed: MORE_SEEDS_FROM + more, operations: OPERATIONS, often: 'tab doomed' };
}

/** The same once more, with all that happens. */
async function told(kept: KeptSeed, found: Failure['problems']): Promise<Failure> {
  const { seed, ...options } = kept;
  const { problems, story } = await simulate(seed, { ...options, hasFaults: true, tells: true });
  const isSame = problems[0] === found[0];
  const other = isSame ? [] : [`NOT THE SAME THE SECOND TIME: ${problems[0] ?? 'nothing'}`];
  return { ...kept, story, problems: [...found, ...other] };
}

/** I10: what a campaign must have met, or it proves nothing. */
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
