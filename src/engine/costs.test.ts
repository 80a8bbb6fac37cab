/**
 * Checks that the cost of each call covers the time it takes: of each function, the largest call that its cost allows is timed, with the
 * worst known arguments. Times are compared with those of a simple loop, so that they mean the same on a slow machine. The best of several
 * times counts.
 */
import { expect, test } from 'vitest';
import { Refusal } from '../errors.ts';
import { LIMITS } from '../limits.ts';
import { any, param } from '../query/casts.ts';
import { COVERED } from '../query/costs.ts';
import { define } from '../query/define.ts';
import { applyLambda } from '../query/evaluate.ts';
import type { FunctionRow, Parameter } from '../query/function-row.ts';
import { FUNCTION_ROWS } from '../query/table.ts';
import { pureSession, run } from '../query/testing/pure-session.ts';
import { isKind, type Value } from '../values/value.ts';
import { Budget } from './context/budget.ts';
import { coll, EngineWorld, obj, type Query } from './testing/engine-world.ts';
import { longList, longText, range } from './testing/large-values.ts';

test('a function row without a cost does not compile', () => {
  const value = param(any, 'Any');
  expect(define('pure', { value }, COVERED, (args) => args.value)).toMatchObject({ cost: 0 });
  // @ts-expect-error No cost, or no body.
  expect(define('pure', { value }, () => 0)).not.toHaveProperty('cost', 0);
});

// --- values that grow -----------------------------------------------------------------------------

/** Makes a value of `size` characters or elements. */
type Grow = (size: number) => Value;

const textOf =
  (part: string) =>
  (size: number): string =>
    part.repeat(Math.ceil(size / part.length));
const listOf =
  (item: (index: number) => Value): Grow =>
  (length) =>
    Array.from({ length }, (_, index) => item(index));
const objectOf: Grow = (size) => new Map(pairsOf(size));
const pairsOf = (length: number): [string, Value][] =>
  Array.from({ length }, (_, index) => [`key${index}`, index]);
const twice =
  (grow: Grow): Grow =>
  (size) => [grow(size / 2), grow(size / 2)];

const LATIN = textOf('a');
const TEXTS: readonly Grow[] = [LATIN, ...['\u0130', '\u{1f600}', ' '].map(textOf)];
/** Texts that grow most when they are normalized, and combining marks that are reordered. */
const NORMALIZED: readonly Grow[] = [
  textOf('\ufdfa'),
  (size) => `a${textOf('\u0301\u0323')(size)}`,
];
const NUMBERS = listOf((index) => index);
const LISTS: readonly Grow[] = [
  NUMBERS,
  listOf((index) => `text ${index}`),
  listOf((index) => new Map([['a', index]])),
];
const TRUTHS = listOf(() => true);
const LARGE_NUMBERS = listOf((index) => 2n ** 62n - BigInt(index));

/** Large arguments, by type of the parameter. */
const GROWING: Readonly<Record<string, readonly Grow[]>> = {
  String: TEXTS,
  'String*': [LATIN, listOf(String)],
  'Scalar*': [...TEXTS, ...NORMALIZED, listOf(String)],
  Any: [LATIN, textOf('7'), ...LISTS, objectOf, pairsOf],
  'Any*': LISTS,
  'Any+': LISTS.map(twice),
  'Array or Page': LISTS,
  Array: LISTS,
  Iterable: [...LISTS, TRUTHS],
  SetOrArray: LISTS,
  'SetOrArray+': LISTS.map(twice),
  'Number+': [NUMBERS, LARGE_NUMBERS],
  Object: [objectOf],
  'Object*': [
    objectOf,
    twice(objectOf),
    NUMBERS,
    listOf((index) => new Map([[`key${index}`, [index]]])),
  ],
  Path: [listOf(() => 0)],
};

/** Arguments for the other parameters, as wire queries. */
const FIXED: Readonly<Record<string, unknown>> = {
  String: 'b',
  'String*': 'b',
  'Scalar*': 'b',
  Any: 1,
  'Any*': [1],
  'Array or Page': [1],
  Array: [1],
  Object: { object: { a: 1 } },
  'Object*': { object: { a: 1 } },
  Path: [0],
  Regex: '(a|b)*\\W$',
  Lambda: { lambda: 'x', expr: true },
};

