import { expect, test } from 'vitest';
import type { QueryRequest } from '../../src/engine/host.ts';
import { coll, create, EngineWorld, obj, ROOT } from '../../src/engine/testing/engine-world.ts';
import { TurnOver } from '../../src/query/turn-over.ts';
import { warmUp } from './warm-up.ts';

/** An engine with one collection for each number, with that many documents. */
async function setUp(...counts: readonly number[]) {
  const world = new EngineWorld();
  for (const [index, count] of counts.entries()) {
    const name = `c${index}`;
    await world.ask({ create_collection: obj({ name }) });
    await world.ask(Array.from({ length: count }, (_none, n) => create(coll(name), { n })));
  }
  const asked: QueryRequest[] = [];
  /** The number of elements in each answer. */
  const read: number[] = [];
  const commits: unknown[] = [];
  world.engine.onCommit((notice) => commits.push(notice));
  let time = 0;
  const query = async (request: QueryRequest, takes: number) => {
    asked.push(request);
    time += takes;
    if (takes > (request.turnMs?.(false) ?? Infinity)) throw new TurnOver();
    const answer = await world.engine.query(request);
    const { resource } = JSON.parse(answer.body) as { resource: { data: unknown[] } };
    read.push(resource.data.length);
    return answer;
  };
  /** @param takes the duration of each query, in ms @param asksMax the database is closed after this many queries */
  const warm = (takes: number, asksMax = Infinity) =>
    warmUp(
      { engine: { query: (request) => query(request, takes) }, rootSecret: ROOT },
      {
        idle: () => Promise.resolve(),
        now: () => time,
        isStopped: () => asked.length >= asksMax,
      },
    );
  return { warm, asked, read, commits };
}

test('warmUp() reads all collections in growing pages, from the newest document on, then begins again', async () => {
  const { warm, asked, read, commits } = await setUp(150, 0, 3);
  await warm(1);
  // The collections, then all documents of each, then those of the first again.
  expect(read.slice(0, 9)).toEqual([3, 8, 16, 32, 64, 30, 0, 3, 64]);
  expect(read).toHaveLength(50);
  expect(asked[1]?.query).toContain('"before":null');
  expect(new Set(asked.map(({ allows }) => allows))).toEqual(new Set(['read']));
  expect(commits).toEqual([]);
});

test('warmUp() reads small pages when they take long', async () => {
  const { warm, read } = await setUp(150);
  await warm(12);
  expect(new Set(read.slice(1, -1))).toEqual(new Set([4]));
  expect(read).toHaveLength(21);
});

test('warmUp() does not repeat a query that exceeds its turn', async () => {
  const { warm, asked } = await setUp(5);
  await warm(21);
  expect(asked).toHaveLength(1);
});

test('warmUp() ends when there are no documents, and when the database is closed', async () => {
  const empty = await setUp(0, 0);
  await empty.warm(1);
  expect(empty.read).toEqual([2, 0, 0]);
  const closed = await setUp(150);
  await closed.warm(1, 3);
  expect(closed.read).toEqual([1, 8, 16]);
});
