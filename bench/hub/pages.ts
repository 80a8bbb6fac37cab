/** What a page of 64 documents costs in a large collection, beside a small one, over PostgreSQL: `npm run bench:hub -- pages [documents]`. */
import { Agent } from 'node:http';
import { startPostgres } from '../../hub/testing/postgres-server.ts';
import { create, INDEXES, pageAfter } from './notes.ts';
import { median, post, startHub, stop, type Served } from './served.ts';

const [folder = '', sizeText = '1000000'] = process.argv.slice(2);
const SMALL = 10_000;
const LARGE = Number(sizeText);
const PAGES = 300;
const ROUNDS = 5;

/** The same number of documents a commit, whatever the size. */
async function openWith(documents: number, url: string): Promise<Served> {
  const hub = await startHub(folder, ['--postgres', url, '--query-log', 'off']);
  const agent = new Agent({ keepAlive: true, maxSockets: 4 });
  const ask = (query: string): Promise<string> => post(agent, hub.port, '/', query);
  await ask('{"create_collection":{"object":{"name":"notes"}}}');
  for (const index of INDEXES) await ask(index);
  let next = 1;
  const fill = async (): Promise<void> => {
    while (next <= documents) {
      const first = next;
      next += 250;
      await ask(`{"do":[${Array.from({ length: 250 }, (_, i) => create(first + i)).join(',')}]}`);
    }
  };
  await Promise.all([fill(), fill(), fill(), fill()]);
  agent.destroy();
  return hub;
}

/** Pages at random places: nearly all are read for the first time. */
async function pageMs(hub: Served, documents: number): Promise<number> {
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  const times: number[] = [];
  for (let i = 0; i < PAGES; i++) {
    const begun = performance.now();
    await post(agent, hub.port, '/', pageAfter(String(1 + Math.floor(Math.random() * documents))));
    times.push(performance.now() - begun);
  }
  agent.destroy();
  return median(times);
}

const servers = [await startPostgres(), await startPostgres()] as const;
try {
  const [small, large] = await Promise.all([
    openWith(SMALL, servers[0].url),
    openWith(LARGE, servers[1].url),
  ]);
  const found: { small: number; large: number }[] = [];
  for (let round = 0; round < ROUNDS; round++)
    found.push({ small: await pageMs(small, SMALL), large: await pageMs(large, LARGE) });
  const of = (side: 'small' | 'large'): string =>
    median(found.map((each) => each[side])).toFixed(2);
  const ratio = median(found.map((each) => each.large / each.small));
  console.log(
    `A page of 64 documents: ${of('small')} ms of ${SMALL}, ${of('large')} ms of ${LARGE}: ${ratio.toFixed(2)} times.`,
  );
  for (const hub of [small, large]) stop(hub);
} finally {
  for (const server of servers) await server.stop();
}
