// `npm run bench`: Burrow compared with raw IndexedDB and other databases that people might choose, in Chromium, on disk.
// --only a,b  --workloads W9,W11  --all  --rounds 3  --n 10000  --big 100000  --quick  --grow 1000000  --no-extras  --out results
import { appendFileSync, mkdirSync, writeFileSync } from 'node:fs';
import { loadavg } from 'node:os';
import { dirname, join } from 'node:path';
import { readArguments } from './host/arguments.mjs';
import { benchRoot, buildPage } from './host/build.mjs';
import { runExtras, runGrowth } from './host/extras.mjs';
import { describeMachine } from './host/machine.mjs';
import { writeResults } from './host/report.mjs';
import { serve } from './host/server.mjs';
import { fillBig, runBig, runSmall } from './host/slots.mjs';

const wanted = readArguments();
const { contenders, rounds, documents, big } = wanted;
const startedAt = new Date();
const machine = await describeMachine();
console.log(`${machine.processor}, ${machine.browser}: ${contenders.join(', ')}, ${rounds} rounds`);

const folder = await buildPage(contenders);
const web = await serve(folder);
const rawFile = join(benchRoot, 'out', `${wanted.out}.jsonl`);
mkdirSync(dirname(rawFile), { recursive: true });
writeFileSync(rawFile, '');

/** @type {import('./host/results.mjs').Measured[]} */
const measured = [];

/**
 * W2 and `fillBig` always run, because they fill the databases of other workloads; growth has its own option.
 * @param {string} workload
 */
function isWanted(workload) {
  if (wanted.workloads === undefined || ['info', 'W2', 'fillBig', 'growth'].includes(workload))
    return true;
  const [name = ''] = workload.split(' ');
  return wanted.workloads.includes(/^W[45] at/.test(workload) ? 'W14' : name);
}

/** @param {string} contender @param {number} round */
const stepOf =
  (contender, round) =>
  async (/** @type {string} */ workload, /** @type {() => Promise<unknown>} */ work) => {
    if (!isWanted(workload)) return;
    const started = Date.now();
    const [load = 0] = loadavg();
    /** @type {import('./host/results.mjs').Measured} */
    const row = { contender, round, workload, load };
    try {
      row.result = await work();
    } catch (error) {
      row.error = error instanceof Error ? error.message : String(error);
    }
    measured.push(row);
    appendFileSync(rawFile, `${JSON.stringify(row)}\n`);
    const said = JSON.stringify(row.result ?? row.error).slice(0, 150);
    console.log(`${round} ${contender} ${workload} (${Date.now() - started} ms): ${said}`);
  };

/** @param {string} contender @param {number} round @param {(slot: import('./host/slots.mjs').Slot) => Promise<void>} work */
async function slot(contender, round, work) {
  const step = stepOf(contender, round);
  try {
    await work({ contender, round, documents, big, url: web.url, step });
  } catch (error) {
    await step('slot', () => Promise.reject(error));
  }
}

if (big > 0) for (const contender of contenders) await slot(contender, 0, fillBig);
for (let round = 1; round <= rounds; round++) {
  for (const contender of round % 2 === 1 ? contenders : contenders.toReversed()) {
    await slot(contender, round, runSmall);
    if (big > 0) await slot(contender, round, runBig);
  }
  // Writes results after each round, so that an interrupted run has results.
  writeResults({ startedAt, machine, wanted, measured });
}
if (wanted.extras && contenders.includes('burrow')) await slot('burrow', 1, runExtras);
if (wanted.grow > 0)
  await slot('burrow', 1, (given) => runGrowth({ ...given, documents: wanted.grow }));
web.close();
writeResults({ startedAt, machine, wanted, measured });
