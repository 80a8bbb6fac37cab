// Measurements that only Burrow has.
import { openBrowser, processesOf } from './browser.mjs';
import { workerMemory } from './profiler.mjs';
import { openTab } from './tabs.mjs';

const GROW_STEPS = 20;
/** Time for creating single documents in the large database, while it is flushed and merged. */
const BESIDE_MS = 30_000;

/** @param {import('./slots.mjs').Slot} slot */
export async function runExtras({ url, big, step }) {
  const browser = await openBrowser('burrow-extras', { fresh: true });
  /** @type {(name: string, options?: unknown) => Promise<unknown>} */
  const alone = async (name, options) => {
    const tab = await openTab(browser.context, url, {}, 'burrow.html');
    try {
      return await tab.call(name, options);
    } finally {
      await tab.close();
    }
  };
  await step('logins', () => alone('measureLogins', { tries: 100 }));
  await step('reads beside logins', () => alone('measureReadsBesideLogins', { logins: 20 }));
  await step('log', () => alone('measureLog', { turns: 11, reads: 300 }));
  await step('compute', () => alone('measureCompute'));
  await browser.close();
  browser.forget();
  if (big === 0) return;
  const large = await openBrowser('burrow-big');
  const tab = await openTab(large.context, url, {}, 'burrow.html');
  await step('refs', () => tab.call('measureRefs', big));
  await step('role pages', () => tab.call('measureRolePages', { pages: 300, documents: big }));
  await large.close();
}

/**
 * Throughput, the longest commit, create and read, and memory, while a database grows; then memory after reads throughout it.
 * @param {import('./slots.mjs').Slot} slot
 */
export async function runGrowth({ url, documents, step }) {
  const browser = await openBrowser('burrow-growth', { fresh: true });
  const count = Math.ceil(documents / GROW_STEPS / 1000) * 1000;
  const tab = await openTab(browser.context, url, {}, 'burrow.html');
  const rendererMb = () =>
    Math.max(
      0,
      ...processesOf(browser.folder)
        .filter(({ type }) => type === 'renderer')
        .map(({ residentMb }) => residentMb),
    );
  await step('growth', async () => {
    await tab.call('openGrowth');
    const emptyMb = await workerMemory(tab.page);
    const samples = [];
    for (let from = 0; from < documents; from += count) {
      const started = performance.now();
      const longest = await tab.call('grow', { from, count });
      const seconds = (performance.now() - started) / 1000;
      samples.push({
        documents: from + count,
        perSecond: count / seconds,
        ...longest,
        rendererMb: rendererMb(),
      });
      console.log(`  ${JSON.stringify(samples.at(-1))}`);
    }
    const filledMb = await workerMemory(tab.page);
    const beside = await tab.call('createBeside', { from: documents, ms: BESIDE_MS });
    const reads = await tab.call('roam', { documents });
    const readMb = await workerMemory(tab.page);
    return { samples, beside, reads, workerMb: { emptyMb, filledMb, readMb } };
  });
  await browser.close();
  browser.forget();
}
