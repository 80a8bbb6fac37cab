/** Simulations of files in virtual time: fixed seeds, and planted faults. */
import { expect, test } from 'vitest';
import { FILE_MUTANTS } from './testing/file-simulation/file-run.ts';
import { simulateFiles } from './testing/file-simulation/simulate-files.ts';

const SEEDS = 150;
const MINUTE = 60_000;

/** What must have occurred at least once; otherwise the campaign proves nothing. */
const EXPECTED = [
  'photo taken',
  'photo replaced',
  'photo removed',
  'note deleted',
  'rights changed',
  'device killed',
  'hub restored',
  'hub removes files',
  'device removes files',
  'file fetched',
  'file arrived',
  'file came after a wait',
  'wait without a result',
  'hint lost',
  'hub stops before it announces',
  'line breaks',
  'damaged on the way',
  'part sent',
  'not sent',
  'verdict confirmed',
  'refused: bad_message',
  'refused: file_not_found',
  'refused: file_not_uploaded',
];

test(
  'simulateFiles() finds no problems with the fixed seeds',
  async () => {
    const counts = new Map<string, number>();
    for (let seed = 1; seed <= SEEDS; seed++) {
      const { problems, counts: met } = await simulateFiles(seed);
      expect(problems, `seed ${seed}`).toEqual([]);
      for (const [what, count] of met) counts.set(what, (counts.get(what) ?? 0) + count);
    }
    console.log(
      [...counts]
        .sort(([a], [b]) => (a < b ? -1 : 1))
        .map(([what, count]) => `${count}  ${what}`)
        .join('\n'),
    );
    expect(EXPECTED.filter((what) => !counts.has(what))).toEqual([]);
  },
  10 * MINUTE,
);

test.each(FILE_MUTANTS)(
  'simulateFiles() notices when %s',
  async (mutant) => {
    for (let seed = 1; seed <= SEEDS; seed++) {
      const { problems } = await simulateFiles(seed, mutant);
      if (problems.length === 0) continue;
      console.log(`${mutant}: seed ${seed}, ${problems[0]}`);
      return;
    }
    expect.unreachable(`nothing was found in ${SEEDS} seeds`);
  },
  10 * MINUTE,
);