const x = { var: 'x' };
const same = { equals: [x, x] };

/** Cases in which two arguments are large, or another pattern is worse. */
const MORE: readonly { readonly query: unknown; readonly grow: readonly Grow[] }[] = [
  ...['containsstr', 'findstr', 'replacestr'].flatMap((name) =>
    [199, 4000].map((length) => ({
      query: {
        [name]: x,
        [name === 'containsstr' ? 'search' : 'find']: `ab${'a'.repeat(length)}`,
        ...(name === 'replacestr' ? { replace: '' } : {}),
      },
      grow: [LATIN],
    })),
  ),
  ...['a', ''].map((find) => ({ query: { replacestr: x, find, replace: 'bc' }, grow: TEXTS })),
  ...['', '[^b]*b', '(\\w|a)+\\b', '\\p{L}*$', '(a?){60}$'].flatMap((pattern) => [
    { query: { findstrregex: x, pattern }, grow: TEXTS.slice(0, 3) },
    { query: { replacestrregex: x, pattern, replace: '$0' }, grow: TEXTS.slice(0, 3) },
  ]),
  { query: { replacestrregex: 'a', pattern: 'a', replace: x }, grow: [LATIN, textOf('$0')] },
  { query: { format: x, values: [] }, grow: ['%n', '%%', 'a'].map(textOf) },
  { query: { format: x, values: ['a'] }, grow: ['%1$.1s', '%1$1024s'].map(textOf) },
  ...['%s', '%S', '%.1^'].map((format) => ({
    query: { format, values: [x] },
    grow: [...TEXTS, ...LISTS],
  })),
  ...['NFC', 'NFKD'].map((normalizer) => ({
    query: { casefold: x, normalizer },
    grow: [LATIN, ...NORMALIZED],
  })),
  { query: { ngram: x, min: 200, max: 201 }, grow: TEXTS.slice(0, 3) },
  { query: { contains_value: 'none', in: x }, grow: [...LISTS, objectOf] },
  { query: { select_all: ['a'], from: x }, grow: LISTS },
  { query: { select_all: Array.from({ length: 20_000 }, () => 'a'), from: x }, grow: LISTS },
  { query: same, grow: [LATIN, ...LISTS, objectOf] },
];

// --- what is timed --------------------------------------------------------------------------------

interface Case {
  readonly name: string;
  readonly query: unknown;
  readonly grow: Grow;
}

const isGrowing = ({ form, type }: Parameter<unknown>): boolean =>
  form !== 'lambda' && Object.hasOwn(GROWING, type);

/** One case for each parameter that accepts a large argument, with small arguments for the others. */
function casesOf(row: FunctionRow): Case[] {
  const parameters = Object.entries(row.form).filter(
    ([, parameter]) => !parameter.optional || isGrowing(parameter),
  );
  return parameters.flatMap(([key, parameter]) => {
    if (!isGrowing(parameter)) return [];
    const others = parameters.filter(([other, { optional }]) => other === key || !optional);
    const query = Object.fromEntries(
      others.map(([other, { type }]) => [other, other === key ? x : (FIXED[type] ?? 1)]),
    );
    const growing = GROWING[parameter.type] ?? [];
    // A function with a constant cost does not process the text, so one case is enough.
    const some =
      row.cost === COVERED && parameter.type === 'String' ? growing.slice(0, 1) : growing;
    return some.map((grow) => ({ name: row.name, query, grow }));
  });
}

const CASES: readonly Case[] = [
  ...FUNCTION_ROWS.filter(({ effect }) => effect !== 'write').flatMap(casesOf),
  ...MORE.flatMap(({ query, grow }) =>
    grow.map((each) => ({ name: JSON.stringify(query).slice(0, 60), query, grow: each })),
  ),
];

/**
 * CPU time of the process, and wall-clock time. The first includes threads of the garbage collector, the second is affected by other
 * processes.
 */
interface Moment {
  readonly cpuMs: number;
  readonly wallMs: number;
}

