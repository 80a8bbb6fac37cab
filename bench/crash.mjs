// `node bench/crash.mjs [--kills 48] [--only burrow,…] [--out crash]`: SIGKILL of the browser amid writes, then a look at what is left.
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { benchRoot, buildPage } from './host/build.mjs';
import { live } from './host/crash-life.mjs';
import { describeMachine } from './host/machine.mjs';
import { serve } from './host/server.mjs';

/** Kills of one database before the next begins, so that looking through it stays quick. */
const KILLS_OF_A_LIFE = 8;

const { values } = parseArgs({
  options: {
    kills: { type: 'string', default: '24' },
    only: { type: 'string', default: 'burrow-strict,burrow,raw-idb-worker,raw-idb-worker-strict' },
    sizes: { type: 'string', default: '1,100,1000' },
    pause: { type: 'string', default: '0' },
    out: { type: 'string', default: 'crash' },
  },
});
const contenders = values.only.split(',');
const sizes = values.sizes.split(',').map(Number);
const pauseMs = Number(values.pause);
const machine = await describeMachine();
const web = await serve(await buildPage(contenders));

/** @type {import('./host/crash-life.mjs').Death[]} */
const deaths = [];
for (let life = 0; life < Math.ceil(Number(values.kills) / KILLS_OF_A_LIFE); life++) {
  for (const size of sizes) {
    for (const contender of contenders) {
      const lived = await live({
        contender,
        size,
        pauseMs,
        life,
        kills: KILLS_OF_A_LIFE,
        url: web.url,
      });
      deaths.push(...lived);
      const lost = lived.filter(({ isEmpty }) => isEmpty).length;
      console.log(
        `${contender}, ${size} a transaction: ${lived.length} kills, ${lost} whole losses`,
      );
    }
  }
  write();
}
web.close();

/** Written after each round of lives: a run cut short still tells what it saw. */
function write() {
  const rows = contenders.flatMap((contender) =>
    sizes.map((size) => {
      const ours = deaths.filter((each) => each.contender === contender && each.size === size);
      const sum = (/** @type {(death: import('./host/crash-life.mjs').Death) => number} */ of) =>
        ours.reduce((total, death) => total + of(death), 0);
      return {
        contender,
        size,
        kills: ours.length,
        acknowledged: sum((death) => death.acknowledged),
        wholeLosses: sum((death) => Number(death.isEmpty)),
        reported: sum((death) => Number(death.isEmpty && death.loss !== undefined)),
        lost: sum((death) => (death.isEmpty ? 0 : death.lost)),
        torn: sum((death) => death.torn),
        problems: sum((death) => death.problems.length),
        refused: sum((death) => Number(death.refusal !== undefined)),
      };
    }),
  );
  const folder = join(benchRoot, 'results');
  mkdirSync(folder, { recursive: true });
  const result = { at: new Date(), machine, pauseMs, rows, deaths };
  writeFileSync(join(folder, `${values.out}.json`), `${JSON.stringify(result, undefined, 1)}\n`);
  console.table(rows);
}
