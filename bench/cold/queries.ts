/** Single queries over a packed store in memory. cold.mjs bundles this file once for the engine of each checkout. */
import { readFileSync, writeFileSync } from 'node:fs';
import { deserialize, serialize } from 'node:v8';
import { MediumData } from '../../src/packed/testing/memory-medium.ts';
import { cityOf, idOf, makeDocs } from '../page/documents.ts';
import { openPackedEngine, ROOT } from './packed-engine.ts';

const DOCUMENTS = 6000;
/** Each city has about 100 documents. */
const CITIES = 60;
const SIZE = 64;
const ROLE = `${ROOT}:@role/reader`;
const GUARDED = `${ROOT}:@role/guarded`;

const cpu = (): number => {
  const { user, system } = process.cpuUsage();
  return user + system;
};

// --- the database -----------------------------------------------------------------------------------

async function openEngine(data: MediumData) {
  const { store, ask } = await openPackedEngine(data);
  return { store, ask: async (text: string, secret = ROOT) => (await ask(text, secret)).body };
}

type Opened = Awaited<ReturnType<typeof openEngine>>;

const COLLECTION = { collection: 'docs' };
const field = (...path: readonly string[]) => ({ object: { field: path } });
const index = (object: object) => ({ create_index: { object: { source: COLLECTION, ...object } } });
const refTo = (id: unknown) => ({ ref: COLLECTION, id });

const resource = (of: object, actions: object) => ({
  object: { resource: of, actions: { object: actions } },
});
const isGrown = {
  query: {
    lambda: 'ref',
    expr: { gte: [{ select: ['data', 'age'], from: { get: { var: 'ref' } } }, 0] },
  },
};
const role = (name: string, read: unknown) => ({
  create_role: {
    object: {
      name,
      privileges: [
        resource(COLLECTION, { read, write: true, create: true, create_with_id: true }),
        resource({ index: 'by_city' }, { read: true }),
        resource({ index: 'by_age' }, { read: true }),
      ],
    },
  },
});

export async function fill(file: string): Promise<void> {
  const data = new MediumData();
  const { ask, store } = await openEngine(data);
  const run = (query: unknown) => ask(JSON.stringify(query));
  await run({ create_collection: { object: { name: 'docs' } } });
  await run(index({ name: 'by_city', terms: [field('data', 'city')] }));
  await run(
    index({ name: 'by_age', values: [field('data', 'city'), field('data', 'age'), field('ref')] }),
  );
  await run(role('reader', true));
  await run(role('guarded', isGrown));
  const one = {
    lambda: 'doc',
    expr: {
      create: refTo({ select: 'id', from: { var: 'doc' } }),
      params: { object: { data: { var: 'doc' } } },
    },
  };
  for (let from = 0; from < DOCUMENTS; from += 1000) {
    const docs = makeDocs({ count: 1000, from, cities: CITIES });
    await run({ do: [{ foreach: one, collection: docs.map((doc) => ({ object: doc })) }, true] });
  }
  await store.flush();
  writeFileSync(file, serialize({ log: data.log, last: data.lastNumber, blocks: data.blocks }));
}

function stored(file: string): MediumData {
  const { log, last, blocks } = deserialize(readFileSync(file)) as {
    log: MediumData['log'];
    last: number;
    blocks: Map<number, Uint8Array>;
  };
  const data = new MediumData();
  data.log = log;
  data.lastNumber = last;
  data.putBlocks([...blocks].map(([id, bytes]) => ({ id, bytes })));
  return data;
}

// --- the queries ------------------------------------------------------------------------------------

/** A query for whole documents of a city. */
const docsOf = (at: number): string =>
  JSON.stringify({
    map: { lambda: 'ref', expr: { get: { var: 'ref' } } },
    collection: {
      paginate: { match: { index: 'by_city' }, terms: cityOf(at % CITIES) },
      size: SIZE,
    },
  });

const pageAfter = (at: number): string =>
  JSON.stringify({
    map: { lambda: ['_city', '_age', 'ref'], expr: { get: { var: 'ref' } } },
    collection: {
      paginate: { match: { index: 'by_age' } },
      size: SIZE,
      after: [cityOf(at % CITIES)],
    },
  });

const refsOf = (at: number): string =>
  JSON.stringify({
    paginate: { match: { index: 'by_city' }, terms: cityOf(at % CITIES) },
    size: SIZE,
  });

const get = (at: number): string => JSON.stringify({ get: refTo(idOf((at * 37) % DOCUMENTS)) });

const [DOC] = makeDocs({ count: 1, from: 9_000_000, cities: CITIES });
const create = (at: number): string =>
  JSON.stringify({
    create: refTo(idOf(1_000_000 + at)),
    params: { object: { data: { object: { ...DOC, email: `new${at}@example.com` } } } },
  });

const age = (id: string) => ({ select: ['data', 'age'], from: { get: refTo(id) } });
const update = (at: number): string => {
  const id = idOf((at * 37) % DOCUMENTS);
  const data = { object: { age: { add: [age(id), 1] } } };
  return JSON.stringify({ update: refTo(id), params: { object: { data } } });
};

interface Workload {
  readonly text: (at: number) => string;
  /** Number of different queries before the first is repeated. */
  readonly cycle: number;
  readonly secret?: string;
}

const ONCE = Number.MAX_SAFE_INTEGER;
const WORKLOADS: Readonly<Record<string, Workload>> = {
  'page, cold': { text: docsOf, cycle: CITIES },
  'page, cold, role': { text: docsOf, cycle: CITIES, secret: ROLE },
  'page, cold, predicate': { text: docsOf, cycle: CITIES, secret: GUARDED },
  'page of three, cold': { text: pageAfter, cycle: CITIES },
  'page, warm': { text: docsOf, cycle: 1 },
  'page, warm, role': { text: docsOf, cycle: 1, secret: ROLE },
  'refs, cold': { text: refsOf, cycle: CITIES },
  'refs, warm': { text: refsOf, cycle: 1 },
  'get, cold': { text: get, cycle: 2000 },
  'get, warm': { text: get, cycle: 1 },
  'get, warm, role': { text: get, cycle: 1, secret: ROLE },
  create: { text: create, cycle: ONCE },
  'create, role': { text: create, cycle: ONCE, secret: ROLE },
  update: { text: update, cycle: 2000 },
  'update, role': { text: update, cycle: 2000, secret: ROLE },
};

/** Opens an engine for one workload. @returns a function that executes the next query and resolves to its CPU time in µs */
export function runnerOf(name: string, file: string): (at: number) => Promise<number> {
  const { text, cycle, secret } = WORKLOADS[name] ?? { text: get, cycle: 1 };
  let opened: Opened | undefined;
  return async (at) => {
    if (!opened || (cycle > 1 && at % cycle === 0)) {
      opened = await openEngine(stored(file));
      // Loads schema, privileges and the parsed query, so that only the documents are cold.
      await opened.ask(text(cycle > 1 && cycle < ONCE ? cycle - 1 : ONCE), secret);
    }
    const query = text(at % cycle);
    const before = cpu();
    await opened.ask(query, secret);
    return cpu() - before;
  };
}

/** CPU time, in µs, of the first ten pages of this process, including the compilation of their code. */
export async function firstTen(file: string): Promise<readonly number[]> {
  const { ask } = await openEngine(stored(file));
  await ask(get(0));
  const micros: number[] = [];
  for (let at = 1; at <= 10; at += 1) {
    const before = cpu();
    await ask(docsOf(at));
    micros.push(cpu() - before);
  }
  return micros;
}

export const workloads = Object.keys(WORKLOADS);