function now(): Moment {
  const { user, system } = process.cpuUsage();
  return { cpuMs: (user + system) / 1000, wallMs: performance.now() };
}

const msBetween = (a: Moment, b: Moment): number =>
  Math.min(b.cpuMs - a.cpuMs, b.wallMs - a.wallMs);

/** Runs a simple loop as long as one call may take in units of work. Returns its time in ms. */
function msOfCall(): number {
  const turns = LIMITS.callWork / 2;
  let best = Infinity;
  for (let round = 0; round < 3; round += 1) {
    const started = now();
    let sum = 0;
    for (let turn = 0; turn < turns; turn += 1) sum = (Math.imul(sum, 31) + turn) | 0;
    expect(sum).toBeTypeOf('number');
    best = Math.min(best, msBetween(started, now()));
  }
  return 2 * best;
}

/** After so many readings of the clock, the call is stopped: enough gaps have been measured. */
const LOOKS_MAX = 100;
const ENOUGH = new Error('enough');

/** Measures the longest time between two readings of the clock. */
class Gaps {
  longestMs = 0;
  private last = now();
  private looks = 0;
  private readonly most: number;

  constructor(most = LOOKS_MAX) {
    this.most = most;
  }

  begin(): void {
    this.last = now();
  }

  readonly look = (): number => {
    const at = now();
    this.longestMs = Math.max(this.longestMs, msBetween(this.last, at));
    this.last = at;
    this.looks += 1;
    if (this.looks > this.most) throw ENOUGH;
    return 0;
  };
}

interface Ran {
  readonly gapMs: number;
  /** Most units charged at once. */
  readonly units: number;
}

/** Undefined: the call was refused because of its size. */
function ran(query: unknown, argument: Value, looksMax = LOOKS_MAX): Ran | undefined {
  const lambda = run({ query: { lambda: 'x', expr: query } });
  if (!('value' in lambda) || !isKind(lambda.value, 'lambda')) throw new Error('no lambda');
  const gaps = new Gaps(looksMax);
  const budget = new Budget(gaps.look, 0, 1_000_000);
  let most = 0;
  const session = pureSession('4', {
    charge: (steps) => budget.charge(steps),
    spend: (units) => {
      most = Math.max(most, units);
      budget.spend(units);
    },
  });
  // The expression that created the argument has already measured its size.
  if (typeof argument === 'object' && argument !== null) session.memory.weightOf(argument);
  gaps.begin();
  try {
    applyLambda(lambda.value, argument, session);
  } catch (thrown) {
    if (thrown instanceof Refusal) return undefined;
  }
  try {
    gaps.look();
  } catch {
    // The call was stopped.
  }
  return { gapMs: gaps.longestMs, units: most };
}

const PROBE = 1024;
const CHARS_MAX = 2 ** 24;
const NUMBERS_MAX = 2 ** 21;
const ELEMENTS_MAX = 2 ** 17;

interface Timed {
  /** Time as a fraction of what one call may take. */
  readonly ofCall: number;
  readonly size: number;
  readonly of: string;
}

/** Approximate size of the largest argument that is not refused, extrapolated from the cost of a small one. */
function largestSize({ query, grow }: Case): number {
  const small = grow(PROBE);
  const most =
    typeof small === 'string' ? CHARS_MAX : grow === NUMBERS ? NUMBERS_MAX : ELEMENTS_MAX;
  const units = Math.max(ran(query, small)?.units ?? 1, 1);
  return Math.floor(Math.min(most, (PROBE * LIMITS.callWork) / units));
}

const TRIES = 8;

/** Caches the last large value, because adjacent cases use the same one. */
class Grown {
  private grow: Grow | undefined;
  private size = 0;
  private value: Value = null;

  of(grow: Grow, size: number): Value {
    if (this.grow !== grow || this.size !== size) this.value = grow(size);
    this.grow = grow;
    this.size = size;
    return this.value;
  }
}

/**
 * Costs are chosen so that this fraction stays within 1, which is 100 ms if one iteration of the loop takes a nanosecond. Tests fail only
 * above this limit, because loop and call are not disturbed alike. A wrong cost exceeds it by a factor of ten or a thousand.
 */
