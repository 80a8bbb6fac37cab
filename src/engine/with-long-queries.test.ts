/** Queries that take longer than a turn are executed by another engine, which holds no transaction while it evaluates. */
import { expect, test } from 'vitest';
import { QueryFailure } from '../errors.ts';
import { TurnOver } from '../query/turn-over.ts';
import { LIMITS } from '../limits.ts';
import { NeedCollector } from '../query/collect-needs.ts';
import { createMemoryStore } from '../store/memory.ts';
import type { Store } from '../store/port.ts';
import { Suspended } from '../store/reader.ts';
import type { LongQueries, QueryAnswer } from './context/host.ts';
import { withLongQueries } from './with-long-queries.ts';
import { detachedExecutions } from './transactions/detached.ts';
import { coll, EngineWorld, obj, ROOT } from './testing/engine-world.ts';

type Sent = Parameters<LongQueries['execute']>[0];

/** A query of several thousand steps. */
const long = (then: unknown) => ({
  do: [{ map: { lambda: 'i', expr: { add: [{ var: 'i' }, 1] } }, collection: numbers(2000) }, then],
});
const numbers = (count: number): readonly number[] => Array.from({ length: count }, (_, i) => i);
const create = (id: string) => ({ create: { ref: coll('notes'), id }, params: obj({}) });

/** A clock that advances by a millisecond with each reading. */
function ticking(): () => number {
  let now = 1_767_225_600_000_000;
  return () => (now += 1000);
}

/** @param turnMs turn of all executions of a query together */
async function openWith(turnMs: number) {
  const store = createMemoryStore();
  const clock = ticking();
  const sent: Sent[] = [];
  const other = new EngineWorld(store, { clock, detached: detachedExecutions });
  const execute = (request: Sent): Promise<QueryAnswer> => {
    sent.push(request);
    return other.engine.query(request);
  };
  const told: number[] = [];
  const recordTime = (_: unknown, ms: number) => void told.push(ms);
  const left = (_: unknown, turn?: { readonly evaluatedMs?: number }) =>
    turnMs - (turn?.evaluatedMs ?? 0);
  const longQueries = { whenFree: () => undefined, turnMs: left, recordTime, execute };
  const world = new EngineWorld(store, { clock });
  const engine = withLongQueries(world.engine, longQueries, clock);
  const ask = (query: unknown, secret = ROOT) =>
    engine.query({ secret, query: JSON.stringify(query), apiVersion: '4', allows: 'write' });
  await ask({ create_collection: obj({ name: 'notes' }) });
  return { ask, sent, told };
}

test('a query that exceeds its turn is executed once by the other engine, with its time of arrival', async () => {
  const { ask, sent } = await openWith(1);
  expect(await ask(long(create('1')))).toMatchObject({ status: 201 });
  expect(sent).toHaveLength(1);
  expect(sent[0]?.arrived).toBeGreaterThan(1_767_225_600_000_000);
  expect((await ask(create('1'))).body).toContain('instance already exists');
  expect((await ask({ count: { documents: coll('notes') } })).body).toBe('{"resource":1}');
  expect(sent).toHaveLength(1);
});

test('a query that ends within its turn is not sent to the other engine', async () => {
  const { ask, sent } = await openWith(1000);
  expect(await ask(long(create('1')))).toMatchObject({ status: 201 });
  expect(sent).toEqual([]);
});

test('the time of each execution is recorded, also for queries that are sent to the other engine', async () => {
  const { ask, sent, told } = await openWith(2);
  told.length = 0;
  await ask(long(1));
  expect(sent).toHaveLength(1);
  // The clock is read five times: twice before the turn begins, twice in it, and once at its end.
  expect(told).toEqual([5]);
});

test('all executions of a query together have one turn', async () => {
  /** The id that is read depends on whether another document was found, so each read causes another execution. */
  const then = (id: string, before: object) => ({
    let: [{ found: { to_string: before } }, { x: long(1) }],
    in: {
      exists: {
        ref: coll('notes'),
        id: { select: [{ var: 'found' }], from: obj({ false: id }) },
      },
    },
  });
  const first = { exists: { ref: coll('notes'), id: '1' } };
  const query = then('4', then('3', then('2', first)));
  const within = await openWith(100);
  within.told.length = 0;
  await within.ask(query);
  const { told } = within;
  expect(within.sent).toEqual([]);
  expect(told.length).toBeGreaterThan(4);
  const sum = told.reduce((a, b) => a + b);
  // Each execution is shorter than the turn, but all of them together are not.
  const over = await openWith(Math.max(...told) + 1);
  expect(sum).toBeGreaterThan(Math.max(...told) + 2);
  await over.ask(query);
  expect(over.sent).toHaveLength(1);
});

