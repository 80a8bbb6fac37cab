import * as fc from 'fast-check';
import { test } from 'vitest';
import {
  discard,
  judge,
  KEYS,
  Model,
  pull,
  Real,
  rename,
  reopen,
  settle,
  submit,
} from './testing/simulation/replica-commands.ts';

const tab = fc.integer({ min: 0, max: 1 });
const key = fc.constantFrom(...KEYS);
const amount = fc.integer({ min: 1, max: 99 });

const commands = fc.commands(
  [
    fc.tuple(tab, key, fc.constantFrom('put', 'add'), amount).map((each) => submit(...each)),
    fc.tuple(tab, key, fc.constantFrom('put', 'add'), amount).map((each) => submit(...each)),
    fc.boolean().map(judge),
    fc.boolean().map(judge),
    fc.constant(settle()),
    fc.tuple(key, fc.option(amount, { nil: undefined }), fc.boolean()).map((each) => pull(...each)),
    fc.constant(rename()),
    fc.constant(discard()),
    tab.map(reopen),
  ],
  { maxCommands: 40, size: 'max' },
);

test('after any commands a replica shows the confirmed documents with the pending writes over them (S7)', async () => {
  await fc.assert(
    fc.asyncProperty(commands, async (given) => {
      const setup = async () => ({ model: new Model(), real: await Real.open() });
      await fc.asyncModelRun(setup, given);
    }),
    { numRuns: 200 },
  );
});
