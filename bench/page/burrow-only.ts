/** `window.bench` of burrow.html: measurements that only Burrow has. */
import { openDatabase, q, type Client } from '../../src/index.ts';
import { BurrowContender, makeSchema, refOf } from '../contenders/burrow-queries.ts';
import { cityCount, cityOf, dice, draw, idOf, makeDocs } from './documents.ts';
import { measureLogins, measureReadsBesideLogins } from './logins.ts';
import { median, sleep, timeEach, watchMainThread } from './measure.ts';
import { measureRolePages } from './role-pages.ts';

const DOCUMENTS = 2000;

const insertAll = (client: Client) =>
  client.query(
    q.Do(
      q.Foreach(makeDocs({ count: DOCUMENTS }), (doc) =>
        q.Create(q.Ref(q.Collection('docs'), q.Select('id', doc)), { data: doc }),
      ),
      true,
    ),
  );

/** Reads with the query log on and off, alternating: ms of each. */
async function measureLog({ turns, reads }: { readonly turns: number; readonly reads: number }) {
  const open = async (name: string, enabled: boolean) => {
    const database = await openDatabase(name, { durability: 'relaxed', log: { enabled } });
    const client = database.client();
    await makeSchema(client);
    await insertAll(client);
    return { client, gets: [] as number[], pages: [] as number[] };
  };
  const sides = [await open('log-on', true), await open('log-off', false)] as const;
  const roll = dice(11);
  for (let turn = 0; turn < turns; turn++) {
    for (const side of turn % 2 === 0 ? sides : sides.toReversed()) {
      const { client } = side;
      const gets = await timeEach(reads, () =>
        client.query(q.Get(refOf(idOf(draw(roll, DOCUMENTS))))),
      );
      const pages = await timeEach(Math.ceil(reads / 10), () => client.query(pageOf(roll)));
      // The first turn is a warm-up.
      if (turn > 0) side.gets.push(gets.mean);
      if (turn > 0) side.pages.push(pages.mean);
    }
  }
  const [on, off] = sides;
  const figures = { getOn: on.gets, getOff: off.gets, pageOn: on.pages, pageOff: off.pages };
  return Object.fromEntries(Object.entries(figures).map(([name, ms]) => [name, median(ms)]));
}

const pageOf = (roll: () => number) => {
  const city = cityOf(draw(roll, cityCount(DOCUMENTS)));
  const set = q.Match(q.Index('docs_by_city'), city);
  return q.Map(q.Paginate(set, { size: 64 }), (ref) => q.Get(ref));
};

/** Queries that touch no data, compared with the same work in plain JavaScript. */
async function measureCompute() {
  const database = await openDatabase('compute', {
    durability: 'relaxed',
    log: { enabled: false },
  });
  const client = database.client();
  const numbers = Array.from({ length: 100 }, (_, index) => index);
  const steps = q.Do(
    q.Foreach(numbers, (a) => q.Map(numbers, (b) => q.Add(a, b))),
    0,
  );
  const additions = Array.from({ length: 1700 }, (_, index) => q.Add(index, `${index} unread`, 1));
  // Each text is different, because parsed queries are cached by their text.
  const unread = (turn: number) => q.If(true, turn, additions);
  const text = JSON.stringify(unread(0));
  const floor = (): number => {
    let sum = 0;
    for (const a of numbers) for (const b of numbers) sum += [b].map((each) => a + each)[0] ?? 0;
    return sum;
  };
  const empty = await timeEach(200, () => client.query(q.Do(0)));
  const evaluated = await timeEach(60, () => client.query(steps));
  const parsed = await timeEach(60, (turn) => client.query(unread(turn)));
  const plainSteps = await timeEach(200, () => Promise.resolve(floor()));
  const plainParse = await timeEach(200, () => Promise.resolve(JSON.parse(text) as unknown));
  await database.destroy();
  return {
    stepsMs: evaluated.p50 - empty.p50,
    plainStepsMs: plainSteps.p50,
    parseMs: parsed.p50 - empty.p50,
    parsedKb: text.length / 1000,
    plainParseMs: plainParse.p50,
    emptyMs: empty.p50,
  };
}