test('of concurrent writes, only slow ones are sent to the other engine', async () => {
  const { ask, sent } = await openWith(1);
  const queries = numbers(12).map((i) => (i % 3 === 0 ? long(create(`${i}`)) : create(`${i}`)));
  const answers = await Promise.all(queries.map((query) => ask(query)));
  expect(answers.map(({ status }) => status)).toEqual(queries.map(() => 201));
  expect(sent).toHaveLength(4);
});

test('faults, predicates and calls do not hide the end of a turn', async () => {
  const { ask, sent } = await openWith(1);
  await ask(create('1'));
  await ask({
    create_function: obj({ name: 'f', body: { query: { lambda: '_', expr: long(1) } } }),
  });
  for (const query of [
    [long(1), { abort: 'no' }],
    obj({ a: { abort: 'no' }, b: long(1) }),
    { filter: { lambda: '_', expr: { equals: [long(1), 1] } }, collection: [1, 2] },
    { call: 'f', arguments: 1 },
    {
      paginate: {
        filter: { lambda: '_', expr: { equals: [long(1), 1] } },
        collection: { documents: coll('notes') },
      },
    },
  ]) {
    sent.length = 0;
    await ask(query);
    expect(sent, JSON.stringify(query).slice(0, 80)).toHaveLength(1);
  }
});

test('NeedCollector passes on the end of a turn instead of collecting further needs', () => {
  const collector = new NeedCollector();
  collector.add(new Suspended([]));
  // Other errors that parts throw are ignored.
  collector.add(new QueryFailure([]));
  expect(() => collector.add(new TurnOver())).toThrow(TurnOver);
});

test('a long text is sent to the other engine unparsed, but only with a valid secret', async () => {
  const { ask, sent } = await openWith(1000);
  const query = 'x'.repeat(LIMITS.longTextChars + 1);
  expect((await ask(query, 'of nobody')).status).toBe(401);
  expect(sent).toEqual([]);
  expect((await ask(query)).body).toBe(JSON.stringify({ resource: query }));
  expect(sent).toHaveLength(1);
});

test.each([
  { canWait: true, each: 'fetched, waited' },
  { canWait: false, each: 'fetched' },
])(
  'after a fetch, a read waits for its turn if its transaction can wait: $canWait',
  async (example) => {
    const { canWait, each } = example;
    const inner = createMemoryStore();
    const filled = new EngineWorld(inner);
    await filled.ask({ create_collection: obj({ name: 'notes' }) });
    await filled.ask(create('1'));
    const events: string[] = [];
    const store: Store = {
      ...inner,
      read: (body, options) =>
        inner.read((tx) => {
          const fetch: typeof tx.fetch = (...request) => {
            events.push('fetched');
            return tx.fetch(...request);
          };
          return body({ canWait, fetch });
        }, options),
    };
    const clock = ticking();
    const longQueries: LongQueries = {
      whenFree: () => Promise.resolve().then(() => void events.push('waited')),
      turnMs: () => Infinity,
      execute: () => Promise.reject(new Error('no query is long here')),
    };
    const engine = withLongQueries(new EngineWorld(store, { clock }).engine, longQueries, clock);
    const query = JSON.stringify({ get: { ref: coll('notes'), id: '1' } });
    const request = { secret: ROOT, query, apiVersion: '4', allows: 'read' } as const;
    expect(await engine.query(request)).toMatchObject({ status: 200 });
    const fetches = events.filter((event) => event === 'fetched');
    expect(fetches.length).toBeGreaterThan(1);
    expect(events.join(', ')).toBe(['waited', ...fetches.map(() => each)].join(', '));
  },
);

test('detachedExecutions evaluates only while no transaction of the store is open', async () => {
  const inner = createMemoryStore();
  const plain = new EngineWorld(inner);
  await plain.ask({ create_collection: obj({ name: 'notes' }) });
  for (const id of ['1', '2', '3']) await plain.ask(create(id));
  let open = 0;
  let looks = 0;
  const whileOpen: number[] = [];
  const counted = async <T>(run: () => Promise<T>): Promise<T> => {
    open += 1;
    try {
      return await run();
    } finally {
      open -= 1;
    }
  };
  const store: Store = {
    read: (body, options) => counted(() => inner.read(body, options)),
    write: (body, options) => counted(() => inner.write(body, options)),
    close: () => inner.close(),
  };
  const clock = ticking();
  const watched = (): number => {
    looks += 1;
    whileOpen.push(open);
    return clock();
  };
  const world = new EngineWorld(store, { clock: watched, detached: detachedExecutions });
  const get = (id: string) => ({ get: { ref: coll('notes'), id } });
  const query = { let: [{ a: long(get('1')) }, { b: long(get('2')) }], in: long(create('4')) };
  const answer = await world.engine.query({
    secret: ROOT,
    query: JSON.stringify(query),
    apiVersion: '4',
    allows: 'write',
    timeoutMs: 100_000,
  });
  expect(answer).toMatchObject({ status: 201 });
  expect(looks).toBeGreaterThan(10);
  expect(Math.max(...whileOpen)).toBe(0);
});
