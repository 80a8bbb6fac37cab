/** Q6: any JSON of up to 4 KB as a query gives a result or a coded error in time, never an unexpected exception. */
import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { FAULTS, REFUSALS } from '../errors.ts';
import { API_VERSIONS } from '../query/session.ts';
import { BASIC_FORMS, FUNCTION_ROWS } from '../query/table.ts';
import { RandomSource, seedOf } from './testing/random-source.ts';
import { askText, openFuzzWorld } from './testing/fuzz-world.ts';
import { QueryMaker } from './testing/query-maker.ts';
import { partOf, partsIn, textOf, withPart, type Part } from './testing/query-text.ts';

const CASES = Number(process.env['BURROW_FUZZ_CASES'] ?? 10_000);
const SEED = seedOf('BURROW_FUZZ_SEED');
const QUERY_BYTES_MAX = 4096;
/** Queries that share a world. It is renewed after that, because queries may destroy what others need. */
const CASES_PER_WORLD = 500;
/** CPU time that a query may take, with a margin for slow machines. */
const SLOW_MICROS = 3_000_000;

/** Mostly the version that drivers send. */
const VERSIONS = ['4', '4', '4', ...API_VERSIONS] as const;

const CODES = new Set(
  [...Object.keys(FAULTS), ...Object.keys(REFUSALS)].filter(
    (code) => code !== 'internal server error',
  ),
);

const EXAMPLES: readonly Part[] = ['examples', 'sets-examples', 'auth-examples'].flatMap((name) =>
  readFileSync(new URL(`../../spec/${name}.jsonl`, import.meta.url), 'utf8')
    .trim()
    .split('\n')
    .flatMap((line) => {
      const { query } = JSON.parse(line) as { query?: unknown };
      return query === undefined ? [] : [partOf(query)];
    }),
);

/** An example with one or two subtrees replaced. */
function mutated(maker: QueryMaker, random: RandomSource): Part {
  let query = random.pick(EXAMPLES);
  for (let left = 1 + random.below(2); left > 0; left -= 1) {
    const parts = partsIn(query);
    const donors = random.chance(0.5) ? partsIn(random.pick(EXAMPLES)) : [maker.query()];
    query = withPart(query, random.below(parts.length), random.pick(donors));
  }
  return query;
}

/** Damages a text, which may then not even be JSON. */
function torn(text: string, random: RandomSource): string {
  const at = random.below(text.length);
  return (
    text.slice(0, at) +
    random.pick(['', '{', ']', '"', '\\u', '\0', '1e', ',']) +
    text.slice(at + 1)
  );
}

function randomText(maker: QueryMaker, random: RandomSource): string {
  const choice = random.next();
  if (choice < 0.5) return textOf(maker.query());
  if (choice < 0.8) return textOf(mutated(maker, random));
  if (choice < 0.95) return textOf(maker.json());
  return torn(textOf(random.chance(0.5) ? maker.query() : mutated(maker, random)), random);
}

const codesOf = (body: string): readonly string[] => {
  const { resource, errors } = JSON.parse(body) as {
    resource?: unknown;
    errors?: readonly { code: string }[];
  };
  return errors?.map(({ code }) => code) ?? (resource === undefined ? ['no resource'] : []);
};

test(`any query gives a result or a coded error (${CASES} cases, BURROW_FUZZ_SEED=${SEED})`, async () => {
  const made = new Set<string>();
  const answers = { results: 0, errors: 0 };
  let world = await openFuzzWorld();
  for (let n = 0; n < CASES; n += 1) {
    if (n % CASES_PER_WORLD === CASES_PER_WORLD - 1) world = await openFuzzWorld();
    const randomSource = new RandomSource(SEED + n);
    const maker = new QueryMaker(randomSource);
    let text = randomText(maker, randomSource);
    while (text.length > QUERY_BYTES_MAX) text = randomText(maker, randomSource);
    for (const name of maker.made) made.add(name);
    const detail = `case ${n} of seed ${SEED}: ${text}`;
    const started = process.cpuUsage();
    const { status, body } = await askText(world, text, randomSource.pick(VERSIONS)).catch(
      (reason: unknown) => {
        throw new Error(detail, { cause: reason });
      },
    );
    expect(process.cpuUsage(started).user, detail).toBeLessThan(SLOW_MICROS);
    const codes = codesOf(body);
    expect(
      codes.filter((code) => !CODES.has(code)),
      `${detail}\n${body}`,
    ).toEqual([]);
    expect(status < 300, detail).toBe(codes.length === 0);
    if (codes.length === 0) answers.results += 1;
    else answers.errors += 1;
  }
  const forms = new Set([...FUNCTION_ROWS.map(({ name }) => name), ...Object.keys(BASIC_FORMS)])
    .size;
  console.log(`fuzz: seed ${SEED}, ${CASES} cases, ${made.size} of ${forms} forms,`, answers);
  expect(made.size).toBe(CASES < 5000 ? made.size : forms);
  // There are enough valid queries and enough invalid ones.
  expect(Math.min(answers.results, answers.errors)).toBeGreaterThan(CASES / 20);
});
