// Two browsers, each with its own profile, and pages whose clocks are compared with the clock of this process.
import { openBrowser } from '../host/browser.mjs';

/** @typedef {import('./page/main.ts').SyncBench} SyncBench */
/** @typedef {{ page: import('playwright').Page; clockAhead: number; close: () => Promise<void> }} Side */

const CLOCK_LOOKS = 30;

/** @param {import('playwright').BrowserContext} context @param {string} url @returns {Promise<Side>} */
export async function openSide(context, url) {
  const page = await context.newPage();
  page.on('pageerror', (error) => console.error(`page: ${error.message}`));
  page.on('console', (message) => {
    const text = message.text();
    // Ignores failed requests: PouchDB requests checkpoints that do not exist yet.
    if (message.type() === 'error' && !text.startsWith('Failed to load')) console.error(text);
  });
  await page.goto(url);
  await page.waitForFunction(() => 'bench' in window);
  return { page, clockAhead: await clockAheadOf(page), close: () => page.close() };
}

/** How far the clock of a page is ahead, in ms, by the fastest of many comparisons. @param {import('playwright').Page} page */
async function clockAheadOf(page) {
  let best = { took: Infinity, ahead: 0 };
  for (let look = 0; look < CLOCK_LOOKS; look++) {
    const before = performance.timeOrigin + performance.now();
    const there = await page.evaluate(() => performance.timeOrigin + performance.now());
    const took = performance.timeOrigin + performance.now() - before;
    if (took < best.took) best = { took, ahead: there - before - took / 2 };
  }
  return best.ahead;
}

/** @param {string} run */
export async function openBrowsers(run) {
  const a = await openBrowser(`sync-${run}-a`, { fresh: true });
  const b = await openBrowser(`sync-${run}-b`, { fresh: true });
  const close = async () => {
    for (const each of [a, b]) {
      await each.close();
      each.forget();
    }
  };
  return { a: a.context, b: b.context, close };
}

/** @typedef {'open' | 'offline' | 'swallows pushes'} Network */

/** Must be called before anything is opened: requests that a worker sent earlier cannot be cut. @param {import('playwright').Page} page */
export function gateWorkers(page) {
  page.on('worker', (worker) => {
    worker.evaluate(gate, 'open').catch((/** @type {unknown} */ reason) => console.error(reason));
  });
}

/**
 * Cuts or restores the network of a page's worker. Pushes can also be swallowed: they get the response of a hub that judges no writes.
 * @param {import('playwright').Page} page @param {Network} mode
 */
export async function setNetwork(page, mode) {
  for (const worker of page.workers()) await worker.evaluate(gate, mode);
}

/** Executed in the worker. @param {Network} mode */
function gate(mode) {
  /** @typedef {{ mode: string; stop: AbortController; fetch: typeof fetch; pulledAt: number }} Gate */
  const scope = /** @type {typeof globalThis & { gate?: Gate }} */ (globalThis);
  const current = (scope.gate ??= install());
  current.mode = mode;
  if (mode === 'offline') {
    current.stop.abort();
    current.stop = new AbortController();
  } else dispatchEvent(new Event('online'));

  function install() {
    /** @type {Gate} */
    const made = { mode, stop: new AbortController(), fetch: scope.fetch, pulledAt: 0 };
    // Removes WebSocket, because this gate can only cut requests: without a WebSocket, sync uses requests for everything.
    Reflect.deleteProperty(scope, 'WebSocket');
    scope.fetch = async (resource, init = {}) => {
      const path = typeof resource === 'string' ? resource : '';
      if (made.mode === 'offline') throw new TypeError('Failed to fetch');
      if (made.mode === 'swallows pushes' && path.endsWith('/sync/push'))
        return Response.json({ lastSeq: 0, verdicts: [] });
      const signals = [made.stop.signal, ...(init.signal ? [init.signal] : [])];
      const signal = AbortSignal.any(signals);
      const answer = await made.fetch.call(scope, resource, { ...init, signal });
      if (!path.endsWith('/sync/pull')) return answer;
      // Records the time when the whole response has arrived, if it has documents.
      const text = await answer.text();
      if (!text.includes('"puts":[]')) made.pulledAt = performance.timeOrigin + performance.now();
      return new Response(text, answer);
    };
    return made;
  }
}
