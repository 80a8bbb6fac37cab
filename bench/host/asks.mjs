// Targets for Burrow, relative to the baseline for its design: raw IndexedDB in a worker, with the same durability, measured in the same
// run.
import { figureOf, figures } from './results.mjs';

/** @param {string} contender */
export const floorOf = (contender) =>
  contender === 'burrow-strict' ? 'raw-idb-worker-strict' : 'raw-idb-worker';

/**
 * Limits of the ratio to the baseline: a minimum for rates, a maximum for times.
 * @type {readonly { figure: string, limit: number }[]}
 */
const ratios = [
  { figure: 'W1 cold open to first read', limit: 1.3 },
  { figure: 'W2 bulk create', limit: 2 },
  { figure: 'fill to 100,000', limit: 2 },
  { figure: 'W3 create', limit: 1.35 },
  { figure: 'W4 get, warm', limit: 0.5 },
  { figure: 'W14 get, cold, 100,000', limit: 1.25 },
  { figure: 'W5 64 of a match, cold', limit: 1.3 },
  { figure: 'W5 64 of a match, warm', limit: 0.45 },
  { figure: 'W6 page of 64, cold', limit: 1.4 },
  { figure: 'W6 page of 64, first after idle warming', limit: 0.7 },
  { figure: 'W7 100,000 entries', limit: 0.8 },
  { figure: 'W8 read-modify-write', limit: 1 },
  { figure: 'W9 transfers of two tabs', limit: 0.8 },
  { figure: 'W10 update of 1,000', limit: 0.4 },
  { figure: 'W11 live in another tab', limit: 1.3 },
  { figure: 'W15 32 creates at once, each', limit: 0.5 },
  { figure: 'W16 64 scattered of 100,000, fresh page', limit: 2 },
  { figure: 'W16 64 scattered of 100,000, after idle warming', limit: 0.7 },
  { figure: 'disk at 100,000', limit: 1.1 },
];

/**
 * @typedef {object} Verdict
 * @property {string} ask
 * @property {number} value
 * @property {number} limit
 * @property {boolean} isMet
 * @property {string} detail
 */

/**
 * @param {readonly import('./results.mjs').Measured[]} measured @param {string} contender
 * @returns {Verdict[]}
 */
export function judge(measured, contender) {
  const wanted = ratios.flatMap(({ figure, limit }) => {
    const { workload, of, isRate = false, unit } = named(figure);
    const own = figureOf(measured, contender, workload, of);
    const floor = figureOf(measured, floorOf(contender), workload, of);
    if (!own || !floor) return [];
    const value = own.median / floor.median;
    const detail = `${short(own.median)} against ${short(floor.median)} ${unit}`;
    return [verdict(`${figure}, ratio`, value, limit, detail, isRate)];
  });
  return [...wanted, ...others(measured, contender)];
}

/** @param {readonly import('./results.mjs').Measured[]} measured @param {string} contender */
function others(measured, contender) {
  const only = (/** @type {string} */ workload, /** @type {(result: any) => number} */ of) =>
    figureOf(measured, contender, workload, of)?.median ?? Number.NaN;
  const growth = (/** @type {string} */ workload) =>
    only(`${workload} at 100,000`, (r) => r.cold.p50) /
    only(`${workload} at 1,000`, (r) => r.cold.p50);
  const login = (/** @type {string} */ kind) => only('logins', (r) => r[kind]);
  const refusals = ['wrong', 'tooLong', 'withoutPassword', 'unknown'].map(login);
  const spread = Math.max(...refusals) / Math.min(...refusals);
  const rolePage = (/** @type {string} */ kind) =>
    verdict(
      `page of 64 under a role that reads each document, ${kind}, against admin`,
      only('role pages', (r) => r[kind].role / r[kind].admin),
      3,
      `${short(only('role pages', (r) => r[kind].role))} against ${short(only('role pages', (r) => r[kind].admin))} ms`,
    );
  return [
    verdict(
      'W7 gap on the main thread, ms',
      only('W7', (r) => r.gap),
      25,
    ),
    verdict(
      'W9 sum kept and every balance exact',
      only('W9', (r) => Number(r.isSumKept && r.isExact)),
      1,
      '',
      true,
    ),
    verdict('W4 cold at 100,000 against 1,000', growth('W4'), 1.3),
    verdict('W5 cold at 100,000 against 1,000', growth('W5'), 1.3),
    verdict(
      'failed logins, slowest reason against fastest',
      spread,
      1.1,
      `wrong ${short(login('wrong'))}, too long ${short(login('tooLong'))}, without password ${short(login('withoutPassword'))}, unknown ${short(login('unknown'))} ms; right ${short(login('right'))} ms`,
    ),
    rolePage('warm'),
    rolePage('onwards'),
    verdict(
      'Get during 20 logins against idle',
      only('reads beside logins', (r) => r.beside.p50 / r.idle.p50),
      1.5,
    ),
    verdict(
      'Get with the log on against off',
      only('log', (r) => r.getOn / r.getOff),
      1.05,
    ),
    verdict(
      'page of 64 with the log on against off',
      only('log', (r) => r.pageOn / r.pageOff),
      1.05,
    ),
  ].filter(({ value }) => Number.isFinite(value));
}

/** @param {string} name */
function named(name) {
  const found = figures.find((figure) => figure.name === name);
  if (!found) throw new Error(`No figure is called ${name}.`);
  return found;
}

/** @returns {Verdict} @param {string} ask @param {number} value @param {number} limit @param {string} detail @param {boolean} isAtLeast */
function verdict(ask, value, limit, detail = '', isAtLeast = false) {
  const isMet = isAtLeast ? value >= limit : value <= limit;
  return { ask: `${ask} ${isAtLeast ? '≥' : '≤'} ${limit}`, value, limit, isMet, detail };
}

/** @param {number} value */
export function short(value) {
  if (!Number.isFinite(value)) return '–';
  if (value >= 1000) return Math.round(value).toLocaleString('en-US');
  return value.toPrecision(3);
}
