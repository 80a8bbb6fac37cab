import { inspect } from 'node:util';
import { expect, test } from 'vitest';
import { QueryFailure } from '../../errors.ts';
import { LIMITS } from '../../limits.ts';
import { parseLongQuery, parseQuery } from '../../query/parse.ts';
import { longTextReader } from './long-texts.ts';
import { RandomSource, seedOf } from '../testing/random-source.ts';
import { askText, createTestEngine, openFuzzWorld } from '../testing/fuzz-world.ts';
import { QueryMaker } from '../testing/query-maker.ts';
import { textOf } from '../testing/query-text.ts';

const SEED = seedOf('BURROW_FUZZ_SEED');

/** The text of a tree. Trees contain functions, which `inspect` shows by name. */
const shape = (tree: unknown): string => inspect(tree, { depth: Infinity, maxArrayLength: null });

const outcome = async (read: () => unknown): Promise<string> => {
  try {
    return shape(await read());
  } catch (reason) {
    if (!(reason instanceof QueryFailure)) throw reason;
    return shape(reason.faults);
  }
};

const repeated = (part: string, times: number): string =>
  Array.from({ length: times }, () => part).join(',');

test(`parseLongQuery() gives the same result as parseQuery(), however small its slices (BURROW_FUZZ_SEED=${SEED})`, async () => {
  let turns = 0;
  const pause = async (): Promise<void> => void (turns += 1);
  let long = 0;
  for (let n = 0; n < 1500; n += 1) {
    const random = new RandomSource(SEED + n);
    const text = textOf(new QueryMaker(random).query());
    // One more than the depth of the query: the smallest slice in which each turn makes progress.
    const parts = Math.max(...depthsOf(text)) + 1;
    const detail = `case ${n} of seed ${SEED}: ${text}`;
    turns = 0;
    const inTurns = await outcome(() =>
      parseLongQuery(text, '4', pause, { chars: text.length, parts }),
    );
    expect(inTurns, detail).toBe(await outcome(() => parseQuery(text, '4')));
    if (turns > 1) long += 1;
  }
  expect(long).toBeGreaterThan(100);
});

/** The nesting depth at each bracket of a text, including brackets inside strings. */
function depthsOf(text: string): readonly number[] {
  let depth = 0;
  const depths = [0];
  for (const char of text) {
    if (char === '{' || char === '[') depth += 1;
    if (char === '}' || char === ']') depth -= 1;
    depths.push(depth);
  }
  return depths;
}

test('parseLongQuery() finds captured and unbound variables across its slices', async () => {
  const pause = () => Promise.resolve();
  const uses = repeated('{"add":[{"var":"a"},{"var":"b"}]}', 50);
  const inner = `{"lambda":"x","expr":[${uses},{"var":"x"}]}`;
  const closed = `{"@query":{"lambda":"y","expr":[${repeated('[{"var":"y"}]', 50)}]}}`;
  for (const text of [
    `{"let":[{"a":1},{"b":[${repeated('[]', 40)}]}],"in":{"map":${inner},"collection":[${uses}]}}`,
    `[${uses}]`,
    `{"query":${inner}}`,
    `[${closed},${closed.replaceAll('"y"}]', '"z"}]')}]`,
    `{"let":[${repeated('{"a":{"bad":1}}', 100)},{"c":${closed}}],"in":{"quote":[${repeated('{"@set":{"documents":{"@ref":{"id":"keys"}}}}', 60)}]}}`,
  ])
    for (const parts of [12, 17, 40])
      expect(await outcome(() => parseLongQuery(text, '4', pause, { chars: 99, parts }))).toBe(
        await outcome(() => parseQuery(text, '4')),
      );
});

test('parseLongQuery() accepts queries nested as deeply as JSON may be', async () => {
  const depth = LIMITS.jsonDepth - 4;
  const pause = () => Promise.resolve();
  for (const [open, close] of [
    ['{"not":', '}'],
    ['{"object":{"a":', '}}'],
    ['[', ']'],
    ['{"quote":', '}'],
  ] as const) {
    const levels = open.startsWith('{"object') ? depth / 2 : depth;
    const text = `${open.repeat(levels)}true${close.repeat(levels)}`;
    const read = parseLongQuery(text, '4', pause, { chars: 100, parts: LIMITS.jsonDepth });
    expect((await read).kind, open).toMatch(/call|constant/);
  }
});

test('an engine answers other queries while it parses a long one, and parses one long query at a time', async () => {
  let turns = 0;
  let isReading = false;
  const pauseOnce = async (): Promise<void> => {
    expect(isReading).toBe(false);
    isReading = true;
    await new Promise((resolve) => setImmediate(resolve));
    isReading = false;
    turns += 1;
  };
  const engine = createTestEngine({ readLong: longTextReader(pauseOnce) });
  const text = `[${repeated('{"object":{"a":[1,{"add":[1,2]}]}}', 40_000)}]`;
  const long = [askText(engine, text, '4', 60_000), askText(engine, text, '4', 60_000)];
  const state = { isAnswered: false };
  void Promise.race(long).then(() => (state.isAnswered = true));
  let between = 0;
  for (; !state.isAnswered; between += 1) {
    expect((await askText(engine, '{"add":[1,2]}')).status).toBe(200);
    await new Promise((resolve) => setImmediate(resolve));
  }
  const [first, second] = await Promise.all(long);
  expect([first?.status, second?.status]).toEqual([200, 200]);
  const perQuery = text.length / LIMITS.sliceChars + (40_000 * 4) / LIMITS.sliceParts;
  expect(turns).toBeGreaterThanOrEqual(2 * Math.floor(perQuery));
  expect(between).toBeGreaterThanOrEqual(Math.floor(perQuery));
});

test('a long query without a valid secret is not parsed', async () => {
  let turns = 0;
  const engine = createTestEngine({
    readLong: longTextReader(async () => void (turns += 1)),
  });
  const query = `[${repeated('{"bad":1}', 20_000)}]`;
  for (const secret of [undefined, 'nobody'])
    expect((await engine.query({ secret, query, apiVersion: '4', allows: 'write' })).status).toBe(
      401,
    );
  expect(turns).toBe(0);
  expect((await askText(engine, query)).status).toBe(400);
  expect(turns).toBeGreaterThan(0);
});

test('an answer lists a limited number of faults, however many the query has', async () => {
  const world = await openFuzzWorld();
  for (const text of [
    `[${repeated('{"var":"nobody"}', 3000)}]`,
    `{"let":[${repeated('{"a":{"bad":1}}', 3000)}],"in":1}`,
    `{"let":[${repeated('7', 3000)}],"in":1}`,
    `[${repeated('{"add":["a","b"]}', 3000)}]`,
  ]) {
    const { status, faults } = await askText(world, text);
    expect(status).toBe(400);
    expect(faults?.length).toBe(LIMITS.faults);
  }
});
