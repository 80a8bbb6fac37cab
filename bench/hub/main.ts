/** The hub and the baseline, interleaved, over PostgreSQL and over PGlite: `npm run bench:hub`. */
import { Agent } from 'node:http';
import { join } from 'node:path';
import { startPostgres } from '../../hub/testing/postgres-server.ts';
import { create, documentText, forgetting, INDEXES, pageAfter } from './notes.ts';
import { median, metric, post, start, startHub, stop, type Send, type Served } from './served.ts';

const [folder = '', secondsText = '2'] = process.argv.slice(2);
const ROUND_MS = Number(secondsText) * 1000;
const ROUNDS = 3;
const DOCUMENTS = 2000;

let next = 1_000_000;
const fresh = (): number => (next += 1);
const someone = (): string => String(1 + Math.floor(Math.random() * DOCUMENTS));

const floorWork = (port: number): Record<string, Send> => {
  const send =
    (path: string, id: () => string): Send =>
    (agent) => {
      const who = id();
      return post(agent, port, path, JSON.stringify({ id: who, value: documentText(who) }));
    };
  return {
    create: send('/create', () => String(fresh())),
    get: send('/get', someone),
    page: send('/page', someone),
  };
};

const hubWork = (port: number): Record<string, Send> => ({
  create: (agent) => post(agent, port, '/', create(fresh())),
  get: (agent) =>
    post(agent, port, '/', `{"get":{"ref":{"collection":"notes"},"id":"${someone()}"}}`),
  page: (agent) => post(agent, port, '/', pageAfter(someone())),
});

interface Figures {
  readonly perSecond: number;
  readonly p50: number;
  /** CPU time of the measured process, per request. */
  readonly cpuMs: number;
}

interface Side {
  readonly works: Readonly<Record<string, Send>>;
  readonly cpuSeconds: () => Promise<number>;
}

const floorSide = (port: number): Side => ({
  works: floorWork(port),
  async cpuSeconds() {
    const agent = new Agent();
    const text = await post(agent, port, '/cpu', '');
    agent.destroy();
    return Number(text);
  },
});

const hubSide = (hub: Served): Side => ({
  works: hubWork(hub.port),
  cpuSeconds: () => metric(hub, 'process_cpu_seconds_total'),
});

async function measure(side: Side, work: string, connections: number): Promise<Figures> {
  const send = side.works[work];
  if (!send) throw new Error(`Nobody is asked for ${work}.`);
  const before = await side.cpuSeconds();
  const agent = new Agent({ keepAlive: true, maxSockets: connections });
  const times: number[] = [];
  const end = performance.now() + ROUND_MS;
  await Promise.all(
    Array.from({ length: connections }, async (_, i) => {
      while (performance.now() < end) {
        const begun = performance.now();
        await send(agent, i);
        times.push(performance.now() - begun);
      }
    }),
  );
  agent.destroy();
  times.sort((a, b) => a - b);
  return {
    perSecond: times.length / (ROUND_MS / 1000),
    p50: times[Math.floor(times.length / 2)] ?? 0,
    cpuMs: (((await side.cpuSeconds()) - before) * 1000) / times.length,
  };
}

async function compare(
  name: string,
  sides: { readonly floor: Side; readonly hub: Side },
  work: string,
  connections: number,
): Promise<void> {
  const found: { floor: Figures; hub: Figures }[] = [];
  for (let round = 0; round < ROUNDS; round++) {
    const floor = await measure(sides.floor, work, connections);
    found.push({ floor, hub: await measure(sides.hub, work, connections) });
  }
  const of = (side: 'floor' | 'hub', figure: keyof Figures): number =>
    median(found.map((each) => each[side][figure]));
  const at = (side: 'floor' | 'hub'): string =>
    `${of(side, 'perSecond').toFixed(0)}/s p50 ${of(side, 'p50').toFixed(2)} ms CPU ${of(side, 'cpuMs').toFixed(2)} ms`;
  const ratio = (figure: keyof Figures): string =>
    median(found.map(({ floor, hub }) => hub[figure] / floor[figure])).toFixed(2);
  console.log(
    `| ${name}: ${work} | ${connections} | ${at('floor')} | ${at('hub')} | ${ratio('perSecond')} | ${ratio('p50')} | ${ratio('cpuMs')} |`,
  );
}

async function fill(floorPort: number, hubPort: number): Promise<void> {
  const agent = new Agent({ keepAlive: true, maxSockets: 16 });
  await post(agent, hubPort, '/', '{"create_collection":{"object":{"name":"notes"}}}');
  for (const index of INDEXES) await post(agent, hubPort, '/', index);
  for (let at = 1; at <= DOCUMENTS; at += 16) {
    await Promise.all(
      Array.from({ length: 16 }, async (_, i) => {
        await post(agent, hubPort, '/', create(at + i));
        const id = String(at + i);
        const row = JSON.stringify({ id, value: documentText(id) });
        await post(agent, floorPort, '/create', row);
      }),
    );
  }
  agent.destroy();
}

async function run(name: string, floorUrl: string, hubArgs: readonly string[]): Promise<void> {
  const floor = await start([join(folder, 'floor.mjs'), floorUrl], /listening (\d+)/);
  const hub = await startHub(folder, hubArgs);
  const idle = await metric(hub, 'process_resident_memory_bytes');
  const sides = { floor: floorSide(floor.port), hub: hubSide(hub) };
  await fill(floor.port, hub.port);
  const works = [
    ['create', 16],
    ['create', 64],
    ['get', 16],
    ['page', 16],
  ] as const;
  for (const [work, connections] of works) await compare(name, sides, work, connections);
  const trips = await tripsOfPages(hub);
  notes.push(
    `${name}: ${trips.toFixed(2)} round trips for a page of 64 documents that is read for the first time; ${(idle / 2 ** 20).toFixed(0)} MiB (RSS) idle.`,
  );
  for (const served of [floor, hub]) stop(served);
}

const PAGES = 30;

/** Database round trips for pages that are no longer in the hub's cache. */
async function tripsOfPages(hub: Served): Promise<number> {
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  await post(agent, hub.port, '/', forgetting(fresh));
  const before = await metric(hub, 'burrow_database_round_trips');
  for (let i = 0; i < PAGES; i++) await post(agent, hub.port, '/', pageAfter(String(i * 64 + 2)));
  const after = await metric(hub, 'burrow_database_round_trips');
  agent.destroy();
  return (after - before) / PAGES;
}

const notes: string[] = [];
console.log('| work | connections | floor | hub | rate, hub to floor | p50 | CPU |');
console.log('|---|---|---|---|---|---|---|');
const server = await startPostgres();
try {
  await run('PostgreSQL', server.url, ['--postgres', server.url]);
} finally {
  await server.stop();
}
await run('PGlite', 'memory:', ['--data', 'memory:']);
for (const note of notes) console.log(note);
