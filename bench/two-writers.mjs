// `node bench/two-writers.mjs [--times 5]`: kills a browser while one transaction of a database writes, and while two transactions write to
// different object stores. See docs/decisions/0004-crash.md.
import { commandOptions } from '../scripts/setup.mjs';
import { killBrowser, openBrowser } from './host/browser.mjs';

const ROWS = 100;

const values = commandOptions({ times: { type: 'string', default: '5' } });

/**
 * A page that may use IndexedDB. Its request is answered with an empty page; there is no server.
 * @param {import('playwright').BrowserContext} context
 */
async function openPage(context) {
  const page = await context.newPage();
  await page.route('**/*', (route) => route.fulfill({ contentType: 'text/html', body: '' }));
  await page.goto('http://127.0.0.1:9/');
  return page;
}

/**
 * Executed in the page: stores rows, then writes without end. Resolves when each transaction has written.
 * @param {{ rows: number, writers: number }} wanted
 */
async function writeOn({ rows, writers }) {
  const stores = ['a', 'b', 'base'];
  const opening = indexedDB.open('db', 1);
  opening.addEventListener('upgradeneeded', () => {
    for (const each of stores) opening.result.createObjectStore(each, { autoIncrement: true });
  });
  await new Promise((resolve) => opening.addEventListener('success', resolve));
  const db = opening.result;
  const tx = db.transaction('base', 'readwrite');
  for (let row = 0; row < rows; row++) tx.objectStore('base').add('x'.repeat(300));
  await new Promise((resolve) => tx.addEventListener('complete', resolve));
  const write = (/** @type {string} */ name) =>
    new Promise((resolve) => {
      const store = db.transaction(name, 'readwrite').objectStore(name);
      let written = 0;
      const goOn = () => {
        if (++written === 20) resolve(undefined);
        store.add('y'.repeat(300)).addEventListener('success', goOn);
      };
      goOn();
    });
  await Promise.all(stores.slice(0, writers).map(write));
}

/** Executed in the page: the number of rows. */
async function countRows() {
  const opening = indexedDB.open('db');
  await new Promise((resolve) => {
    for (const end of ['success', 'error']) opening.addEventListener(end, resolve);
  });
  if (opening.error || !opening.result.objectStoreNames.contains('base')) return 0;
  const counting = opening.result.transaction('base').objectStore('base').count();
  await new Promise((resolve) => counting.addEventListener('success', resolve));
  return counting.result;
}

/** @param {number} writers */
async function killAmid(writers) {
  let browser = await openBrowser('two-writers', { fresh: true });
  await (await openPage(browser.context)).evaluate(writeOn, { rows: ROWS, writers });
  await killBrowser(browser);
  browser = await openBrowser('two-writers');
  const found = await (await openPage(browser.context)).evaluate(countRows);
  await browser.close();
  browser.forget();
  return { writers, stored: ROWS, found };
}

for (let time = 0; time < Number(values.times); time++)
  for (const writers of [1, 2]) console.log(JSON.stringify(await killAmid(writers)));
