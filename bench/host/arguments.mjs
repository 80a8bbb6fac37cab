// Parses the command line.
import { commandOptions } from '../../scripts/setup.mjs';

/** Contenders that are measured by default. */
export const usual = [
  'raw-idb',
  'raw-idb-worker',
  'raw-idb-worker-strict',
  'dexie-worker',
  'sqlite-wasm',
  'burrow',
  'burrow-strict',
];

/** Other databases that people might choose. Like SQLite, they are in rivals/, which has its own packages. */
export const rivals = ['pglite', 'rxdb'];

const MILLION = 1_000_000;
/** Workloads that read the large database. */
const OF_LARGE = ['W7', 'W14', 'W16', 'disk', 'fillBig'];

export function readArguments() {
  const values = commandOptions(
    {
      only: { type: 'string' },
      workloads: { type: 'string' },
      all: { type: 'boolean', default: false },
      rounds: { type: 'string' },
      n: { type: 'string' },
      big: { type: 'string' },
      quick: { type: 'boolean', default: false },
      grow: { type: 'string' },
      extras: { type: 'boolean', default: true },
      out: { type: 'string', default: 'results' },
    },
    { allowNegative: true },
  );
  const { only, workloads, all, quick, grow, extras, out } = values;
  const named = workloads?.split(',');
  const needsBig = !quick && (named?.some((name) => OF_LARGE.includes(name)) ?? true);
  const isWhole = !quick && only === undefined && workloads === undefined;
  return {
    contenders: only?.split(',') ?? (all ? [...usual, ...rivals] : usual),
    workloads: named,
    rounds: Number(values.rounds ?? (quick ? 1 : 3)),
    documents: Number(values.n ?? (quick ? 2000 : 10_000)),
    big: Number(values.big ?? (needsBig ? 100_000 : 0)),
    /** Size, in documents, to which a database is grown; 0 to leave this out. */
    grow: Number(grow ?? (isWhole ? MILLION : 0)),
    extras,
    out,
  };
}
