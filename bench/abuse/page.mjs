// Attacks the database of a page in Chromium, while another part of the page uses it.
import { openBrowser, processesOf } from '../host/browser.mjs';
import { buildPage } from '../host/build.mjs';
import { serve } from '../host/server.mjs';
import { openTab } from '../host/tabs.mjs';

const MIB = 2 ** 20;

/**
 * @param {{ only: string, seconds: number }} wanted
 * @returns {Promise<readonly object[]>} objects like `Outcome` in report.ts
 */
export async function attackPage({ only, seconds }) {
  const web = await serve(await buildPage([]));
  const browser = await openBrowser('abuse', { fresh: true });
  const memoryBytes = () =>
    processesOf(browser.folder)
      .filter(({ type }) => type === 'renderer')
      .reduce((sum, { residentMb }) => sum + residentMb * MIB, 0);
  const outcomes = [];
  try {
    const tab = await openTab(browser.context, web.url, {}, 'abuse.html');
    const names = /** @type {readonly string[]} */ (await tab.call('open'));
    for (const attack of names.filter((name) => name.includes(only))) {
      const memoryBeforeBytes = memoryBytes();
      const { gap, ...seen } = await tab.call('measureUnderAttack', attack, seconds * 1000);
      const watched = { delayMs: gap, memoryBytes: memoryBytes() };
      outcomes.push({ store: 'page', attack, ...seen, watched, memoryBeforeBytes });
      console.log(JSON.stringify(outcomes.at(-1)));
    }
  } finally {
    await browser.close();
    browser.forget();
    web.close();
  }
  return outcomes;
}
