// One slot: all workloads of one contender in one round, in browsers of its own.
import { killBrowser, openBrowser, processesOf, resetPeaks, siteBytes } from './browser.mjs';
import { inTab, openTab, sleep, within } from './tabs.mjs';

const COLD_STARTS = 3;
const SMALL = 1000;
/** The greatest length of the packed store's log. */
const LOG_COMMITS = 2900;
/** Idle time in which a store may read ahead. */
export const REST_MS = 6000;

/**
 * @typedef {object} Slot
 * @property {string} contender
 * @property {number} round
 * @property {number} documents
 * @property {number} big
 * @property {string} url
 * @property {(workload: string, work: () => Promise<unknown>) => Promise<unknown>} step
 */

/** Fills the large database, which all rounds use. @param {Slot} slot */
export async function fillBig({ contender, big, url, step }) {
  const browser = await openBrowser(`${contender}-big`, { fresh: true });
  const place = { context: browser.context, url, contender };
  await step('fillBig', () =>
    inTab(place, 'big', (tab) => tab.call('run', 'fill', { documents: big, batch: 1000 })),
  );
  await browser.close();
  await sleep(300);
  await step('disk', () => Promise.resolve({ megabytes: siteBytes(browser.folder) / 1e6 }));
}

/** @param {Slot} slot */
export async function runSmall({ contender, round, documents, big, url, step }) {
  const browser = await openBrowser(`${contender}-small`, { fresh: true });
  const place = { context: browser.context, url, contender };
  const options = { documents, seed: round, batch: 1000, count: Math.min(500, documents) };
  /** @type {(database: string, workload: string, more?: object) => Promise<unknown>} */
  const alone = (database, workload, more) =>
    inTab(place, database, (tab) => tab.call('run', workload, { ...options, ...more }));

  await inTab(place, 'db', async (tab) => {
    await step('info', () => Promise.resolve(tab.info));
    const run = (/** @type {string} */ workload, /** @type {object} */ more) => () =>
      tab.call('run', workload, { ...options, ...more });
    await step('W2', run('fill'));
    await step('W3', run('insert'));
    await step('W15', run('together', { count: Math.min(640, documents) }));
    await step('W8', run('increment'));
    await step('W10', run('updateMany', { count: Math.min(1000, documents) }));
  });
  await step('W4', () => alone('db', 'get'));
  await step('W5', () => alone('db', 'byCity'));
  await step('W6', () => alone('db', 'pages', { count: 100 }));
  await step('W6 warmed', () => alone('db', 'pages', { count: 100, restMs: REST_MS }));
  for (let start = 0; start < COLD_STARTS; start++) {
    await step('W1', () => coldStart(place, 'db'));
  }
  await step('W9', () => transferBetweenTabs(place, round));
  await step('W11', () => watchFromOtherTab(place));
  if (big > 0) {
    const small = { documents: SMALL };
    await inTab(place, 'small', (tab) => tab.call('run', 'fill', { ...options, ...small }));
    await step('W4 at 1,000', () => alone('small', 'get', small));
    await step('W5 at 1,000', () => alone('small', 'byCity', small));
  }
  const writes = { ...options, documents: SMALL, count: Math.min(LOG_COMMITS, documents) };
  await openWithFullLog({ browser, place, writes, step });
  browser.forget();
}

/**
 * Makes many small commits and kills the browser, so that the next opening finds a full log.
 * @param {object} given
 * @param {Awaited<ReturnType<typeof openBrowser>>} given.browser
 * @param {{ url: string, contender: string }} given.place
 * @param {object} given.writes
 * @param {Slot['step']} given.step
 */
async function openWithFullLog({ browser, place: { url, contender }, writes, step }) {
  await step('W17 writes', async () => {
    const tab = await openTab(browser.context, url, { contender });
    await tab.call('open', 'log');
    await tab.call('run', 'fill', writes);
    return tab.call('run', 'insert', writes);
  });
  await killBrowser(browser);
  const { context, close } = await openBrowser(`${contender}-small`);
  await step('W17', () => coldStart({ context, url, contender }, 'log'));
  await close();
}

