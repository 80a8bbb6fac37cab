// The life of one database: it is created, and its browser is killed several times. The life ends with the first loss.
import { cpSync, existsSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { killBrowser, openBrowser } from './browser.mjs';
import { benchRoot } from './build.mjs';
import { openTab, sleep, within } from './tabs.mjs';

/**
 * What was found after a start of the browser.
 * @typedef {object} Look
 * @property {string} contender
 * @property {boolean} isMarked
 * @property {number} size Documents per transaction.
 * @property {number} life
 * @property {number} kills Kills in this life so far.
 * @property {'birth' | 'kill' | 'close'} after How the browser ended before.
 * @property {number} ageMs Age of the database.
 * @property {number} acknowledged Acknowledged transactions in this life so far.
 * @property {boolean} isEmpty The database is empty although transactions were acknowledged.
 * @property {number} lost Transactions that were acknowledged and are missing, in whole or in part.
 * @property {number} torn Transactions that are only partly there.
 * @property {string} [loss] The loss that the contender itself reported.
 * @property {string} [refusal] Why the database could not be opened.
 * @property {readonly string[]} problems Problems that the contender reported.
 *
 * @typedef {object} Wanted
 * @property {string} contender
 * @property {number} size
 * @property {number} pauseMs
 * @property {number} life
 * @property {number} kills
 * @property {string} url
 * @property {boolean} isMarked If false, the marks outside IndexedDB are deleted, without which Burrow cannot detect a kill.
 */

/** Below the length of one page of ids, with room for the documents that are written before one more kill. */
const DOCUMENTS_MAX = 70_000;

/** @param {Wanted} wanted @returns {Promise<Look[]>} */
export async function live(wanted) {
  const { contender, size, life, isMarked } = wanted;
  const born = Date.now();
  /** @type {Set<number>} */
  const acknowledged = new Set();
  /** @type {Look[]} */
  const looks = [];
  let from = 0;
  let browser = await start(true);
  /** @param {Look['after']} after @param {number} kills */
  const look = async (after, kills) => {
    const tab = await openTab(browser.context, wanted.url, { contender });
    const seen = await contentsOf(tab);
    const found = weigh(seen, acknowledged, size);
    looks.push({
      ...found,
      contender,
      isMarked,
      size,
      life,
      kills,
      after,
      ageMs: Date.now() - born,
    });
    from = Math.max(-1, ...acknowledged, ...seen.counts.map(([each]) => each)) + 1;
    const isOver = found.isEmpty || found.lost > 0 || found.refusal !== undefined;
    if (isOver) keepEvidence(`${contender}${isMarked ? '' : '-unmarked'}-${size}-${life}-${after}`);
    return isOver ? undefined : tab;
  };
  let tab = await look('birth', 0);
  for (let kills = 1; tab && kills <= wanted.kills; kills++) {
    await writeAndKill(wanted, browser, tab, acknowledged, from);
    if (!wanted.isMarked) rmSync(join(browser.folder, MARKS), { recursive: true, force: true });
    browser = await start(false);
    tab = await look('kill', kills);
    if (!tab) continue;
    // Damage by a kill may become visible only at a later start.
    await browser.close();
    browser = await start(false);
    tab = await look('close', kills);
    if (acknowledged.size * size > DOCUMENTS_MAX) break;
  }
  await browser.close();
  return looks;
}

const EVIDENCE = join(benchRoot, 'out/evidence');
const STORE = 'Default/IndexedDB';
const MARKS = 'Default/File System';

/** Starts the browser. Copies the store's files first, as the last browser left them. @param {boolean} fresh */
function start(fresh) {
  const before = join(EVIDENCE, 'before');
  rmSync(before, { recursive: true, force: true });
  const store = join(benchRoot, 'out/profiles/crash', STORE);
  if (!fresh && existsSync(store)) cpSync(store, before, { recursive: true });
  return openBrowser('crash', { fresh });
}

/** @param {string} name */
function keepEvidence(name) {
  const before = join(EVIDENCE, 'before');
  const kept = join(EVIDENCE, name);
  rmSync(kept, { recursive: true, force: true });
  if (!existsSync(before)) return;
  renameSync(before, kept);
  cpSync(join(benchRoot, 'out/profiles/crash', STORE), `${kept}-after`, { recursive: true });
}

/** @typedef {Awaited<ReturnType<typeof openTab>>} Tab */

/**
 * @param {Wanted} wanted @param {Awaited<ReturnType<typeof openBrowser>>} browser @param {Tab} tab
 * @param {Set<number>} acknowledged @param {number} from
 */
async function writeAndKill({ size, pauseMs }, browser, tab, acknowledged, from) {
  await tab.page.exposeFunction('acknowledge', (/** @type {number} */ transaction) => {
    acknowledged.add(transaction);
  });
  const least = acknowledged.size;
  const writing = tab.call('writeUntilKilled', { size, from, pauseMs }).catch(() => undefined);
  await within(untilMore(acknowledged, least), 60_000, 'The first acknowledged write');
  await sleep(Math.random() * 1000);
  await Promise.all([killBrowser(browser), writing]);
}

/** @param {Set<number>} acknowledged @param {number} least */
async function untilMore(acknowledged, least) {
  while (acknowledged.size === least) await sleep(5);
}

/**
 * @typedef {object} Seen
 * @property {readonly [number, number][]} counts Number of documents by transaction.
 * @property {{ loss?: string, problems: string[] }} [inspection]
 * @property {string} [refusal]
 */

/** @param {Tab} tab @returns {Promise<Seen>} */
async function contentsOf(tab) {
  try {
    await tab.call('open', 'crash');
    return await tab.call('contents');
  } catch (error) {
    return { counts: [], refusal: error instanceof Error ? error.message : String(error) };
  }
}

/** @param {Seen} seen @param {Set<number>} acknowledged @param {number} size */
function weigh({ counts, inspection, refusal }, acknowledged, size) {
  const found = new Map(counts);
  return {
    acknowledged: acknowledged.size,
    isEmpty: refusal === undefined && counts.length === 0 && acknowledged.size > 0,
    lost: [...acknowledged].filter((transaction) => found.get(transaction) !== size).length,
    torn: counts.filter(([, documents]) => documents !== size).length,
    problems: inspection?.problems ?? [],
    ...(inspection?.loss !== undefined && { loss: inspection.loss }),
    ...(refusal !== undefined && { refusal }),
  };
}
