import { expect, test } from 'vitest';
import { Refusal } from '../../errors.ts';
import { createMemoryStore } from '../../store/memory.ts';
import type { Store } from '../../store/port.ts';
import type { Micros } from '../../values/value.ts';
import type { QueryAnswer } from '../context/host.ts';
import { coll, create, doc, EngineWorld, fakeHash, obj, ROOT } from '../testing/engine-world.ts';

const SECOND = 1_000_000;

const note = doc('notes', 1);
const setTo = (n: number) => ({ update: note, params: obj({ data: obj({ n }) }) });
const asOf = (ts: Micros, expr: unknown = { select: ['data', 'n'], from: { get: note } }) => ({
  at: ts,
  expr,
});

const worldOn = async (...options: ConstructorParameters<typeof EngineWorld>) => {
  const world = new EngineWorld(...options);
  await world.ask({ create_collection: obj({ name: 'notes' }) });
  await world.ask(create(note, { n: 1 }));
  return world;
};

/** Like `answer`, with additional fields of the request. The clock does not advance. */
const query = (
  { engine }: EngineWorld,
  text: unknown,
  more: { readonly lastSeenTxn?: Micros; readonly arrived?: Micros } = {},
): Promise<QueryAnswer> =>
  engine.query({
    secret: ROOT,
    query: JSON.stringify(text),
    apiVersion: '4',
    allows: 'write',
    ...more,
  });

/** Password hashing that completes when the test releases it. */
function heldHashing() {
  let release = (): void => undefined;
  let begin = (): void => undefined;
  const released = new Promise<void>((resolve) => (release = resolve));
  const begun = new Promise<void>((resolve) => (begin = resolve));
  const passwords = {
    hash: async (password: string, cost: number) => {
      begin();
      await released;
      return fakeHash(password, cost);
    },
    verify: () => Promise.resolve(true),
  };
  return { passwords, begun, release };
}

test('a write that waited for a hash gets the time of its commit, not of its arrival', async () => {
  const { passwords, begun, release } = heldHashing();
  const world = await worldOn(undefined, { passwords });
  const slow = query(world, {
    let: [{ arrived: { now: null } }],
    in: {
      do: [
        { update: note, params: obj({ data: obj({ n: 2 }), credentials: obj({ password: 'p' }) }) },
        { var: 'arrived' },
      ],
    },
  });
  await begun;
  world.now += 5 * SECOND;
  const seen = (await query(world, { get: note })).txnTime;
  release();
  const { status, txnTime } = await slow;
  expect(status).toBe(200);
  expect(txnTime).toBeGreaterThan(seen);
  expect(await world.ask(asOf(seen))).toBe(1);
});

test('what was read at a time does not change, although the clock of another engine is behind', async () => {
  const behind = await worldOn();
  const ahead = new EngineWorld(behind.store);
  ahead.now = behind.now + 10 * SECOND;
  const { txnTime } = await query(ahead, { now: null });
  expect(await ahead.ask(asOf(txnTime))).toBe(1);
  const later = (await behind.answer(setTo(2))).txnTime;
  expect(later).toBeGreaterThan(txnTime);
  expect(await ahead.ask(asOf(txnTime))).toBe(1);
  expect(await behind.engine.verify()).toEqual([]);
});

const readings: readonly (readonly [string, (ts: Micros) => unknown])[] = [
  ['get with a ts', (ts) => ({ select: ['data', 'n'], from: { get: note, ts } })],
  ['exists', (ts) => asOf(ts, { exists: note })],
  ['a page', (ts) => ({ paginate: { documents: coll('notes') }, ts })],
  ['events', (ts) => asOf(ts, { paginate: { events: note } })],
  ['a count', (ts) => asOf(ts, { count: { documents: coll('notes') } })],
  [
    'a write that writes nothing',
    (ts) => ({
      let: [{ none: { foreach: { lambda: 'x', expr: setTo(3) }, collection: [] } }],
      in: asOf(ts, { exists: note }),
    }),
  ],
  ['a query that fails', (ts) => ({ do: [asOf(ts), { abort: 'after the read' }] })],
];

test.each(readings)(
  '%s at a time gives the same result after later commits',
  async (_, reading) => {
    const behind = await worldOn();
    const ahead = new EngineWorld(behind.store);
    ahead.now = behind.now + 10 * SECOND;
    const ts = ahead.now;
    const shown = (await ahead.answer(reading(ts))).body;
    await behind.answer(setTo(2));
    await behind.answer({ delete: note });
    for (const id of [2, 3]) await behind.answer(create(doc('notes', id), {}));
    expect((await ahead.answer(reading(ts))).body).toBe(shown);
  },
);

test('a read at a time waits for an unfinished commit with an earlier time', async () => {
  const memory = createMemoryStore();
  let reach = (): void => undefined;
  let release = (): void => undefined;
  const reached = new Promise<void>((resolve) => (reach = resolve));
  const released = new Promise<void>((resolve) => (release = resolve));
  let isHeld = false;
  const store: Store = {
    ...memory,
    write: (body, options) =>
      memory.write(async (tx) => {
        const value = await body(tx);
        if (isHeld) {
          reach();
          await released;
        }
        return value;
      }, options),
  };
  const writer = await worldOn(store);
  const reader = new EngineWorld(memory);
  isHeld = true;
  const slow = query(writer, setTo(2));
  await reached;
  reader.now = writer.now + 5 * SECOND;
  const ts = writer.now + SECOND;
  let isShown = false;
  const shown = query(reader, asOf(ts)).then(({ body }) => {
    isShown = true;
    return body;
  });
  // The query must be waiting: one turn of the event loop lets everything else happen.
  await new Promise<void>((resolve) => setImmediate(resolve));
  expect(isShown).toBe(false);
  release();
  expect((await slow).txnTime).toBeLessThan(ts);
  expect(await shown).toBe('{"resource":2}');
  expect((await query(reader, asOf(ts))).body).toBe('{"resource":2}');
});

