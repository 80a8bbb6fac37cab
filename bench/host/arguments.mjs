// What the command line asks for.
import { parseArgs } from 'node:util';

/** What a run measures when nothing is said. */
export const usual = ['raw-idb', 'raw-idb-worker', 'dexie-worker', 'burrow', 'burrow-strict'];

/** What people would pick instead, in rivals/ with packages of their own. */
export const rivals = ['sqlite-wasm', 'pglite', 'rxdb'];

export function readArguments() {
  const { values } = parseArgs({
    options: {
      only: { type: 'string' },
      workloads: { type: 'string' },
      all: { type: 'boolean', default: false },
      rounds: { type: 'string' },
      n: { type: 'string' },
      big: { type: 'string' },
      quick: { type: 'boolean', default: false },
      million: { type: 'boolean', default: false },
      extras: { type: 'boolean', default: true },
      out: { type: 'string', default: 'results' },
    },
    allowNegative: true,
  });
  const { only, workloads, all, quick, million, extras, out } = values;
  return {
    contenders: only?.split(',') ?? (all ? [...usual, ...rivals] : usual),
    workloads: workloads?.split(','),
    rounds: Number(values.rounds ?? (quick ? 1 : 3)),
    documents: Number(values.n ?? (quick ? 2000 : 10_000)),
    big: Number(values.big ?? (quick ? 0 : 100_000)),
    million,
    extras,
    out,
  };
}
