/** Q1: the engine answers what a slow and obvious model of it answers: value, code and position. */
import { expect, test } from 'vitest';
import { parseJson, stringifyJson } from '../codec/json.ts';
import { Dice } from './testing/dice.ts';
import { coll, EngineWorld, obj, ROOT } from './testing/engine-world.ts';
import { Database, type IndexFields } from './testing/model/database.ts';
import { Fault, Model } from './testing/model/evaluate.ts';
import { ModelQueries } from './testing/model/maker.ts';
import { render, Silent } from './testing/model/values.ts';
import { textOf, type Part } from './testing/query-text.ts';

const CASES = Number(process.env['BURROW_MODEL_CASES'] ?? 4000);
const SEED = Number(process.env['BURROW_MODEL_SEED'] ?? Date.now() % 1_000_000_000);
/** Queries on one database, one after the other. */
const CASES_PER_WORLD = 40;

const FIELDS = ['a', 'b', '__proto__', 'ref'];

function randomIndexes(dice: Dice): readonly IndexFields[] {
  return Array.from({ length: 3 }, (_, n) => ({
    name: `i${n}`,
    collection: 'c',
    terms: dice.some(2, () => dice.pick(FIELDS)),
    values: dice.some(2, () => ({ field: dice.pick(FIELDS), reverse: dice.chance(0.4) })),
    unique: dice.chance(0.15),
  }));
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

/** As the model tells it; undefined: it says nothing. */
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

test(`the engine answers as the model does (${CASES} cases, BURROW_MODEL_SEED=${SEED})`, async () => {
  const tally = { values: 0, faults: 0, silent: 0 };
  for (let first = 0; first < CASES; first += CASES_PER_WORLD) {
    const dice = new Dice(SEED + first);
    const indexes = randomIndexes(dice);
    const world = await openWorld(indexes);
    const database = new Database(indexes);
    const model = new Model(database);
    const queries = new ModelQueries(dice, indexes);
    const story: string[] = [];
    for (let n = 0; n < CASES_PER_WORLD; n += 1) {
      const query = queries.query();
      const text = textOf(query);
      world.now += 1_000_000;
      const before = database.state();
      const told = expected(model, query, world.now);
      if (told === undefined) {
        // The state may not part: it is not asked either.
        tally.silent += 1;
        continue;
      }
      story.push(text);
      const { body } = await world.engine.query({
        secret: ROOT,
        query: text,
        apiVersion: '4',
        allows: 'write',
      });
      const detail = `case ${first + n} of seed ${SEED}, indexes ${JSON.stringify(indexes)}\n${story.join('\n')}`;
      expect(shown(body), detail).toBe(told);
      if (database.state() !== before) queries.times.push(world.now + 1);
      if (body.startsWith('{"resource"')) tally.values += 1;
      else tally.faults += 1;
    }
  }
  console.log(`model: seed ${SEED},`, tally);
  expect(tally.silent).toBeLessThan(CASES / 3);
});
