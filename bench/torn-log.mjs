// `node bench/torn-log.mjs [--times 3]`: shows how a kill of the browser can lose a whole database two starts later, what prevents that,
// and that Burrow does so. See docs/decisions/0004-crash.md.
import { appendFileSync, readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { commandOptions } from '../scripts/setup.mjs';
import { killBrowser, openBrowser } from './host/browser.mjs';
import { buildPage } from './host/build.mjs';
import { serve } from './host/server.mjs';
import { inTab, openTab } from './host/tabs.mjs';

const DOCUMENTS = 1000;
/** What a kill leaves at the end of a log: the header of a record of 530 bytes, without the record. */
const TORN_RECORD = Buffer.from([0x11, 0x22, 0x33, 0x44, 0x12, 0x02, 0x01]);
const PIECE_KB = 60;

const values = commandOptions({ times: { type: 'string', default: '3' } });
const contender = 'raw-idb-worker';
const web = await serve(await buildPage([contender, 'burrow']));

/** @param {import('playwright').BrowserContext} context */
const placeIn = (context) => ({ context, url: web.url, contender });

/** @param {number} pieces of ballast that are written in the start after the kill */
async function restartTwice(pieces) {
  let browser = await openBrowser('torn-log', { fresh: true });
  await inTab(placeIn(browser.context), 'db', (tab) =>
    tab.call('run', 'fill', { documents: DOCUMENTS, batch: 100 }),
  );
  await browser.close();
  tear(browser.folder);

  browser = await openBrowser('torn-log');
  const first = await countIn(browser.context);
  const ms = await inTab(placeIn(browser.context), 'db', (tab) =>
    pieces > 0 ? writeBallast(tab.page, pieces) : tab.call('run', 'increment', fewWrites),
  );
  await browser.close();

  browser = await openBrowser('torn-log');
  const second = await countIn(browser.context);
  await browser.close();
  browser.forget();
  return { 'ballast, KB': pieces * PIECE_KB, ms: pieces > 0 ? Math.round(ms) : 0, first, second };
}

const fewWrites = { documents: DOCUMENTS, count: 5, seed: 1 };

/** @param {string} profile */
function tear(profile) {
  const stores = join(profile, 'Default/IndexedDB');
  const store = readdirSync(stores).find((name) => name.endsWith('.leveldb'));
  if (!store) throw new Error('The browser keeps its data elsewhere.');
  const logs = readdirSync(join(stores, store)).filter((name) => name.endsWith('.log'));
  appendFileSync(join(stores, store, logs.sort().at(-1) ?? ''), TORN_RECORD);
}

/** @param {import('playwright').BrowserContext} context */
const countIn = (context) => inTab(placeIn(context), 'db', documentsIn);

/** @param {Awaited<ReturnType<typeof openTab>>} tab */
async function documentsIn(tab) {
  const { counts } = await tab.call('contents');
  return counts.reduce((/** @type {number} */ sum, [, count]) => sum + count, 0);
}

/**
 * Fills LevelDB's buffer, so that it starts a new log and drops the torn one. In pieces, because a value over 64 KB is stored in its own
 * file.
 * @param {import('playwright').Page} page @param {number} pieces
 */
const writeBallast = (page, pieces) =>
  page.evaluate(
    async ({ pieces, bytes }) => {
      const started = performance.now();
      const opening = indexedDB.open('ballast', 1);
      opening.addEventListener('upgradeneeded', () => opening.result.createObjectStore('pieces'));
      await new Promise((resolve) => opening.addEventListener('success', resolve));
      const write = (/** @type {(store: IDBObjectStore) => void} */ work) => {
        const transaction = opening.result.transaction('pieces', 'readwrite');
        work(transaction.objectStore('pieces'));
        return new Promise((resolve) => transaction.addEventListener('complete', resolve));
      };
      await write((store) => {
        for (let piece = 0; piece < pieces; piece++) store.put(new Uint8Array(bytes), piece);
      });
      await write((store) => store.clear());
      return performance.now() - started;
    },
    { pieces, bytes: PIECE_KB * 1024 },
  );

/**
 * Kills Burrow while it writes, and starts it twice. Without the marks outside IndexedDB, Burrow cannot detect the kill.
 * @param {boolean} isMarked
 */
async function killAndRestartTwice(isMarked) {
  const place = { url: web.url, contender: 'burrow' };
  let browser = await openBrowser('torn-log', { fresh: true });
  const tab = await openTab(browser.context, web.url, { contender: 'burrow' });
  await tab.call('open', 'db');
  await tab.call('run', 'fill', { documents: DOCUMENTS, batch: 100 });
  await killBrowser(browser);
  tear(browser.folder);
  if (!isMarked) rmSync(join(browser.folder, 'Default/File System'), { recursive: true });

  browser = await openBrowser('torn-log');
  const [first, ms] = await inTab({ ...place, context: browser.context }, 'db', async (again) => {
    const started = performance.now();
    const count = await documentsIn(again);
    await again.call('run', 'increment', fewWrites);
    if (isMarked) await again.page.evaluate(untilUnmarked);
    return [count, performance.now() - started];
  });
  await browser.close();

  browser = await openBrowser('torn-log');
  const inBrowser = { ...place, context: browser.context };
  const second = await inTab(inBrowser, 'db', documentsIn).catch(() => 0);
  await browser.close();
  browser.forget();
  return { Burrow: isMarked ? 'as it is' : 'without marks', ms: Math.round(ms), first, second };
}

/** Executed in the page: resolves when no mark is left of a worker that may have been killed during writes. */
async function untilUnmarked() {
  const root = await navigator.storage.getDirectory();
  const marks = await root.getDirectoryHandle('burrow-writing');
  for (;;) {
    const { held = [] } = await navigator.locks.query();
    const alive = new Set(held.map(({ name = '' }) => encodeURIComponent(name)));
    let isUnmarked = true;
    for await (const folder of marks.values()) {
      for await (const name of folder.keys()) isUnmarked &&= alive.has(name);
    }
    if (isUnmarked) return;
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
}

const ballast = [];
for (const pieces of [0, 10, 20, 40, 80, 0, 80]) {
  ballast.push(await restartTwice(pieces));
  console.log(JSON.stringify(ballast.at(-1)));
}
const kills = [];
for (let time = 0; time < Number(values.times); time++) {
  for (const isMarked of [true, false]) {
    kills.push(await killAndRestartTwice(isMarked));
    console.log(JSON.stringify(kills.at(-1)));
  }
}
console.table(ballast);
console.table(kills);
web.close();
