/**
 * Time of a page of 64 documents in a large collection, compared with a small one, over PostgreSQL: `npm run bench:hub -- pages
 * [documents]`. Each page is read for the first time, because a hub caches what it has read, and soon caches all of a small collection.
 */
import { Agent } from 'node:http';
import { startPostgres } from '../../hub/testing/postgres-server.ts';
import { create, forgetting, INDEXES, pageAfter } from './notes.ts';
import { median, metric, post, startHub, stop, type Served } from './served.ts';

const [folder = '', sizeText = '1000000'] = process.argv.slice(2);
const SMALL = 10_000;
const LARGE = Number(sizeText);
const PAGE = 64;
const PAGES = 150;
const ROUNDS = 7;
const BATCH = 500;

/** Commits have the same number of documents, whatever the size of the collection. */
async function openWith(documents: number, url: string): Promise<Served> {
  const hub = await startHub(folder, ['--postgres', url, '--query-log', 'off']);
  const agent = new Agent({ keepAlive: true, maxSockets: 4 });
  const ask = (query: string): Promise<string> => post(agent, hub.port, '/', query);
  await ask('{"create_collection":{"object":{"name":"notes"}}}');
  for (const index of INDEXES) await ask(index);
  const begun = performance.now();
  let next = 1;
  const fill = async (): Promise<void> => {
    while (next <= documents) {
      const first = next;
      next += BATCH;
      await ask(`{"do":[${Array.from({ length: BATCH }, (_, i) => create(first + i)).join(',')}]}`);
      if (first % 100_000 === 1 && first > 1) report(first, begun);
    }
  };
  await Promise.all([fill(), fill(), fill(), fill()]);
  report(documents, begun);
  agent.destroy();
  return hub;
}

function report(documents: number, begun: number): void {
  const seconds = (performance.now() - begun) / 1000;
  console.error(`${documents} documents stored in ${seconds.toFixed(0)} s`);
}

let fresh = 100_000_000;

/** Reads pages that do not overlap, one after the other. */
async function pageMs(hub: Served, documents: number): Promise<{ ms: number; trips: number }> {
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  await post(
    agent,
    hub.port,
    '/',
    forgetting(() => (fresh += 1)),
  );
  const starts = Array.from({ length: Math.floor(documents / PAGE) }, (_, i) => 1 + i * PAGE);
  const chosen = starts
    .map((start) => ({ start, dice: Math.random() }))
    .toSorted((a, b) => a.dice - b.dice)
    .slice(0, PAGES);
  const before = await metric(hub, 'burrow_database_round_trips');
  const times: number[] = [];
  for (const { start } of chosen) {
    const begun = performance.now();
    await post(agent, hub.port, '/', pageAfter(String(start)));
    times.push(performance.now() - begun);
  }
  const trips = (await metric(hub, 'burrow_database_round_trips')) - before;
  agent.destroy();
  return { ms: median(times), trips: trips / chosen.length };
}

const servers = [await startPostgres(), await startPostgres()] as const;
try {
  const small = await openWith(SMALL, servers[0].url);
  const large = await openWith(LARGE, servers[1].url);
  const found: { small: number; large: number; trips: number }[] = [];
  for (let round = 0; round < ROUNDS; round++) {
    const ofSmall = await pageMs(small, SMALL);
    const ofLarge = await pageMs(large, LARGE);
    found.push({ small: ofSmall.ms, large: ofLarge.ms, trips: ofLarge.trips });
  }
  const of = (side: 'small' | 'large' | 'trips'): string =>
    median(found.map((each) => each[side])).toFixed(2);
  const ratio = median(found.map((each) => each.large / each.small));
  console.log(
    `A page of ${PAGE} documents, read for the first time: ${of('small')} ms of ${SMALL}, ${of('large')} ms of ${LARGE}: ${ratio.toFixed(2)} times; ${of('trips')} round trips.`,
  );
  for (const hub of [small, large]) stop(hub);
} finally {
  for (const server of servers) await server.stop();
}