const OF_CALL_MAX = 3;

function timeOf({ query, grow }: Case, largest: number, callMs: number, grown: Grown): Timed {
  let size = largest;
  let first = ran(query, grown.of(grow, size));
  while (size > PROBE && first === undefined) {
    size = Math.floor(size * 0.7);
    first = ran(query, grown.of(grow, size));
  }
  const argument = grown.of(grow, size);
  let ofCall = (first?.gapMs ?? 0) / callMs;
  // The machine may have become slower, or may have been busy for a moment.
  for (let attempt = 1; attempt < TRIES && ofCall > OF_CALL_MAX; attempt += 1) {
    const nowMs = msOfCall();
    ofCall = Math.min(ofCall, (ran(query, argument)?.gapMs ?? 0) / nowMs);
  }
  return { ofCall, size, of: shown(argument) };
}

test('the largest call that the cost of a function allows takes little time', () => {
  const callMs = msOfCall();
  const found = new Map<string, Timed>();
  const sized = CASES.map((each) => ({ each, size: largestSize(each) }));
  const grows = [...new Set(CASES.map(({ grow }) => grow))];
  sized.sort((a, b) => grows.indexOf(a.each.grow) - grows.indexOf(b.each.grow) || a.size - b.size);
  const grown = new Grown();
  for (const { each, size } of sized) {
    const timed = timeOf(each, size, callMs, grown);
    const before = found.get(each.name);
    if (!before || before.ofCall < timed.ofCall) found.set(each.name, timed);
  }
  const slowest = [...found].sort(([, a], [, b]) => b.ofCall - a.ofCall);
  expect(slowest.filter(([, { ofCall }]) => ofCall > OF_CALL_MAX)).toEqual([]);
});

// --- what queries do often ------------------------------------------------------------------------

const texts = listOf((index) => `text ${index}`);
const merged = { merge: { var: 'all' }, with: { to_object: [[{ var: 'each' }, 1]] } };

/** Queries that must take far less time than a query may take. */
const ALLOWED: Readonly<Record<string, readonly [query: unknown, argument: Value]>> = {
  'a fold that merges 4,000 objects': [
    {
      reduce: { lambda: ['all', 'each'], expr: merged },
      initial: { object: {} },
      collection: x,
    },
    texts(4000),
  ],
  'an object of 100,000 pairs': [{ to_object: x }, pairsOf(100_000)],
  'the conversion of an array of 100,000 elements to an array': [{ to_array: x }, texts(100_000)],
  'a member of 20,000 objects of 1 kB': [
    { select_all: ['n'], from: x },
    listOf(
      (n) =>
        new Map<string, Value>([
          ['n', n],
          ['text', 'x'.repeat(1000)],
        ]),
    )(20_000),
  ],
  'the search for each of 2,000 texts in all of them': [
    {
      count: {
        filter: { lambda: 'each', expr: { contains_value: { var: 'each' }, in: x } },
        collection: x,
      },
    },
    texts(2000),
  ],
};

test.each(Object.entries(ALLOWED))('the work limit allows %s', (_, [query, argument]) => {
  expect(ran(query, argument, Infinity)).toBeDefined();
});

test('weighing the result of a call is charged as work', () => {
  const wide = new Map(pairsOf(30));
  const lambda = run({ query: { lambda: 'x', expr: { append: 1, collection: x } } });
  if (!('value' in lambda) || !isKind(lambda.value, 'lambda')) throw new Error('no lambda');
  const session = pureSession('4');
  applyLambda(lambda.value, listOf(() => wide)(1000), session);
  expect(session.work).toBeGreaterThan(1000 * 30 * 10);
});

