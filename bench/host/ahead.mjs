// Computes how many times faster a contender is than others of the same durability.
import { short } from './asks.mjs';
import { figureOf, figures } from './results.mjs';

const RELAXED = ['raw-idb-worker', 'dexie-worker', 'sqlite-wasm', 'pglite', 'rxdb'];
const STRICT = ['raw-idb-worker-strict'];

/** @param {readonly import('./results.mjs').Measured[]} measured @param {string} contender @param {readonly string[]} contenders */
export function aheadOf(measured, contender, contenders) {
  const others = (contender === 'burrow-strict' ? STRICT : RELAXED).filter((other) =>
    contenders.includes(other),
  );
  const won = others.map(() => 0);
  const compared = others.map(() => 0);
  const rows = figures.flatMap(({ name, workload, of, isRate = false }) => {
    const own = figureOf(measured, contender, workload, of)?.median;
    if (own === undefined) return [];
    const cells = others.map((other, at) => {
      const its = figureOf(measured, other, workload, of)?.median;
      if (its === undefined) return '–';
      const times = isRate ? own / its : its / own;
      compared[at] = (compared[at] ?? 0) + 1;
      if (times < 1) return `**${short(times)}**`;
      won[at] = (won[at] ?? 0) + 1;
      return short(times);
    });
    return cells.every((cell) => cell === '–') ? [] : [[name, ...cells]];
  });
  return { others, rows, won: won.map((count, at) => `${count} of ${compared[at]}`) };
}
