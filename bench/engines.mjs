// `npm run bench:engines`: rows of `npm run bench` in Chromium, Firefox and WebKit, on disk; the table goes to results/ENGINES.md.
// --browsers chromium,firefox,webkit-storage  --rounds 3  --n 5000  --before FOLDER (another checkout, measured in the same rounds)
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
  before: { type: 'string' },
});
const documents = Number(values.n);
const kinds = /** @type {import('../scripts/browsers/kinds.mjs').Kind[]} */ (
  values.browsers.split(',')
);

/** ms for each row; `isExact`: no transfer was lost or done twice. */
/** @typedef {{ rows: Record<string, number>; isExact: boolean }} Result */
/** @typedef {Result | { error: string }} Report */
/** @typedef {{ p50: number }} Times */

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
    const { bench } = /** @type {Window & { bench: import('./page/main.ts').Bench }} */ (
      frame.contentWindow
    );
    await bench.open(database);
    return { bench, end: async () => (await bench.close(), frame.remove()) };
  };
  const options = { documents, seed, batch: 1000, count: 500 };
  /** @type {Record<string, number>} */
  const rows = {};
  const { bench, end } = await openFrame('db');
  const run = async (/** @type {string} */ name, more = {}) =>
    /** @type {{ ms: number; perCreate: number } & Times} */ (
      await bench.run(name, { ...options, ...more })
    );
  rows['W2'] = (await run('fill')).ms;
  rows['W3'] = (await run('insert')).p50;
  rows['W15'] = (await run('together', { count: 640 })).perCreate;
  rows['W8'] = (await run('increment')).p50;
  rows['W10'] = (await run('updateMany', { count: 1000 })).ms;
  await end();
  for (const [row, workload] of [
    ['W4', 'get'],
    ['W5', 'byCity'],
    ['W6', 'pages'],
  ]) {
    const reader = await openFrame('db');
    const times = /** @type {{ cold: Times; warm: Times }} */ (
      await reader.bench.run(workload, { ...options, count: workload === 'pages' ? 50 : 500 })
    );
    rows[`${row} cold`] = times.cold.p50;
    rows[`${row} warm`] = times.warm.p50;
    await reader.end();
  }
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

${line(['', ...columns.map(({ kind, name }) => (name === 'burrow' ? kind : `${kind}, ${name}`))])}
${line(['---', ...columns.map(() => '---')])}
${rows.map(line).join('\n')}
${line(['W9 exact', ...exact])}
`;
console.log(`\n${report}`);
writeFileSync(join(benchRoot, 'results/ENGINES.md'), report);
process.exit();