test('each set made of a set of sets is charged for all its parts', async () => {
  const w = new EngineWorld();
  await w.ask({ create_collection: obj({ name: 'notes' }) });
  const parts = Array.from({ length: 10_000 }, () => ({ var: 'one' }));
  const unions = (times: number): Query => ({
    let: [{ one: { documents: coll('notes') } }, { all: { union: parts } }],
    in: {
      count: {
        map: {
          lambda: '_',
          expr: { is_set: { union: [{ var: 'all' }, { var: 'all' }] } },
        },
        collection: range(times),
      },
    },
  });
  expect(await w.ask(unions(100))).toBe(100);
  expect(await w.answer(unions(2000))).toMatchObject({
    status: 400,
    body: expect.stringContaining('units of work'),
  });
});

// --- writes ---------------------------------------------------------------------------------------

/**
 * Data of documents of some hundred KiB: a text, numbers, objects, and an object with many fields. Larger documents, up to
 * `LIMITS.documentBytes`, take longer.
 */
const LARGE: Readonly<Record<string, Query>> = {
  text: longText(20),
  'characters of two bytes': longText(19, '\u0130'),
  numbers: longList(17, 1),
  objects: longList(13, obj({ a: 'b', c: [1] })),
  'many members': {
    to_object: {
      map: { lambda: 'n', expr: [{ to_string: { var: 'n' } }, 1] },
      collection: range(2 ** 14),
    },
  },
};

const document: Query = { ref: coll('notes'), id: '1' };
const params = obj({ data: obj({ a: { var: 'large' } }) });
const WRITES: readonly Query[] = [
  { create: coll('notes'), params },
  { update: document, params },
  { replace: document, params },
  { insert: document, ts: 1, action: 'create', params },
  { delete: document },
  { create_collection: obj({ name: 'others', data: obj({ a: { var: 'large' } }) }) },
  { create_key: obj({ role: 'server', data: obj({ a: { var: 'large' } }) }) },
];

test.each(Object.entries(LARGE))(
  'the time between two readings of the clock during a write is short: %s',
  async (_, large) => {
    let gaps = new Gaps(Infinity);
    let look = (): void => undefined;
    const w: EngineWorld = new EngineWorld(undefined, {
      clock: () => {
        look();
        return w.now;
      },
    });
    await w.ask({ create_collection: obj({ name: 'notes' }) });
    await w.ask({ let: { large }, in: { create: document, params } });
    look = () => void gaps.look();
    // Each loop takes enough steps for a reading of the clock.
    const loop = { foreach: { lambda: '_', expr: { now: null } }, collection: range(1024) };
    let callMs = msOfCall();
    for (const write of WRITES) {
      const query = { let: { large }, in: { do: [loop, write, loop, { abort: 'done' }] } };
      let ofCall = Infinity;
      for (let attempt = 0; attempt < TRIES && ofCall > OF_CALL_MAX; attempt += 1) {
        if (attempt > 0) callMs = msOfCall();
        gaps = new Gaps(Infinity);
        expect(await w.fault(query)).toMatchObject({ code: 'transaction aborted' });
        ofCall = Math.min(ofCall, gaps.longestMs / callMs);
      }
      expect(ofCall, JSON.stringify(write)).toBeLessThan(OF_CALL_MAX);
    }
  },
);

test('making the entries of a document in many indexes ends at the size limit of a transaction', async () => {
  let looks = 0;
  const w: EngineWorld = new EngineWorld(undefined, {
    clock: () => {
      looks += 1;
      return w.now;
    },
  });
  await w.ask({ create_collection: obj({ name: 'notes' }) });
  const terms = [obj({ field: ['data', 'tags'] })];
  for (let n = 0; n < 40; n += 1) {
    await w.ask({ create_index: obj({ name: `by_${n}`, source: coll('notes'), terms }) });
  }
  looks = 0;
  const tags = range(2 ** 14);
  const create = { create: coll('notes'), params: obj({ data: obj({ tags }) }) };
  expect(await w.answer(create)).toMatchObject({
    status: 400,
    body: expect.stringContaining('Transaction size exceeds'),
  });
  // One reading for each index, until the size limit is reached.
  expect(looks).toBeGreaterThan(10);
  expect(looks).toBeLessThan(40);
});

function shown(value: Value): string {
  if (typeof value === 'string') return JSON.stringify(value.slice(0, 4));
  const [, second] = value as Iterable<unknown>;
  return String(second).slice(0, 40);
}
