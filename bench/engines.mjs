// `npm run bench:engines`: workloads of `npm run bench` in Chromium, Firefox and WebKit, on disk; writes the table to results/ENGINES.md.
// --browsers chromium,firefox,webkit-storage  --rounds 3  --n 5000  --big 100000 (0: no large database)
// --before FOLDER (another checkout, measured in the same rounds)
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { commandOptions } from '../scripts/setup.mjs';
import { launch } from '../scripts/browsers/launch.mjs';
import { benchRoot, buildPage } from './host/build.mjs';
import { serve } from './host/server.mjs';

const values = commandOptions({
  browsers: { type: 'string', default: 'chromium,firefox,webkit-storage' },
  rounds: { type: 'string', default: '3' },
  n: { type: 'string', default: '5000' },
  big: { type: 'string', default: '100000' },
  before: { type: 'string' },
});
const documents = Number(values.n);
const kinds = /** @type {import('../scripts/browsers/kinds.mjs').Kind[]} */ (
  values.browsers.split(',')
);

/** `rows`: ms per row, bytes for the disk. `isExact`: no transfer was lost or executed twice. */
/** @typedef {{ rows: Record<string, number>; isExact: boolean }} Result */
/** @typedef {Result | { error: string }} Report */
/** @typedef {{ p50: number }} Times */

/** Runs in the browser. Frames take the place of tabs, so that all engines can be driven in the same way. */
async function drive() {
  const address = new URLSearchParams(location.search);
  const contender = address.get('contender');
  const documents = Number(address.get('n'));
  const big = Number(address.get('big'));
  const seed = Number(address.get('round'));
  const page = address.get('page');
  const loadFrame = async (query = '') => {
    const frame = document.createElement('iframe');
    frame.src = `${page}?contender=${contender}${query}`;
    document.body.append(frame);
    await new Promise((loaded) => frame.addEventListener('load', loaded));
    return frame;
  };
  const openFrame = async (/** @type {string} */ database) => {
    const frame = await loadFrame();
    const { bench } = /** @type {Window & { bench: import('./page/main.ts').Bench }} */ (
      frame.contentWindow
    );
    await bench.open(database);
    return { bench, end: async () => (await bench.close(), frame.remove()) };
  };
  const options = { documents, seed, batch: 1000, count: 500 };
  /** @type {Record<string, number>} */
  const rows = {};
  /** Runs a workload in a new frame. @param {string} database @param {string} workload @param {object} [more] */
  const alone = async (database, workload, more) => {
    const { bench, end } = await openFrame(database);
    const times = await bench.run(workload, { ...options, ...more });
    await end();
    return /** @type {{ ms: number; gap: number; perCreate: number; cold: Times; warm: Times } & Times} */ (
      times
    );
  };
  /** Time from the navigation to the first document, in ms. */
  const openCold = async () => {
    const frame = await loadFrame('&cold=db');
    const { cold } = /** @type {Window & { cold: Promise<{ total: number }> }} */ (
      frame.contentWindow
    );
    const { total } = await cold;
    frame.remove();
    return total;
  };
  /** @param {number[]} times */
  const median = (times) =>
    times.toSorted((one, other) => one - other)[Math.floor(times.length / 2)] ?? Number.NaN;
  const usage = async () => (await navigator.storage.estimate()).usage ?? Number.NaN;

  const { bench, end } = await openFrame('db');
  const run = async (/** @type {string} */ name, more = {}) =>
    /** @type {{ ms: number; gap: number; perCreate: number } & Times} */ (
      await bench.run(name, { ...options, ...more })
    );
  const filled = await run('fill');
  rows['W2'] = filled.ms;
  rows['W13 gap during W2'] = filled.gap;
  rows['W3'] = (await run('insert')).p50;
  rows['W15'] = (await run('together', { count: 640 })).perCreate;
  rows['W8'] = (await run('increment')).p50;
  rows['W10'] = (await run('updateMany', { count: 1000 })).ms;
  await end();
  rows['W1'] = median([await openCold(), await openCold(), await openCold()]);
  for (const [row, workload] of [
    ['W4', 'get'],
    ['W5', 'byCity'],
    ['W6', 'pages'],
  ]) {
    const count = workload === 'pages' ? 50 : 500;
    const { cold, warm } = await alone('db', workload ?? '', { count });
    rows[`${row} cold`] = cold.p50;
    rows[`${row} warm`] = warm.p50;
  }
  rows['W6 first after idle warming'] = (
    await alone('db', 'pages', { count: 50, restMs: 6000 })
  ).cold.p50;
  if (big > 0) {
    const before = await usage();
    const all = { documents: big };
    const size = big.toLocaleString('en-US');
    rows[`fill to ${size}`] = (await alone('big', 'fill', all)).ms;
    rows[`disk at ${size}`] = (await usage()) - before;
    rows['W14 get, cold'] = (await alone('big', 'get', all)).cold.p50;
    rows['W14 match, cold'] = (await alone('big', 'byCity', all)).cold.p50;
    rows['W16 fresh page'] = (await alone('big', 'scattered', all)).p50;
    rows['W16 after idle warming'] = (
      await alone('big', 'scattered', { ...all, restMs: 6000 })
    ).p50;
    const ids = await alone('big', 'ids', all);
    rows['W7'] = ids.ms;
    rows['W7 gap'] = ids.gap;
  }
  const writer = await openFrame('live');
  const watcher = await openFrame('live');
  const shown = await watcher.bench.listen();
  rows['W11'] = median(await writer.bench.poke({ count: 20, shown }));
  await writer.end();
  await watcher.end();
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
  rows['W9'] = ms / halves.reduce((sum, half) => sum + half.done, 0);
  const isExact = left.every(
    (/** @type {number} */ balance, /** @type {number} */ at) =>
      balance === halves.reduce((sum, half) => sum + (half.moved[at] ?? 0), 1000),
  );
  return { rows, isExact };
}

