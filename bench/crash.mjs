// `node bench/crash.mjs [--kills n] [--only burrow,…] [--control] [--out crash]`: kills the browser (SIGKILL) during writes, starts it
// twice, and checks after each start what is left. `--control`: repeats each contender without the marks by which Burrow detects a kill.
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { commandOptions } from '../scripts/setup.mjs';
import { benchRoot, buildPage } from './host/build.mjs';
import { live } from './host/crash-life.mjs';
import { describeMachine } from './host/machine.mjs';
import { serve } from './host/server.mjs';

/** Kills of one database before a new one is used, so that reading its contents stays fast. */
const KILLS_OF_A_LIFE = 8;

const values = commandOptions({
  kills: { type: 'string', default: '24' },
  only: { type: 'string', default: 'burrow-strict,burrow,raw-idb-worker,raw-idb-worker-strict' },
  sizes: { type: 'string', default: '1,100,1000' },
  pause: { type: 'string', default: '0' },
  control: { type: 'boolean', default: false },
  out: { type: 'string', default: 'crash' },
});
const contenders = values.only.split(',');
const sizes = values.sizes.split(',').map(Number);
const pauseMs = Number(values.pause);
const machine = await describeMachine();
const web = await serve(await buildPage(contenders));

/** @type {import('./host/crash-life.mjs').Look[]} */
const looks = [];
const marked = values.control ? [true, false] : [true];
for (let life = 0; life < Math.ceil(Number(values.kills) / KILLS_OF_A_LIFE); life++) {
  for (const size of sizes) {
    for (const [contender, isMarked] of arms()) {
      const wanted = { contender, isMarked, size, pauseMs, life, url: web.url };
      const lived = await live({ ...wanted, kills: KILLS_OF_A_LIFE });
      looks.push(...lived);
      const { kills, isEmpty, lost } = lived.at(-1) ?? {};
      const name = `${contender}${isMarked ? '' : ', unmarked'}`;
      console.log(`${name}, ${size} a transaction: ${kills} kills, lost ${isEmpty ? 'all' : lost}`);
    }
  }
  write();
}
web.close();

/** @returns {[string, boolean][]} contenders, and whether their marks are kept */
function arms() {
  return contenders.flatMap((each) => marked.map((isMarked) => [each, isMarked]));
}

/** Writes the results so far. It is called after each round of lives, so that an interrupted run has results. */
function write() {
  const rows = arms().flatMap(([contender, isMarked]) =>
    sizes.map((size) => rowOf(contender, isMarked, size)),
  );
  const folder = join(benchRoot, 'results');
  mkdirSync(folder, { recursive: true });
  const bad = looks.filter((look) => isLoss(look) || look.problems.length > 0 || look.torn > 0);
  const result = { at: new Date(), machine, pauseMs, rows, bad };
  writeFileSync(join(folder, `${values.out}.json`), `${JSON.stringify(result, undefined, 1)}\n`);
  console.table(rows);
}

/** @param {import('./host/crash-life.mjs').Look} look */
function isLoss({ isEmpty, lost, refusal }) {
  return isEmpty || lost > 0 || refusal !== undefined;
}

/** @param {string} contender @param {boolean} isMarked @param {number} size */
function rowOf(contender, isMarked, size) {
  const ours = looks.filter(
    (look) => look.contender === contender && look.isMarked === isMarked && look.size === size,
  );
  const ends = ours.filter(({ life }, at) => ours[at + 1]?.life !== life);
  const whole = ours.filter(({ isEmpty }) => isEmpty);
  return {
    contender,
    isMarked,
    size,
    kills: ends.reduce((sum, end) => sum + end.kills, 0),
    acknowledged: ends.reduce((sum, end) => sum + end.acknowledged, 0),
    wholeLosses: whole.length,
    afterClose: whole.filter(({ after }) => after === 'close').length,
    reported: whole.filter(({ loss }) => loss !== undefined).length,
    otherLosses: ours.filter((look) => isLoss(look) && !look.isEmpty).length,
    torn: ours.filter(({ torn }) => torn > 0).length,
    problems: ours.filter(({ problems }) => problems.length > 0).length,
  };
}
