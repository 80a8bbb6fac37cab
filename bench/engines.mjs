// `npm run bench:engines`: bulk creates (W2), single creates (W3) and two writers (W9) in Chromium, Firefox and WebKit, on disk.
// --browsers chromium,firefox,webkit-storage  --rounds 3  --n 5000  --before FOLDER (another checkout, measured in the same rounds)
import { mkdirSync, rmSync } from 'node:fs';
import { createServer } from 'node:http';
import { join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { parseArgs } from 'node:util';
import { launch } from '../scripts/browsers/launch.mjs';
import { benchRoot, buildPage } from './host/build.mjs';
import { serve } from './host/server.mjs';

const { values } = parseArgs({
  options: {
    browsers: { type: 'string', default: 'chromium,firefox,webkit-storage' },
    rounds: { type: 'string', default: '3' },
    n: { type: 'string', default: '5000' },
    before: { type: 'string' },
  },
});
const documents = Number(values.n);
const kinds = /** @type {import('../scripts/browsers/kinds.mjs').Kind[]} */ (
  values.browsers.split(',')
);

/**
 * @typedef {Omit<import('./page/main.ts').Bench, 'run'> & {
 *   run(workload: 'fill', options: object): Promise<{ ms: number }>;
 *   run(workload: 'insert', options: object): Promise<{ p50: number }>;
 * }} Bench
 */
/** @typedef {{ W2: number; W3: number; W9: number; isExact: boolean }} Result */
/** @typedef {Result | { error: string }} Report */

/** What runs in the browser: frames stand for tabs, so that each engine is driven the same way. */
async function drive() {
  const address = new URLSearchParams(location.search);
  const contender = address.get('contender');
  const documents = Number(address.get('n'));
  const seed = Number(address.get('round'));
  const page = address.get('page');
  const openFrame = async (/** @type {string} */ database) => {
    const frame = document.createElement('iframe');
    frame.src = `${page}?contender=${contender}`;
    document.body.append(frame);
    await new Promise((loaded) => frame.addEventListener('load', loaded));
    const { bench } = /** @type {Window & { bench: Bench }} */ (frame.contentWindow);
    await bench.open(database);
    return { bench, end: async () => (await bench.close(), frame.remove()) };
  };
  const alone = await openFrame('db');
  const options = { documents, seed, batch: 1000, count: 500 };
  const fill = await alone.bench.run('fill', options);
  const insert = await alone.bench.run('insert', options);
  await alone.end();
  const first = await openFrame('accounts');
  await first.bench.openAccounts();
  const second = await openFrame('accounts');
  await second.bench.balances();
  const started = performance.now();
  const halves = await Promise.all([
    first.bench.transfers({ count: 250, seed }),
    second.bench.transfers({ count: 250, seed: seed + 50 }),
  ]);
  const ms = performance.now() - started;
  const left = await first.bench.balances();
  const done = halves.reduce((sum, half) => sum + half.done, 0);
  const isExact = left.every(
    (/** @type {number} */ balance, /** @type {number} */ at) =>
      balance === halves.reduce((sum, half) => sum + (half.moved[at] ?? 0), 1000),
  );
  return { W2: fill.ms, W3: insert.p50, W9: ms / done, isExact };
}

const DRIVER = `<!doctype html><meta charset="utf-8"><body><script type="module">
${drive.toString()}
const reply = await drive().catch((error) => ({ error: String(error) }));
await fetch('/done', { method: 'POST', body: JSON.stringify(reply) });
</script>`;

/** Serves the driver, and hands on what it reports. @param {{ url: string }} web */
async function serveDriver(web) {
  /** @type {(report: Report) => void} */
  let take = () => undefined;
  const server = createServer((request, response) => {
    const isolated = {
      'cross-origin-opener-policy': 'same-origin',
      'cross-origin-embedder-policy': 'require-corp',
    };
    if (request.url?.startsWith('/drive')) {
      response.writeHead(200, { 'content-type': 'text/html', ...isolated }).end(DRIVER);
    } else if (request.url === '/done') {
      let text = '';
      request.on('data', (part) => (text += part));
      request.on('end', () => {
        response.end();
        take(JSON.parse(text));
      });
    } else {
      void fetch(new URL(request.url ?? '/', web.url)).then(async (page) => {
        const type = page.headers.get('content-type') ?? '';
        response.writeHead(page.status, { 'content-type': type, ...isolated });
        response.end(Buffer.from(await page.arrayBuffer()));
      });
    }
  });
  await new Promise((listening) => server.listen(0, '127.0.0.1', () => listening(undefined)));
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('No port was given.');
  return {
    url: `http://127.0.0.1:${address.port}`,
    next: () => /** @type {Promise<Report>} */ (new Promise((resolve) => (take = resolve))),
    close: () => server.close(),
  };
}

const FLOOR = 'raw-idb-worker';
const slots = [
  { name: FLOOR, contender: FLOOR, root: benchRoot },
  ...(values.before
    ? [{ name: 'before', contender: 'burrow', root: join(resolve(values.before), 'bench') }]
    : []),
  { name: 'burrow', contender: 'burrow', root: benchRoot },
];

/** @type {Map<string, Awaited<ReturnType<typeof serveDriver>>>} */
const drivers = new Map();
for (const root of new Set(slots.map((slot) => slot.root))) {
  const builder =
    root === benchRoot
      ? { buildPage }
      : await import(pathToFileURL(join(root, 'host/build.mjs')).href);
  drivers.set(root, await serveDriver(await serve(await builder.buildPage([FLOOR, 'burrow']))));
}

/** @type {Map<string, Result[]>} */
const measured = new Map();
for (const kind of kinds) {
  for (let round = 1; round <= Number(values.rounds); round++) {
    for (const { name, contender, root } of round % 2 === 1 ? slots : slots.toReversed()) {
      const driver = drivers.get(root);
      if (!driver) continue;
      const profileDir = join(benchRoot, 'out/profiles', `${kind}-${name}`);
      rmSync(profileDir, { recursive: true, force: true });
      mkdirSync(profileDir, { recursive: true });
      const query = `contender=${contender}&n=${documents}&round=${round}&page=/index.html`;
      const report = driver.next();
      const browser = await launch({ kind, url: `${driver.url}/drive?${query}`, profileDir });
      const result = await report;
      await browser.close();
      console.log(`${kind} ${round} ${name}: ${JSON.stringify(result)}`);
      if ('error' in result) throw new Error(result.error);
      measured.set(`${kind} ${name}`, [...(measured.get(`${kind} ${name}`) ?? []), result]);
    }
  }
}
for (const driver of drivers.values()) driver.close();

/** @param {readonly number[]} all */
const median = (all) => all.toSorted((a, b) => a - b)[Math.floor(all.length / 2)] ?? Number.NaN;
const ROWS = /** @type {const} */ (['W2', 'W3', 'W9']);
console.log('\nTime against hand-written rows in a worker, medians of ratios within a round:\n');
console.log('| browser | contender | W2 | W3 | W9 |\n|---|---|---|---|---|');
for (const kind of kinds) {
  const floor = measured.get(`${kind} ${FLOOR}`) ?? [];
  for (const { name } of slots.slice(1)) {
    const own = measured.get(`${kind} ${name}`) ?? [];
    const ratios = ROWS.map((row) =>
      median(own.map((each, i) => each[row] / (floor[i]?.[row] ?? Number.NaN))).toFixed(2),
    );
    console.log(`| ${kind} | ${name} | ${ratios.join(' | ')} |`);
  }
}
process.exit();
