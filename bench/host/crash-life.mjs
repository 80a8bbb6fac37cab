// One database from its birth, through some kills of its browser.
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { openBrowser, processesOf } from './browser.mjs';
import { openTab, sleep, within } from './tabs.mjs';

/**
 * @typedef {object} Death
 * @property {string} contender
 * @property {number} size Documents of one transaction.
 * @property {number} life
 * @property {number} kill Of this life, from 0.
 * @property {number} ageMs Of the database, when the browser was killed.
 * @property {number} acknowledged Transactions in this life so far.
 * @property {boolean} isEmpty Nothing is left of it.
 * @property {number} lost Transactions that had been acknowledged and are gone, in whole or in part.
 * @property {number} torn Transactions of which a part is there.
 * @property {string} [loss] What the contender itself said was lost.
 * @property {string} [refusal] It could not be opened.
 * @property {readonly string[]} problems What it said is wrong.
 * @property {readonly string[]} files Of the browser's store, after the kill.
 */

/**
 * @param {{ contender: string, size: number, pauseMs: number, life: number, kills: number, url: string }} wanted
 * @returns {Promise<Death[]>}
 */
export async function live(wanted) {
  const { contender, size, life, kills } = wanted;
  const born = Date.now();
  /** @type {Set<number>} */
  const acknowledged = new Set();
  /** @type {Death[]} */
  const deaths = [];
  let from = 0;
  for (let kill = 0; kill < kills; kill++) {
    await writeAndKill(wanted, kill === 0, acknowledged, from);
    const ageMs = Date.now() - born;
    const seen = await lookAfter(wanted);
    const death = { ...weigh(seen, acknowledged, size), contender, size, life, kill, ageMs };
    deaths.push(death);
    if (death.isEmpty || death.refusal !== undefined) break;
    from = Math.max(-1, ...acknowledged, ...seen.counts.map(([transaction]) => transaction)) + 1;
  }
  return deaths;
}

/** @param {Parameters<typeof live>[0]} wanted @param {boolean} fresh @param {Set<number>} acknowledged @param {number} from */
async function writeAndKill({ contender, size, pauseMs, url }, fresh, acknowledged, from) {
  const browser = await openBrowser('crash', { fresh });
  const closed = new Promise((resolve) => browser.context.once('close', resolve));
  const tab = await openTab(browser.context, url, { contender });
  await tab.page.exposeFunction('acknowledge', (/** @type {number} */ transaction) => {
    acknowledged.add(transaction);
  });
  await tab.call('open', 'crash');
  const writing = tab.call('writeUntilKilled', { size, from, pauseMs }).catch(() => undefined);
  const least = acknowledged.size;
  await within(untilMore(acknowledged, least), 30_000, 'The first acknowledged write');
  await sleep(Math.random() * 1000);
  for (const { pid } of processesOf(browser.folder)) {
    try {
      process.kill(pid, 'SIGKILL');
    } catch {
      // It ended with the one before.
    }
  }
  await Promise.all([closed, writing]);
}

/** @param {Set<number>} acknowledged @param {number} least */
async function untilMore(acknowledged, least) {
  while (acknowledged.size === least) await sleep(5);
}

/** @param {Parameters<typeof live>[0]} wanted */
async function lookAfter({ contender, url }) {
  const browser = await openBrowser('crash');
  const files = filesOf(browser.folder);
  const tab = await openTab(browser.context, url, { contender });
  try {
    await tab.call('open', 'crash');
    return { files, ...(await tab.call('contents')) };
  } catch (error) {
    return { files, counts: [], refusal: error instanceof Error ? error.message : String(error) };
  } finally {
    await browser.close();
  }
}

/** @param {{ counts: [number, number][], inspection?: { loss?: string, problems: string[] }, refusal?: string, files: string[] }} seen @param {Set<number>} acknowledged @param {number} size */
function weigh({ counts, inspection, refusal, files }, acknowledged, size) {
  const found = new Map(counts);
  return {
    acknowledged: acknowledged.size,
    isEmpty: refusal === undefined && counts.length === 0,
    lost: [...acknowledged].filter((transaction) => found.get(transaction) !== size).length,
    torn: counts.filter(([, documents]) => documents !== size).length,
    problems: inspection?.problems ?? [],
    files,
    ...(inspection?.loss !== undefined && { loss: inspection.loss }),
    ...(refusal !== undefined && { refusal }),
  };
}

/** @param {string} folder */
function filesOf(folder) {
  const place = join(folder, 'Default/IndexedDB');
  try {
    return readdirSync(place, { recursive: true }).map(String);
  } catch {
    return [];
  }
}
