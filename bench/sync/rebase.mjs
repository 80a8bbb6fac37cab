// Measures the rebase, which executes pending writes again over changes from the hub, and compares it with its parts, each alone.
import { gateWorkers, openSide, setNetwork } from './browsers.mjs';
import { askRoot } from './servers.mjs';

const TURNS = 3;
/** About as long as the work that it is compared with. */
const IDLE_MS = 700;

/** @param {import('./latency.mjs').Slot} slot @param {{ pending: number, incoming: number }} sizes */
export async function measureRebase(slot, { pending, incoming }) {
  const { contender, round, pageUrl, browsers, server } = slot;
  const { page, close } = await openSide(browsers.b, pageUrl);
  gateWorkers(page);
  const options = { url: server.url, secret: server.secret, name: `${contender} rebase` };
  await page.evaluate(
    ([name, given]) => window.bench.open(name, given),
    /** @type {const} */ ([contender, options]),
  );
  const results = { apply: [], run: [], rebase: [], applyGap: [], rebaseGap: [] };
  const watched = `rebase ${contender} ${round}`;
  await page.evaluate((room) => window.bench.watch(room), watched);

  /** Time in ms from the pull's response in the worker to the result of the live query. @param {string} text */
  const takeUp = async (text, /** @type {import('./browsers.mjs').Network} */ mode) => {
    await askRoot(server.url, changeAll(incoming, text));
    await askRoot(server.url, note(watched, text));
    // The idle page is measured just before, because the load of the machine blocks the page too, and varies.
    const idle = await gapsOf(page, () => new Promise((resolve) => setTimeout(resolve, IDLE_MS)));
    const busy = await gapsOf(page, async () => {
      await setNetwork(page, mode);
      await page.evaluate((given) => window.bench.seenAt(given), text);
    });
    const shown = await page.evaluate((given) => window.bench.seenAt(given), text);
    return { ms: shown - (await pulledAt(page)), gaps: { idle: idle.tick, busy: busy.tick } };
  };

  await askRoot(server.url, fill(incoming));
  await page.evaluate(() => window.bench.whenSynced());
  for (let turn = 0; turn < TURNS; turn++) {
    await setNetwork(page, 'offline');
    const alone = await takeUp(`${watched} ${turn} alone`, 'open');
    results.apply.push(alone.ms);
    results.applyGap.push(alone.gaps);
    await page.evaluate(() => window.bench.whenSynced());

    await setNetwork(page, 'offline');
    const targets = Array.from({ length: pending }, (_, i) =>
      String(1 + i * Math.floor(incoming / pending)),
    );
    results.run.push(await page.evaluate((given) => window.bench.updateMany(given), targets));
    const together = await takeUp(`${watched} ${turn} together`, 'swallows pushes');
    results.rebase.push(together.ms);
    results.rebaseGap.push(together.gaps);
    await setNetwork(page, 'open');
    await page.evaluate(() => window.bench.whenSettled());
    await page.evaluate(() => window.bench.whenSynced());
  }
  await close();
  return results;
}

/** @param {import('playwright').Page} page @param {() => Promise<unknown>} work */
async function gapsOf(page, work) {
  await page.evaluate(() => window.bench.watchGaps(true));
  await work();
  const gaps = await page.evaluate(() => window.bench.watchGaps(false));
  return gaps ?? { tick: 0, frame: 0, ticks: 0 };
}

/**
 * When the worker had received the last pull response that contained documents.
 * @param {import('playwright').Page} page @returns {Promise<number>}
 */
async function pulledAt(page) {
  const all = await Promise.all(
    page
      .workers()
      .map((worker) =>
        worker.evaluate(
          () =>
            /** @type {typeof globalThis & { gate?: { pulledAt: number } }} */ (globalThis).gate
              ?.pulledAt ?? 0,
        ),
      ),
  );
  return Math.max(...all);
}

const object = (/** @type {object} */ members) => ({ object: members });
const numbered = (/** @type {number} */ count) =>
  Array.from({ length: count }, (_, i) => String(i + 1));
const refTo = (/** @type {unknown} */ id) => ({ ref: { collection: 'notes' }, id });

/** Creates the documents 1 to `count` that do not exist. @param {number} count */
const fill = (count) => ({
  foreach: {
    lambda: 'id',
    expr: {
      if: { exists: refTo({ var: 'id' }) },
      // oxlint-disable-next-line unicorn/no-thenable -- a member of the query
      then: null,
      else: {
        create: refTo({ var: 'id' }),
        params: object({ data: object({ room: 'many', text: 'first', count: 0 }) }),
      },
    },
  },
  collection: numbered(count),
});

/** @param {number} count @param {string} text */
const changeAll = (count, text) => ({
  foreach: {
    lambda: 'id',
    expr: { update: refTo({ var: 'id' }), params: object({ data: object({ text }) }) },
  },
  collection: numbered(count),
});

/** @param {string} room @param {string} text */
const note = (room, text) => ({
  create: { collection: 'notes' },
  params: object({ data: object({ room, text }) }),
});