/** @param {Slot} slot */
export async function runBig({ contender, round, big, url, step }) {
  const browser = await openBrowser(`${contender}-big`);
  const place = { context: browser.context, url, contender };
  const options = { documents: big, seed: round, count: 500 };
  await step(`W4 at ${big.toLocaleString('en-US')}`, () =>
    inTab(place, 'big', (tab) => tab.call('run', 'get', options)),
  );
  await step(`W5 at ${big.toLocaleString('en-US')}`, () =>
    inTab(place, 'big', (tab) => tab.call('run', 'byCity', options)),
  );
  const size = big.toLocaleString('en-US');
  await step(`W16 at ${size}`, () =>
    inTab(place, 'big', (tab) => tab.call('run', 'scattered', options)),
  );
  await step(`W16 warmed at ${size}`, () =>
    inTab(place, 'big', (tab) => tab.call('run', 'scattered', { ...options, restMs: REST_MS })),
  );
  await step('W7', () =>
    inTab(place, 'big', async (tab) => {
      await tab.call('run', 'get', { ...options, count: 1 });
      await sleep(300);
      resetPeaks(browser.folder);
      const before = new Map(processesOf(browser.folder).map((each) => [each.pid, each]));
      const times = await tab.call('run', 'ids', options);
      const grown = (/** @type {boolean} */ ofRenderers) =>
        processesOf(browser.folder)
          .filter(({ type }) => (type === 'renderer') === ofRenderers)
          .map(({ pid, peakMb }) => Math.max(0, peakMb - (before.get(pid)?.residentMb ?? 0)))
          .reduce((sum, each) => sum + each, 0);
      return { ...times, rendererMb: grown(true), otherMb: grown(false) };
    }),
  );
  await browser.close();
}

/** @param {{ context: import('playwright').BrowserContext, url: string, contender: string }} place @param {string} database */
async function coldStart({ context, url, contender }, database) {
  const tab = await openTab(context, url, { contender, cold: database });
  try {
    return await within(tab.page.evaluate('cold'), 60_000, 'The cold start');
  } finally {
    await tab.close();
    await sleep(200);
  }
}

/** @param {Parameters<typeof inTab>[0]} place @param {number} round */
async function transferBetweenTabs(place, round) {
  const rates = await inTab(place, 'accounts', async (first) => {
    await first.call('openAccounts');
    return inTab(place, 'accounts', async (second) => {
      await second.call('balances');
      const started = performance.now();
      const halves = await Promise.all([
        first.call('transfers', { count: 500, seed: round }),
        second.call('transfers', { count: 500, seed: round + 50 }),
      ]);
      const done = halves.reduce((sum, half) => sum + half.done, 0);
      return { halves, done, perSecond: (done / (performance.now() - started)) * 1000 };
    });
  });
  const { halves, done, perSecond } = rates;
  const left = await inTab(place, 'accounts', (third) => third.call('balances'));
  const wanted = left.map((/** @type {number} */ _left, /** @type {number} */ account) =>
    halves.reduce((sum, half) => sum + half.moved[account], 1000),
  );
  return {
    perSecond,
    done,
    failures: halves.flatMap((half) => half.failures).length,
    failure: halves.flatMap((half) => half.failures)[0],
    isSumKept:
      left.reduce((/** @type {number} */ a, /** @type {number} */ b) => a + b, 0) === 10_000,
    isExact: wanted.every(
      (/** @type {number} */ balance, /** @type {number} */ account) => balance === left[account],
    ),
  };
}

/** @param {Parameters<typeof inTab>[0]} place */
const watchFromOtherTab = (place) =>
  inTab(place, 'live', (writer) =>
    inTab(place, 'live', async (reader) => {
      const shown = await reader.call('listen');
      return { ms: await writer.call('poke', { count: 20, shown }) };
    }),
  );