/** Reads refs alone, in the order of ids, to compare with the index entries that W7 reads. */
async function measureRefs(documents: number) {
  const database = await openDatabase('big', { durability: 'relaxed' });
  const client = database.client();
  const { value, ms, gap, longTask } = await watchMainThread(() =>
    client.query(q.Paginate(q.Documents(q.Collection('docs')), { size: 100_000 })),
  );
  await database.close();
  if (value.data.length !== Math.min(documents, 100_000)) throw new Error('Wrong answer: refs.');
  return { ms, gap, longTask };
}

const large = new BurrowContender({ durability: 'relaxed', store: 'packed' });
/** Pause between two reads, or two creates, during the commits. */
const BESIDE_MS = 10;

/** Opens an empty database. */
const openGrowth = (): Promise<void> => large.open('growth');

/** Adds documents in queries of 1,000, while single documents are created and earlier ones are read: the longest time of each, in ms. */
async function grow({ from, count }: { readonly from: number; readonly count: number }) {
  const docs = makeDocs({ count, from, cities: 2000 });
  const filling = { isOver: false };
  const reads = longestUntil(filling, readOf(from));
  const creates = longestUntil(filling, () => large.insertMany(docs.splice(0, 1)));
  let commitMs = 0;
  while (docs.length > 0) {
    const began = performance.now();
    await large.insertMany(docs.splice(0, 1000));
    commitMs = Math.max(commitMs, performance.now() - began);
  }
  filling.isOver = true;
  return { commitMs, createMs: await creates, readMs: await reads };
}

const CREATES_AT_ONCE = 8;

/**
 * Creates single documents, several in parallel, while others are read, so that the database is flushed and merged constantly: the longest
 * times.
 */
async function createBeside({ from, ms }: { readonly from: number; readonly ms: number }) {
  const creating = { isOver: false };
  const reads = longestUntil(creating, readOf(from));
  let next = from;
  const create = (): Promise<void> =>
    large.insertMany(makeDocs({ count: 1, from: next++, cities: 2000 }));
  const creates = Array.from({ length: CREATES_AT_ONCE }, () => longestUntil(creating, create, 0));
  await sleep(ms);
  creating.isOver = true;
  const createMs = Math.max(...(await Promise.all(creates)));
  return { creates: next - from, createMs, readMs: await reads };
}

/** Reads one of the first `documents` documents. */
function readOf(documents: number): () => Promise<void> {
  const roll = dice(documents + 1);
  return async () => {
    const id = idOf(draw(roll, documents));
    if (documents > 0 && (await large.get(id))?.id !== id)
      throw new Error(`Wrong answer: get ${id}.`);
  };
}

async function longestUntil(
  end: { readonly isOver: boolean },
  work: () => Promise<void>,
  pauseMs = BESIDE_MS,
): Promise<number> {
  let longest = 0;
  while (!end.isOver) {
    const began = performance.now();
    await work();
    longest = Math.max(longest, performance.now() - began);
    if (pauseMs > 0) await sleep(pauseMs);
  }
  return longest;
}

/** Reads throughout the large database, so that all caches of the worker are full. */
async function roam({ documents }: { readonly documents: number }) {
  const roll = dice(3);
  const gets = await timeEach(20_000, () => large.get(idOf(draw(roll, documents))), 30_000);
  const cities = await timeEach(2000, () => large.byCity(cityOf(draw(roll, 2000)), 64), 30_000);
  return { get: gets.p50, city: cities.p50 };
}

const bench = {
  measureLog,
  measureCompute,
  measureLogins,
  measureReadsBesideLogins,
  measureRefs,
  measureRolePages,
  openGrowth,
  grow,
  createBeside,
  roam,
};
Object.assign(window, { bench });
