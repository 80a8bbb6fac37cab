/** Limits on evaluation: each is tested through queries, at the limit and one past it. Spec: values 12. */
import { expect, test } from 'vitest';
import { LIMITS } from '../limits.ts';
import { MemoryBudget } from '../query/memory-budget.ts';
import { obj, type Query } from './testing/engine-world.ts';
import { askText, createTestEngine } from './testing/fuzz-world.ts';
import { range, same } from './testing/large-values.ts';
import { outcome } from './testing/outcomes.ts';

const v = (name: string): Query => ({ var: name });
const forEach = (expr: Query, collection: Query): Query => ({
  map: { lambda: 'x', expr },
  collection,
});
/** A text of `chars` characters, made of up to 1,024 parts of 16,384 characters and a rest. */
const longText = (chars: number): Query => ({
  let: { part: { repeat: { repeat: 'a', number: 16 }, number: 1024 } },
  in: { concat: [...same(Math.floor(chars / 16_384), v('part')), 'a'.repeat(chars % 16_384)] },
});
/** An array of `length` items, made by doubling. */
const longArray = (length: number, item: Query): Query => {
  const doublings = range(17).map(() => ({ all: { append: v('all'), collection: v('all') } }));
  return { let: [{ all: [item] }, ...doublings], in: { take: length, collection: v('all') } };
};

async function expectEdge(
  limit: number,
  queryOf: (n: number) => Query,
  refused: string,
  engine = createTestEngine(),
): Promise<void> {
  expect(await outcome(engine, queryOf(limit))).toHaveProperty('resource');
  expect(await outcome(engine, queryOf(limit + 1))).toEqual({ refused });
}

test('a query with too many nested levels of JSON is refused', async () => {
  const nested = (depth: number) => '['.repeat(depth) + ']'.repeat(depth);
  await expectEdge(LIMITS.jsonDepth, nested, 'invalid expression at []');
  for (const open of ['[', '{"object":', '{"not":', '{"a":']) {
    const text = open.repeat(1_000_000);
    expect(await outcome(createTestEngine(), text)).toEqual({
      refused: 'invalid expression at []',
    });
  }
});

test('an answer with too many nested levels is refused', async () => {
  const wrapped = (depth: number): Query => ({
    reduce: { lambda: ['all', '_'], expr: [v('all')] },
    initial: 0,
    collection: range(depth),
  });
  await expectEdge(LIMITS.renderDepth, wrapped, 'bad request');
  expect(await outcome(createTestEngine(), wrapped(100_000))).toEqual({ refused: 'bad request' });
});

test('an answer with too many characters is refused', async () => {
  // In JSON, each character takes six characters. The array has two brackets and a comma, each text two quotes.
  const control = (count: number): Query => ({
    repeat: { repeat: '\u0001', number: 1023 },
    number: count,
  });
  const count = Math.floor((LIMITS.answerChars - 4) / (1023 * 6));
  const rest = LIMITS.answerChars - 4 - 3 - count * 1023 * 6;
  const queryOf = (chars: number): Query => {
    const parts = range(Math.floor(count / 1000)).map(() => control(1000));
    return [
      { concat: [...parts, control(count % 1000)] },
      'a'.repeat(chars - (LIMITS.answerChars - rest)),
    ];
  };
  await expectEdge(LIMITS.answerChars, queryOf, 'limit_exceeded');
});

