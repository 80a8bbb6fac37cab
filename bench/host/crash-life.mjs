// One database from its birth, through some kills of its browser. It ends with the first loss.
import { cpSync, existsSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { killBrowser, openBrowser } from './browser.mjs';
import { benchRoot } from './build.mjs';
import { openTab, sleep, within } from './tabs.mjs';

/**
 * What a start of the browser found.
 * @typedef {object} Look
 * @property {string} contender
 * @property {boolean} isMarked
 * @property {number} size Documents of one transaction.
 * @property {number} life
 * @property {number} kills Of this life so far.
 * @property {'birth' | 'kill' | 'close'} after How the browser ended before.
 * @property {number} ageMs Of the database.
 * @property {number} acknowledged Transactions in this life so far.
 * @property {boolean} isEmpty Nothing is left of it.
 * @property {number} lost Transactions that had been acknowledged and are gone, in whole or in part.
 * @property {number} torn Transactions of which a part is there.
 * @property {string} [loss] What the contender itself said was lost.
 * @property {string} [refusal] It could not be opened.
 * @property {readonly string[]} problems What it said is wrong.
 *
 * @typedef {object} Wanted
 * @property {string} contender
 * @property {number} size
 * @property {number} pauseMs
 * @property {number} life
 * @property {number} kills
 * @property {string} url
 * @property {boolean} isMarked Without the marks outside IndexedDB Burrow does not know of a kill.
 */

/** What one page of ids shows, less what one more kill may add. */
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
    // What a kill has done may show at a later start only.
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

/** Keeps a copy of the store's files as they are before the browser sees them. @param {boolean} fresh */
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

/** @param {Wanted} wanted @param {Awaited<ReturnType<typeof openBrowser>>} browser @param {Tab} tab @param {Set<number>} acknowledged @param {number} from */
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
 * @property {readonly [number, number][]} counts Documents of each transaction.
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