test('reading at a time commits at most once, and never for a time before the last commit', async () => {
  const world = await worldOn();
  const heads: Micros[] = [];
  world.engine.onCommit(({ ts, rows }) => {
    heads.push(ts);
    expect(rows.filter(({ space }) => space !== 'sync')).toEqual([]);
  });
  const ts = world.now + SECOND;
  world.now += 5 * SECOND;
  for (const past of [ts, ts, ts - 1]) await world.ask(asOf(past));
  await world.ask(asOf(world.now + 60 * SECOND));
  await world.ask({ get: note });
  expect(heads).toEqual([ts]);
});

test('all executions of a query use the same time, although the clock advances between them', async () => {
  const world = await worldOn();
  await world.ask({
    create_index: obj({ name: 'all', source: coll('notes'), values: [obj({ field: ['ts'] })] }),
  });
  let now = world.now;
  // Each reading of the clock is later, so a query that read the clock again in each execution would never end.
  const turning = new EngineWorld(world.store, { clock: () => (now += 1000) });
  const { status, metrics } = await query(turning, {
    let: [
      {
        range: {
          count: { range: { match: { index: 'all' } }, from: [], to: { to_micros: { now: null } } },
        },
      },
    ],
    in: { create: coll('notes'), params: obj({ data: obj({ found: { var: 'range' } }) }) },
  });
  expect([status, metrics.retries]).toEqual([201, 0]);
});

const madeAt = { let: [{ made: { select: 'ts', from: { create: coll('notes') } } }] };
const byN = (...terms: unknown[]) => ({ match: { index: 'by_n' }, terms });

test.each([
  ['the terms of a match', { count: byN({ var: 'made' }) }, 0],
  ['a cursor', { count: { paginate: byN(1), before: [{ var: 'made' }], size: 1 } }, { data: [1] }],
  ['a bound of a range', { count: { range: byN(1), from: [], to: { var: 'made' } } }, 100],
  ['the value of contains_value', { contains_value: { var: 'made' }, in: byN(1) }, false],
])('the commit time in %s is the same in all executions', async (_, read, found) => {
  const world = await worldOn();
  const terms = [obj({ field: ['data', 'n'] })];
  const values = [obj({ field: ['data', 'at'] })];
  await world.ask({
    create_index: obj({ name: 'by_n', source: coll('notes'), terms, values }),
  });
  await world.ask({
    foreach: {
      lambda: 'at',
      expr: { create: coll('notes'), params: obj({ data: obj({ n: 1, at: { var: 'at' } }) }) },
    },
    collection: Array.from({ length: 100 }, (_none, at) => at),
  });
  let now = world.now;
  const clock = () => {
    if (now - world.now > SECOND) throw new Error('executed again and again');
    return (now += 1000);
  };
  const turning = new EngineWorld(world.store, { clock });
  const { status, body } = await query(turning, { ...madeAt, in: read });
  expect([status, JSON.parse(body)]).toMatchObject([200, { resource: found }]);
});

test('X-Last-Seen-Txn moves commit times by at most its limit, however often it is sent', async () => {
  const world = await worldOn();
  for (let i = 0; i < 5; i++)
    await query(world, setTo(i), { lastSeenTxn: Number.MAX_SAFE_INTEGER });
  const { txnTime } = await query(world, { get: note });
  expect(txnTime - world.now).toBeLessThan(61 * SECOND);
});

test('what was read at Now() does not change later', async () => {
  const behind = await worldOn();
  const ahead = new EngineWorld(behind.store);
  ahead.now = behind.now + 10 * SECOND;
  const { txnTime } = await query(ahead, asOf(0, { at: { now: null }, expr: { get: note } }));
  await behind.answer(setTo(2));
  expect(await ahead.ask(asOf(txnTime))).toBe(1);
});

test('a full store still answers queries about the past', async () => {
  const memory = createMemoryStore();
  let isFull = false;
  const store: Store = {
    ...memory,
    write: (body, options) =>
      isFull
        ? Promise.reject(new Refusal('quota_exceeded', 'There is no room.'))
        : memory.write(body, options),
  };
  const world = await worldOn(store);
  isFull = true;
  world.now += 5 * SECOND;
  expect(await world.ask(asOf(world.now))).toBe(1);
});

test('an engine whose clock is behind can read at a time that its caller has already seen', async () => {
  const behind = await worldOn();
  const ahead = new EngineWorld(behind.store);
  ahead.now = behind.now + 10 * SECOND;
  const ts = (await query(ahead, { now: null })).txnTime;
  // Without `lastSeenTxn`, the time would be in the future for this engine, and the query would read the present instead.
  const seen = { lastSeenTxn: ts };
  expect((await query(behind, asOf(ts), seen)).body).toBe('{"resource":1}');
  await query(behind, setTo(2));
  expect((await query(behind, asOf(ts))).body).toBe('{"resource":1}');
});