test('calls that are nested too deeply end in a stack overflow error', async () => {
  const nested = (depth: number): Query => {
    let query: Query = 0;
    for (let level = 0; level < depth; level += 1) query = forEach(query, [0]);
    return query;
  };
  const deepest = range(LIMITS.callDepth).flatMap(() => ['map', 'expr']);
  const position = JSON.stringify([...deepest, 'map']);
  await expectEdge(LIMITS.callDepth, nested, `stack overflow at ${position}`);

  const engine = createTestEngine();
  const isDone = { equals: [v('n'), 0] };
  const expr = { or: [isDone, { call: 'down', arguments: { subtract: [v('n'), 1] } }] };
  const body = { query: { lambda: 'n', expr } };
  await outcome(engine, {
    create_function: obj({ name: 'down', body: { query: { lambda: 'n', expr: true } } }),
  });
  await outcome(engine, { update: { function: 'down' }, params: obj({ body }) });
  const down = (n: number) => ({ call: 'down', arguments: n - 1 });
  expect(await outcome(engine, down(LIMITS.callDepth))).toHaveProperty('resource');
  expect(await outcome(engine, down(LIMITS.callDepth + 1))).toMatchObject({
    refused: expect.stringMatching(/^stack overflow/),
  });
});

test('a query that takes too many steps is refused', async () => {
  // `foreach`, its lambda and `now` take one step each.
  const queryOf = (steps: number): Query => {
    const [elements, calls] = [1000, 597];
    const most = 1 + elements * (1 + calls);
    const each = { do: same(calls, { now: null }) };
    const collection = range(elements);
    const loop = { foreach: { lambda: '_', expr: each }, collection };
    return {
      do: [loop, ...same(steps - most, { now: null }), 0],
    };
  };
  await expectEdge(LIMITS.evaluationSteps, queryOf, 'bad request');
});

test('a query that exceeds its time limit ends with status 503', async () => {
  const started = 1_800_000_000_000_000;
  const timeoutMs = 1000;
  const ask = async (tookMicros: number) => {
    let looks = 0;
    const engine = createTestEngine({
      clock: () => (looks++ === 0 ? started : started + tookMicros),
    });
    const query = JSON.stringify(forEach(v('x'), range(5000)));
    return (await askText(engine, query, '4', timeoutMs)).status;
  };
  expect(await ask(timeoutMs * 1000)).toBe(200);
  expect(await ask(timeoutMs * 1000 + 1)).toBe(503);
});

test('a text with too many characters is refused', async () => {
  const queryOf = (chars: number) => ({ length: longText(chars) });
  await expectEdge(LIMITS.textChars, queryOf, 'invalid argument at ["length","in"]');
});

test('a query whose values take too many bytes is refused', async () => {
  const memory = new MemoryBudget({ spend: () => undefined });
  memory.take(LIMITS.queryBytes);
  expect(() => memory.ask(1)).toThrow('bytes');
  expect(() => memory.take(1)).toThrow('bytes');
  // `let` keeps all values that it binds. Memory of intermediate values of a lambda is released.
  const texts = (count: number): Query => ({
    let: range(count).map((n) => ({ [`t${n}`]: longText(1024 * 1024 * 4) })),
    in: 0,
  });
  expect(await outcome(createTestEngine(), texts(15))).toEqual({ resource: 0 });
  expect(await outcome(createTestEngine(), texts(16))).toEqual({ refused: 'limit_exceeded' });
  const loop = forEach({ length: longText(1024 * 1024 * 4) }, range(32));
  expect(await outcome(createTestEngine(), loop)).toEqual({ resource: same(32, 4_194_304) });
});

test('repeat, space and findstrregex reduce a count above their limit to the limit', async () => {
  const most = LIMITS.repeatMax;
  const engine = createTestEngine();
  const long = 'a'.repeat(most + 1);
  const found = { count: { findstrregex: long, pattern: 'a', num_results: most + 1 } };
  for (const count of [most, most + 1]) {
    const repeated = { length: { repeat: 'a', number: count } };
    expect(await outcome(engine, [repeated, { length: { space: count } }, found])).toEqual({
      resource: [most, most, most],
    });
  }
});

test('a regular expression or a searched text that is too long is refused', async () => {
  const search = (pattern: string): Query => ({ findstrregex: 'a', pattern });
  const most = LIMITS.regexPatternChars;
  await expectEdge(most, (n) => search('a'.repeat(n)), 'invalid argument at ["pattern"]');
  const subject = (chars: number) => ({ containsstrregex: longText(chars), pattern: 'b' });
  await expectEdge(LIMITS.regexSubjectChars, subject, 'invalid argument at []');
});

