// The measurements of a run, and their medians.

/**
 * @typedef {object} Measured
 * @property {string} contender
 * @property {number} round
 * @property {string} workload
 * @property {number} load Load average of the machine at the start of the workload.
 * @property {any} [result]
 * @property {string} [error]
 *
 * @typedef {object} Figure
 * @property {number} median Median of the rounds.
 * @property {number} least
 * @property {number} most
 */

/** @param {readonly number[]} values */
export function medianOf(values) {
  const sorted = values.toSorted((a, b) => a - b);
  const middle = Math.floor(sorted.length / 2);
  const upper = sorted[middle] ?? Number.NaN;
  return sorted.length % 2 === 1 ? upper : ((sorted[middle - 1] ?? Number.NaN) + upper) / 2;
}

/**
 * The figures that are read from each workload's result. `isRate`: higher is better.
 * @type {readonly { name: string, workload: string, unit: string, isRate?: boolean, of: (result: any) => number }[]}
 */
export const figures = [
  { name: 'W1 cold open to first read', workload: 'W1', unit: 'ms', of: (r) => r.total },
  { name: 'W2 bulk create', workload: 'W2', unit: 'docs/s', isRate: true, of: (r) => r.perSecond },
  { name: 'W3 create', workload: 'W3', unit: 'ms', of: (r) => r.p50 },
  { name: 'W4 get, cold', workload: 'W4', unit: 'ms', of: (r) => r.cold.p50 },
  { name: 'W4 get, warm', workload: 'W4', unit: 'ms', of: (r) => r.warm.p50 },
  { name: 'W5 64 of a match, cold', workload: 'W5', unit: 'ms', of: (r) => r.cold.p50 },
  { name: 'W5 64 of a match, warm', workload: 'W5', unit: 'ms', of: (r) => r.warm.p50 },
  { name: 'W6 page of 64, cold', workload: 'W6', unit: 'ms', of: (r) => r.cold.p50 },
  { name: 'W6 page of 64, warm', workload: 'W6', unit: 'ms', of: (r) => r.warm.p50 },
  {
    name: 'W6 page of 64, first after idle warming',
    workload: 'W6 warmed',
    unit: 'ms',
    of: (r) => r.cold.p50,
  },
  { name: 'W7 100,000 entries', workload: 'W7', unit: 'ms', of: (r) => r.ms },
  { name: 'W7 gap on the main thread', workload: 'W7', unit: 'ms', of: (r) => r.gap },
  { name: 'W7 renderer memory', workload: 'W7', unit: 'MB', of: (r) => r.rendererMb },
  { name: 'W8 read-modify-write', workload: 'W8', unit: 'ms', of: (r) => r.p50 },
  {
    name: 'W9 transfers of two tabs',
    workload: 'W9',
    unit: '1/s',
    isRate: true,
    of: (r) => r.perSecond,
  },
  { name: 'W10 update of 1,000', workload: 'W10', unit: 'ms', of: (r) => r.ms },
  { name: 'W11 live in another tab', workload: 'W11', unit: 'ms', of: (r) => medianOf(r.ms) },
  { name: 'W13 gap during W2', workload: 'W2', unit: 'ms', of: (r) => r.gap },
  { name: 'W14 get, cold, 1,000', workload: 'W4 at 1,000', unit: 'ms', of: (r) => r.cold.p50 },
  { name: 'W14 get, cold, 100,000', workload: 'W4 at 100,000', unit: 'ms', of: (r) => r.cold.p50 },
  { name: 'W14 match, cold, 1,000', workload: 'W5 at 1,000', unit: 'ms', of: (r) => r.cold.p50 },
  {
    name: 'W14 match, cold, 100,000',
    workload: 'W5 at 100,000',
    unit: 'ms',
    of: (r) => r.cold.p50,
  },
  { name: 'W15 32 creates at once, each', workload: 'W15', unit: 'ms', of: (r) => r.perCreate },
  {
    name: 'W16 64 scattered of 100,000, fresh page',
    workload: 'W16 at 100,000',
    unit: 'ms',
    of: (r) => r.p50,
  },
  {
    name: 'W16 64 scattered of 100,000, after idle warming',
    workload: 'W16 warmed at 100,000',
    unit: 'ms',
    of: (r) => r.p50,
  },
  {
    name: 'W17 open with a full log to first read',
    workload: 'W17',
    unit: 'ms',
    of: (r) => r.total,
  },
  {
    name: 'fill to 100,000',
    workload: 'fillBig',
    unit: 'docs/s',
    isRate: true,
    of: (r) => r.perSecond,
  },
  { name: 'disk at 100,000', workload: 'disk', unit: 'MB', of: (r) => r.megabytes },
];

/**
 * @param {readonly Measured[]} measured @param {string} contender @param {string} workload
 * @param {(result: any) => number} of
 * @returns {Figure | undefined}
 */
export function figureOf(measured, contender, workload, of) {
  /** @type {Map<number, number[]>} */
  const byRound = new Map();
  for (const row of measured) {
    if (row.contender !== contender || row.workload !== workload || !row.result) continue;
    const value = of(row.result);
    if (Number.isFinite(value)) {
      byRound.set(row.round, [...(byRound.get(row.round) ?? []), value]);
    }
  }
  const medians = [...byRound.values()].map(medianOf);
  if (medians.length === 0) return undefined;
  return { median: medianOf(medians), least: Math.min(...medians), most: Math.max(...medians) };
}
