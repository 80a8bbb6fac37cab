/** Q1: the engine gives the same answers as a slow, simple model: value, code and position. */
import { expect, test } from 'vitest';
import { seedOf } from './testing/random-source.ts';
import { play } from './testing/model/play.ts';

const CASES = Number(process.env['BURROW_MODEL_CASES'] ?? 4000);
const SEED = seedOf('BURROW_MODEL_SEED');

test(`the engine gives the same answers as the model (${CASES} cases, BURROW_MODEL_SEED=${SEED})`, async () => {
  const { difference, ...tally } = await play(CASES, SEED);
  console.log(`model: seed ${SEED},`, tally);
  expect(difference?.answered, difference?.story).toBe(difference?.told);
  expect(tally.silent).toBeLessThan(CASES / 3);
});