test('a format with too large a width or precision is refused', async () => {
  const refused = 'invalid argument at ["format"]';
  const width = (n: number) => ({ format: `%${n}s`, values: 'a' });
  await expectEdge(LIMITS.formatWidthChars, width, refused);
  const precision = (n: number) => ({ format: `%.${n}f`, values: { to_double: 1 } });
  await expectEdge(LIMITS.formatPrecisionDigits, precision, refused);
  expect(await outcome(createTestEngine(), width(999_999_999))).toEqual({ refused });
});

test('ngram refuses sizes that differ by more than one', async () => {
  const grams = (difference: number) => ({ ngram: 'abc', min: 1, max: 1 + difference });
  await expectEdge(1, grams, 'invalid argument at []');
});

test('a union of too many sets is refused', async () => {
  const engine = createTestEngine();
  const union = (sets: number): Query => ({
    let: { one: { singleton: { collection: 'c' } } },
    in: { count: { union: longArray(sets - 1, v('one')) } },
  });
  await outcome(engine, { create_collection: obj({ name: 'c' }) });
  await expectEdge(LIMITS.setsMax, union, 'bad request', engine);
});

test('every function gives a result or a coded error for deeply nested values', async () => {
  const engine = createTestEngine();
  await outcome(engine, { create_collection: obj({ name: 'c' }) });
  const field = obj({ field: ['data', 'a'], mva: false });
  const source = { collection: 'c' };
  await outcome(engine, { create_index: obj({ name: 'by', source, terms: [field] }) });
  await outcome(engine, { create_index: obj({ name: 'all', source, values: [field] }) });
  const [a, b] = [v('a'), v('b')];
  const walks: readonly Query[] = [
    a,
    { equals: [a, b] },
    { lt: [a, b] },
    { max: [a, b] },
    { distinct: [a, b] },
    { union: [[a], [b]] },
    { contains_value: a, in: [b] },
    { select_all: [], from: a },
    { format: '%^', values: [a] },
    { do: [{ create: source, params: obj({ data: obj({ a }) }) }, 0] },
    { exists: { match: { index: 'by' }, terms: [a] } },
    { paginate: { match: { index: 'all' } }, after: [a] },
    { paginate: { range: { match: { index: 'all' } }, from: [a], to: [b] } },
    { call: 'none', arguments: a },
    { query: { lambda: '_', expr: a } },
    { merge: obj({}), with: obj({ a }) },
  ];
  const item = { arrays: [v('x')], objects: obj({ k: v('x') }) };
  for (const depth of [LIMITS.jsonDepth - 2, LIMITS.renderDepth - 2, 3000, 50_000]) {
    for (const wrapped of Object.values(item)) {
      const nested = {
        reduce: { lambda: ['x', '_'], expr: wrapped },
        initial: 0,
        collection: v('times'),
      };
      for (const walk of walks) {
        const bindings = [
          { times: range(depth) },
          { a: nested },
          { b: depth > 3000 ? [a] : nested },
        ];
        const found = await outcome(engine, { let: bindings, in: walk });
        expect(found).not.toEqual({ refused: 'internal server error' });
      }
    }
  }
  expect(await outcome(engine, { add: [1, 1] })).toEqual({ resource: 2 });
});

test('an answer lists a limited number of faults, however many the query has', async () => {
  const engine = createTestEngine();
  const repeated = (part: string): string => same(3000, part).join(',');
  for (const text of [
    `[${repeated('{"var":"nobody"}')}]`,
    `{"let":[${repeated('{"a":{"bad":1}}')}],"in":1}`,
    `{"let":[${repeated('7')}],"in":1}`,
    `[${repeated('{"add":["a","b"]}')}]`,
  ]) {
    const { status, faults } = await askText(engine, text);
    expect(status).toBe(400);
    expect(faults?.length).toBe(LIMITS.faults);
  }
});
