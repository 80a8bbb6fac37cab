/** The workloads of a single tab. Every result is checked: a wrong one fails the workload. */
import type { Contender, Doc } from './contender.ts';
import { cityCount, cityOf, dice, draw, idOf, makeDocs } from './documents.ts';
import { median, sleep, timeEach, watchMainThread, type Times } from './measure.ts';

export interface WorkloadOptions {
  /** Number of documents in the database. */
  readonly documents: number;
  readonly count: number;
  readonly seed: number;
  readonly batch: number;
  /** Idle time before the workload, in which a store can read ahead. */
  readonly restMs?: number;
}

type Workload = (contender: Contender, options: WorkloadOptions) => Promise<unknown>;

const PAGE = 64;
const TOGETHER = 32;
const MANY = 100_000;

/** The same reads twice: first from the store, then again. */
interface ColdAndWarm {
  readonly cold: Times;
  readonly warm: Times;
}

export const WORKLOADS: Readonly<Record<string, Workload>> = {
  fill,
  insert: (contender, { documents, count }) => {
    const docs = makeDocs({ count, from: documents, seed: 7, cities: 20 });
    return timeEach(count, (index) => contender.insert(at(docs, index)));
  },
  together: createTogether,
  get: readDocuments,
  byCity: readCities,
  scattered: readScattered,
  pages: readPages,
  ids: readIds,
  increment,
  updateMany,
};

async function fill(contender: Contender, { documents, batch }: WorkloadOptions) {
  const docs = makeDocs({ count: documents });
  const { ms, gap, longTask } = await watchMainThread(async () => {
    for (let from = 0; from < documents; from += batch) {
      await contender.insertMany(docs.slice(from, from + batch));
    }
  });
  return { ms, gap, longTask, perSecond: (documents / ms) * 1000 };
}

/** Time per document in ms, for parallel inserts. Uses ids that `insert` does not use. */
async function createTogether(contender: Contender, { documents, count }: WorkloadOptions) {
  const turns = Math.ceil(count / TOGETHER);
  const wish = { count: turns * TOGETHER, from: documents + 100_000, seed: 8, cities: 20 };
  const docs = makeDocs(wish);
  const times = await timeEach(turns, (turn) =>
    Promise.all(
      docs.slice(turn * TOGETHER, (turn + 1) * TOGETHER).map((doc) => contender.insert(doc)),
    ),
  );
  const last = at(docs, times.count * TOGETHER - 1);
  if ((await contender.get(last.id))?.email !== last.email) wrong('together');
  return { ...times, perCreate: times.p50 / TOGETHER };
}

async function readDocuments(
  contender: Contender,
  { documents, count, seed }: WorkloadOptions,
): Promise<ColdAndWarm> {
  const roll = dice(99 + seed);
  const drawn = new Set<string>();
  while (drawn.size < Math.min(count, documents)) drawn.add(idOf(draw(roll, documents)));
  const ids = [...drawn];
  const read = async (id: string): Promise<void> => {
    const doc = await contender.get(id);
    if (doc?.id !== id || doc.body.length !== 200) wrong(`get ${id}`);
  };
  const cold = await timeEach(ids.length, (index) => read(at(ids, index)));
  const warm = await timeEach(2000, () => read(at(ids, draw(roll, ids.length))));
  return { cold, warm };
}

async function readCities(
  contender: Contender,
  { documents, seed }: WorkloadOptions,
): Promise<ColdAndWarm> {
  const cities = cityCount(documents);
  const roll = dice(5 + seed);
  const expected = Math.min(PAGE, Math.floor(documents / cities / 2));
  const read = async (index: number): Promise<void> => {
    const city = cityOf((index * 7 + seed) % cities);
    const docs = await contender.byCity(city, PAGE);
    if (docs.length < expected || docs.length > PAGE) wrong(`byCity gave ${docs.length}`);
    if (docs.some((doc) => doc.city !== city)) wrong('byCity gave another city');
  };
  const asked = Math.min(cities, 20);
  const cold = await timeEach(asked, read);
  const warm = await timeEach(300, () => read(draw(roll, asked)));
  return { cold, warm };
}

/** The first pages of a tab: documents far apart, each city once. */
async function readScattered(
  contender: Contender,
  { documents, seed, restMs = 0 }: WorkloadOptions,
): Promise<Times> {
  const cities = cityCount(documents);
  await sleep(restMs);
  return timeEach(Math.min(cities, 20), async (index) => {
    const city = cityOf((index * 7 + seed) % cities);
    const docs = await contender.byCity(city, PAGE);
    if (docs.length === 0 || docs.some((doc) => doc.city !== city)) wrong('scattered');
  });
}

async function readPages(
  contender: Contender,
  { documents, count, restMs = 0 }: WorkloadOptions,
): Promise<ColdAndWarm> {
  await sleep(restMs);
  const pages = Math.min(count, Math.floor(documents / PAGE));
  const walk = async (): Promise<Times> => {
    let cursor: unknown;
    let last: Doc | undefined;
    let seen = 0;
    const times = await timeEach(pages, async () => {
      const page = await contender.page(cursor, PAGE);
      ({ cursor } = page);
      seen += page.docs.length;
      for (const doc of page.docs) {
        if (last && !isInOrder(last, doc)) wrong('pages are not in order');
        last = doc;
      }
    });
    if (!times.isCut && seen !== PAGE * pages) wrong(`pages gave ${seen}`);
    return times;
  };
  return { cold: await walk(), warm: await walk() };
}

const isInOrder = (first: Doc, second: Doc): boolean =>
  first.city < second.city ||
  (first.city === second.city &&
    (first.age < second.age || (first.age === second.age && first.id < second.id)));

async function readIds(contender: Contender, { documents }: WorkloadOptions) {
  const { value, ms, gap, longTask } = await watchMainThread(() => contender.ids(MANY));
  if (value.length !== Math.min(documents, MANY)) wrong(`ids gave ${value.length}`);
  if (new Set(value).size !== value.length) wrong('ids gave one twice');
  return { ms, gap, longTask };
}

async function increment(contender: Contender, { documents, count, seed }: WorkloadOptions) {
  const roll = dice(77 + seed);
  const ids = Array.from({ length: count }, () => idOf(draw(roll, documents)));
  const [first = ''] = ids;
  const before = (await contender.get(first))?.age ?? Number.NaN;
  const times = await timeEach(count, (index) => contender.incrementAge(at(ids, index)));
  const after = (await contender.get(first))?.age ?? Number.NaN;
  if (!times.isCut && after - before !== ids.filter((id) => id === first).length) {
    wrong(`increment went from ${before} to ${after}`);
  }
  return times;
}

async function updateMany(contender: Contender, { documents, count }: WorkloadOptions) {
  const step = Math.max(1, Math.floor(documents / count));
  const ids = Array.from({ length: Math.min(count, documents) }, (_, index) => idOf(index * step));
  const ms: number[] = [];
  for (const age of [30, 31, 32]) {
    const before = performance.now();
    await contender.updateMany(ids, age);
    ms.push(performance.now() - before);
  }
  if ((await contender.get(at(ids, ids.length - 1)))?.age !== 32) wrong('updateMany');
  return { ms: median(ms) };
}

function at<T>(items: readonly T[], index: number): T {
  const item = items[index];
  if (item === undefined) throw new Error(`Nothing at ${index}.`);
  return item;
}

function wrong(what: string): never {
  throw new Error(`Wrong answer: ${what}.`);
}