const DRIVER = `<!doctype html><meta charset="utf-8"><body><script type="module">
${drive.toString()}
const reply = await drive().catch((error) => ({ error: String(error) }));
await fetch('/done', { method: 'POST', body: JSON.stringify(reply) });
</script>`;

/** Serves the driver page and passes its reports on. @param {{ url: string }} web */
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
        const kept = ['content-type', 'cache-control'].map((name) => [
          name,
          page.headers.get(name) ?? '',
        ]);
        response.writeHead(page.status, { ...Object.fromEntries(kept), ...isolated });
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
      const query = `contender=${contender}&n=${documents}&big=${values.big}&round=${round}&page=/index.html`;
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
/** @param {string} kind @param {string} name */
const roundsOf = (kind, name) => measured.get(`${kind} ${name}`) ?? [];
const columns = kinds.flatMap((kind) => slots.slice(1).map(({ name }) => ({ kind, name })));
const rows = Object.keys(roundsOf(kinds[0] ?? '', FLOOR)[0]?.rows ?? {}).map((row) => [
  row,
  ...columns.map(({ kind, name }) => {
    const floor = roundsOf(kind, FLOOR);
    const ratios = roundsOf(kind, name).map(
      (own, round) => (own.rows[row] ?? Number.NaN) / (floor[round]?.rows[row] ?? Number.NaN),
    );
    return median(ratios).toFixed(2);
  }),
]);
const exact = columns.map(({ kind, name }) =>
  roundsOf(kind, name).every(({ isExact }) => isExact) ? 'yes' : '**no**',
);
const line = (/** @type {readonly string[]} */ cells) => `| ${cells.join(' | ')} |`;
const report = `# Rows in each browser engine

${new Date().toISOString()}, ${documents.toLocaleString('en-US')} documents, relaxed, ${values.rounds} interleaved rounds. Time against
hand-written rows in a worker of the same browser: below 1 Burrow is faster. Medians of the ratios
within a round. Written by \`npm run bench:engines\`; the rows are described in docs/benchmarks.md.
Frames stand for tabs: a page's own start, which both wait for in W1 of RESULTS.md, is hardly in it.
W17 kills the browser from outside, so it is in RESULTS.md alone.

${line(['', ...columns.map(({ kind, name }) => (name === 'burrow' ? kind : `${kind}, ${name}`))])}
${line(['---', ...columns.map(() => '---')])}
${rows.map(line).join('\n')}
${line(['W9 exact', ...exact])}
`;
console.log(`\n${report}`);
writeFileSync(join(benchRoot, 'results/ENGINES.md'), report);
process.exit();
