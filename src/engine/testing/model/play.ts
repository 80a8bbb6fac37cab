/** Executes random queries, one after the other, with an engine and with the reference model. */
import { parseJson, stringifyJson } from '../../../codec/json.ts';
import { RandomSource } from '../random-source.ts';
import { coll, EngineWorld, obj, ROOT } from '../engine-world.ts';
import { textOf, type Part } from '../query-text.ts';
import { Fault } from './casts.ts';
import { Database, type IndexFields } from './database.ts';
import { Model } from './evaluate.ts';
import { ModelQueries } from './model-queries.ts';
import { render, Silent } from './values.ts';

/** Number of consecutive queries on one database. */
const CASES_PER_WORLD = 80;
/** The first queries create documents. */
const FILLING = 8;

const FIELDS = ['a', 'b', '__proto__', 'ref'];

function randomIndexes(random: RandomSource): readonly IndexFields[] {
  const value = (field: string) => ({ field, reverse: random.chance(0.4) });
  const common = { collection: 'c', unique: false };
  const any = {
    ...common,
    name: 'i2',
    terms: random.some(2, () => random.pick(FIELDS)),
    values: random.some(2, () => value(random.pick(FIELDS))),
    unique: random.chance(0.3),
  };
  // An index whose sets have values in common, and one ordered by several values.
  return [
    { ...common, name: 'i0', terms: ['a'], values: [value('b')] },
    { ...common, name: 'i1', terms: ['b'], values: [value('__proto__'), value('a')] },
    any,
  ];
}

const fieldOf = (name: string): unknown => (name === 'ref' ? ['ref'] : ['data', name]);

async function openWorld(indexes: readonly IndexFields[]): Promise<EngineWorld> {
  const world = new EngineWorld();
  for (const name of ['c', 'd']) await world.ask({ create_collection: obj({ name }) });
  for (const { name, collection, terms, values, unique } of indexes) {
    const params = {
      name,
      source: coll(collection),
      unique,
      terms: terms.map((each) => obj({ field: fieldOf(each) })),
      values: values.map(({ field, reverse }) => obj({ field: fieldOf(field), reverse })),
    };
    await world.ask({ create_index: obj(params) });
  }
  return world;
}

/** The answer of the model. Undefined: the model does not cover the query. */
function expected(model: Model, query: Part, snapshot: number): string | undefined {
  try {
    return stringifyJson(parseJson(render(model.run(query, snapshot))));
  } catch (reason) {
    if (reason instanceof Silent) return undefined;
    if (reason instanceof Fault) return `${reason.code} at ${JSON.stringify(reason.position)}`;
    throw reason;
  }
}

function shown(body: string): string {
  const answer = parseJson(body) as ReadonlyMap<string, ReturnType<typeof parseJson>>;
  if (answer.has('resource')) return stringifyJson(answer.get('resource') ?? null);
  const { errors } = JSON.parse(body) as { errors: { code: string; position?: unknown }[] };
  return `${errors[0]?.code} at ${JSON.stringify(errors[0]?.position)}`;
}

export interface Played {
  readonly values: number;
  readonly faults: number;
  /** Number of queries that the model does not cover. */
  readonly silent: number;
  /** The first query with different answers. */
  readonly difference:
    | { readonly story: string; readonly told: string; readonly answered: string }
    | undefined;
}

export async function play(cases: number, seed: number): Promise<Played> {
  const tally = { values: 0, faults: 0, silent: 0 };
  for (let first = 0; first < cases; first += CASES_PER_WORLD) {
    const difference = await playInWorld(first, seed, tally);
    if (difference) return { ...tally, difference };
  }
  return { ...tally, difference: undefined };
}

async function playInWorld(
  first: number,
  seed: number,
  tally: { values: number; faults: number; silent: number },
): Promise<Played['difference']> {
  const random = new RandomSource(seed + first);
  const indexes = randomIndexes(random);
  const world = await openWorld(indexes);
  const database = new Database(indexes);
  const model = new Model(database);
  const queries = new ModelQueries(random, indexes);
  const story: string[] = [];
  for (let n = 0; n < CASES_PER_WORLD; n += 1) {
    world.now += 1_000_000;
    queries.now = world.now;
    const query = n < FILLING ? queries.filling() : queries.query();
    const text = textOf(query);
    const before = database.state();
    const told = expected(model, query, world.now);
    if (told === undefined) {
      // The engine does not execute such a query, because the two states must stay the same.
      tally.silent += 1;
      continue;
    }
    story.push(text);
    const request = { secret: ROOT, query: text, apiVersion: '4', allows: 'write' } as const;
    const { body } = await world.engine.query(request);
    const answered = shown(body);
    if (answered !== told) {
      const start = `case ${first + n} of seed ${seed}, indexes ${JSON.stringify(indexes)}`;
      return { story: [start, ...story].join('\n'), told, answered };
    }
    if (database.state() !== before) queries.times.push(world.now + 1);
    if (body.startsWith('{"resource"')) tally.values += 1;
    else tally.faults += 1;
  }
  return undefined;
}
