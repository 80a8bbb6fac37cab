// Runs the rounds of the sync benchmark.
import { writeFileSync } from 'node:fs';
import { loadavg } from 'node:os';
import { join } from 'node:path';
import { commandOptions } from '../../scripts/setup.mjs';
import { describeMachine } from '../host/machine.mjs';
import { serve } from '../host/server.mjs';
import { openBrowsers } from './browsers.mjs';
import { buildSyncPage } from './build.mjs';
import { firstNotes, measureFirstLoad } from './first-load.mjs';
import { measureLatency } from './latency.mjs';
import { measurePush } from './push.mjs';
import { measureRebase } from './rebase.mjs';
import { writeSyncResults } from './report.mjs';
import { startServer } from './servers.mjs';

const ALL = ['burrow', 'burrow-strict', 'pouchdb', 'rxdb'];

/** The greatest number of texts that a live query of a room shows. */
const SHOWN_MAX = 64;

export function readArguments() {
  const values = commandOptions(
    {
      rounds: { type: 'string' },
      writes: { type: 'string' },
      only: { type: 'string' },
      quick: { type: 'boolean', default: false },
      queues: { type: 'boolean', default: true },
      latency: { type: 'boolean', default: true },
      first: { type: 'string' },
      out: { type: 'string', default: 'results' },
    },
    { allowNegative: true },
  );
  const { quick } = values;
  const warm = quick ? 3 : 10;
  const writes = Number(values.writes ?? (quick ? 10 : 25));
  if (warm + writes > SHOWN_MAX)
    throw new Error(`At most ${SHOWN_MAX - warm} writes are shown in one round.`);
  return {
    contenders: values.only?.split(',') ?? ALL,
    rounds: Number(values.rounds ?? (quick ? 1 : 4)),
    warm,
    writes,
    queued: quick ? 200 : 1000,
    pending: quick ? 50 : 200,
    incoming: quick ? 200 : 1000,
    queues: values.queues,
    latency: values.latency,
    /** Number of documents of a first load; 0 to leave it out. */
    first: Number(values.first ?? (quick ? 2000 : 20_000)),
    out: values.out,
  };
}

export async function runSyncBench() {
  const wanted = readArguments();
  const startedAt = new Date();
  const machine = await describeMachine();
  const folder = await buildSyncPage(wanted.contenders);
  writeFileSync(join(folder, 'first-load.json'), JSON.stringify(firstNotes(wanted.first)));
  const web = await serve(folder);
  const browsers = await openBrowsers(String(process.pid));
  /** @type {Map<string, Awaited<ReturnType<typeof startServer>>>} */
  const servers = new Map();
  for (const contender of wanted.contenders) servers.set(contender, await startServer(contender));
  /** @type {import('./report.mjs').Row[]} */
  const rows = [];
  const step = async (
    /** @type {string} */ workload,
    /** @type {string} */ contender,
    /** @type {number} */ round,
    /** @type {(slot: import('./latency.mjs').Slot) => Promise<any>} */ work,
  ) => {
    const server = servers.get(contender);
    if (!server) return;
    const [load = 0] = loadavg();
    const slot = { contender, round, pageUrl: web.url, browsers, server };
    const result = await work(slot);
    rows.push({ workload, contender, round, load, result });
    console.log(`${round} ${contender} ${workload}: ${JSON.stringify(result).slice(0, 1000)}`);
  };
  try {
    for (let round = 1; round <= wanted.rounds; round++) {
      const turn = round % 2 === 1 ? wanted.contenders : wanted.contenders.toReversed();
      if (wanted.latency)
        for (const contender of turn)
          await step('latency', contender, round, (slot) => measureLatency(slot, wanted));
      if (wanted.queues)
        for (const contender of turn.filter((name) => name.startsWith('burrow'))) {
          await step('push', contender, round, (slot) => measurePush(slot, wanted));
          await step('rebase', contender, round, (slot) => measureRebase(slot, wanted));
        }
      if (wanted.first > 0)
        for (const contender of turn)
          await step('first load', contender, round, (slot) => measureFirstLoad(slot, wanted));
      // Writes results after each round, so that an interrupted run has results.
      writeSyncResults({ startedAt, machine, wanted, rows });
    }
  } finally {
    await browsers.close();
    for (const server of servers.values()) await server.stop();
    web.close();
  }
}
