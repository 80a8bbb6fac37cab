// `node bench/profile.mjs W2,W5 [--n 10000] [--contender burrow] [--page]`: profiles the worker, or with `--page` the page's own thread,
// by Chromium's CPU profiler.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { openBrowser } from './host/browser.mjs';
import { benchRoot, buildPage } from './host/build.mjs';
import { profilePage, profileWorker } from './host/profiler.mjs';
import { serve } from './host/server.mjs';
import { REST_MS } from './host/slots.mjs';
import { openTab } from './host/tabs.mjs';

/**
 * `fresh`: run in a tab that has read nothing.
 * @type {Record<string, { workload: string, fresh?: boolean, more?: object }>}
 */
const workloads = {
  W2: { workload: 'fill' },
  W3: { workload: 'insert' },
  W4: { workload: 'get', fresh: true },
  W5: { workload: 'byCity', fresh: true },
  W6: { workload: 'pages', fresh: true, more: { count: 100 } },
  W7: { workload: 'ids', fresh: true },
  W8: { workload: 'increment' },
  W14: { workload: 'byCity', fresh: true },
  W16: { workload: 'scattered', fresh: true },
  W16warmed: { workload: 'scattered', fresh: true, more: { restMs: REST_MS } },
  W10: { workload: 'updateMany', more: { count: 1000 } },
};

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    n: { type: 'string', default: '10000' },
    contender: { type: 'string', default: 'burrow' },
    lines: { type: 'string', default: '30' },
    page: { type: 'boolean', default: false },
  },
});
const wanted = (positionals[0] ?? Object.keys(workloads).join(',')).split(',');
const documents = Number(values.n);
const web = await serve(await buildPage([values.contender], { minify: false }));
const browser = await openBrowser('profile', { fresh: true });
const options = { documents, count: 500, seed: 1, batch: 1000 };
const open = async () => {
  const tab = await openTab(browser.context, web.url, { contender: values.contender });
  await tab.call('open', 'profiled');
  return tab;
};

let tab = await open();
if (!wanted.includes('W2')) await tab.call('run', 'fill', options);
for (const name of wanted) {
  const found = workloads[name];
  if (!found) throw new Error(`No workload is called ${name}.`);
  const { workload, fresh = false, more } = found;
  if (fresh) {
    await tab.close();
    tab = await open();
  }
  const profileThread = values.page ? profilePage : profileWorker;
  const { profile, times, inclusive, own } = await profileThread(tab.page, () =>
    tab.call('run', workload, { ...options, ...more }),
  );
  writeFileSync(join(benchRoot, 'out', `${name}.cpuprofile`), JSON.stringify(profile));
  const lines = Number(values.lines);
  console.log(`\n== ${name} ${JSON.stringify(times).slice(0, 300)}`);
  console.log('   ms   with what it calls');
  for (const { ms, name } of inclusive.slice(0, lines))
    console.log(`${ms.toFixed(0).padStart(6)} ${name}`);
  console.log('   ms   itself');
  for (const { ms, name } of own.slice(0, lines))
    console.log(`${ms.toFixed(0).padStart(6)} ${name}`);
}
await browser.close();
browser.forget();
web.close();
