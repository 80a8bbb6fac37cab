import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import type { Key } from '../../codec/key.ts';
import { Refusal } from '../../errors.ts';
import { FailingStore } from '../../store/testing/failing-store.ts';
import { Overlay } from '../../store/overlay.ts';
import type { EntrySpace } from '../../store/port.ts';
import { EngineWorld, coll, create, doc, obj } from '../testing/engine-world.ts';
import { NATIVE } from '../../values/native-kinds.ts';

const DAY = 86_400 * 1_000_000;
const MINUTE = 60 * 1_000_000;

/** Makes a commit, which advances the time that background jobs use. */
const touch = (w: EngineWorld) => w.ask({ create_role: obj({ name: `r${w.now}` }) });

const later = async (w: EngineWorld, micros: number): Promise<void> => {
  w.now += micros;
  await touch(w);
};

const isOfUsers = (collection: number) => collection >= 1024;

async function rows(
  w: EngineWorld,
  space: EntrySpace,
  isCounted: (collection: number) => boolean = isOfUsers,
): Promise<number> {
  const bounds = { lower: '' as Key, upper: '\xff' as Key, limit: 100_000, reverse: false };
  const { ranges } = await w.store.read((tx) =>
    tx.fetch([], [{ space, by: 'key', rows: false, ...bounds }]),
  );
  const numbers = (ranges[0] ?? []).map(({ key }) =>
    Array.from(key.slice(4, 8)).reduce((sum, byte) => sum * 256 + byte.charCodeAt(0), 0),
  );
  return numbers.filter(isCounted).length;
}

const collect = (w: EngineWorld): Promise<number> => w.engine.collectExpiredData();

const ref = doc('notes', 1);
const put = (n: number, more: Record<string, unknown> = {}) => create(ref, { n }, more);
const update = (n: number) => ({ update: ref, params: obj({ data: obj({ n }) }) });
const notes = (w: EngineWorld, history_days: number | null = 1) =>
  w.ask({ create_collection: obj({ name: 'notes', history_days }) });

test('collectExpiredData() keeps all versions that can still be read, also the one valid at the limit of retention', async () => {
  const w = new EngineWorld();
  await notes(w);
  await w.ask(put(1));
  await w.ask(update(2));
  w.now += DAY;
  const { txnTime: edge } = await w.answer(update(3));
  await w.ask(update(4));
  expect(await rows(w, 'history')).toBe(3);
  await later(w, 30 * MINUTE);
  // Version 2 is valid at the start of the retained time.
  const events = await w.events(ref);
  expect(await collect(w)).toBe(1);
  expect(await rows(w, 'history')).toBe(2);
  expect(await w.events(ref)).toEqual(events);
  expect(await w.ask({ select: ['data', 'n'], from: { get: ref, ts: edge - 1 } })).toBe(2);
  await later(w, 2 * DAY);
  await collect(w);
  expect(await rows(w, 'history')).toBe(0);
  expect(await w.events(ref)).toEqual([['create', { n: 4 }]]);
  expect(await w.engine.verify()).toEqual([]);
});

test('collectExpiredData() removes nothing from a collection with unlimited history', async () => {
  const w = new EngineWorld();
  await w.ask({ create_collection: obj({ name: 'notes', history_days: null }) });
  await w.ask(put(1));
  await w.ask(update(2));
  await later(w, 4000 * DAY);
  await collect(w);
  expect(await rows(w, 'history')).toBe(1);
});

test('collectExpiredData() removes a deleted document and its deletion when both are past retention', async () => {
  const w = new EngineWorld();
  await notes(w);
  await w.ask(put(1));
  await w.ask({ delete: ref });
  await later(w, DAY);
  await collect(w);
  expect(await rows(w, 'history')).toBe(2);
  await later(w, DAY);
  await collect(w);
  expect([await rows(w, 'history'), await rows(w, 'documents')]).toEqual([0, 0]);
  expect(await w.events(ref)).toEqual([]);
});

test('an expired document is invisible at once; its events and rows go when its ttl is past retention', async () => {
  const w = new EngineWorld();
  await notes(w);
  const ttl = { epoch: Math.floor(w.now / 1e6) + 60, unit: 'second' };
  await w.ask(put(1, { ttl }));
  await w.ask(update(2));
  await later(w, 10 * MINUTE);
  await collect(w);
  expect(await w.ask({ exists: ref })).toBe(false);
  expect(await w.events(ref)).toEqual([
    ['create', { n: 1 }],
    ['update', { n: 2 }],
  ]);
  expect(await w.events({ documents: coll('notes') })).toEqual([['add', undefined]]);
  await later(w, DAY + 30 * MINUTE);
  expect(await w.events(ref)).toEqual([]);
  expect(await rows(w, 'documents')).toBe(1);
  await collect(w);
  expect([await rows(w, 'documents'), await rows(w, 'history')]).toEqual([0, 0]);
  expect(await w.events(ref)).toEqual([]);
  await w.ask(put(3));
  expect(await w.events(ref)).toEqual([['create', { n: 3 }]]);
  expect(await w.engine.verify()).toEqual([]);
});

test('collectExpiredData() removes an expired document together with its long history', async () => {
  const w = new EngineWorld();
  await notes(w, 0);
  await w.ask(put(0, { ttl: { epoch: Math.floor(w.now / 1e6) + 900, unit: 'second' } }));
  for (let n = 1; n < 700; n += 1) await w.ask(update(n));
  expect([await rows(w, 'documents'), await rows(w, 'history')]).toEqual([1, 699]);
  await later(w, 90 * MINUTE);
  expect(await collect(w)).toBe(700);
  expect([await rows(w, 'documents'), await rows(w, 'history')]).toEqual([0, 0]);
  expect([await w.events(ref), await w.events({ documents: coll('notes') })]).toEqual([[], []]);
  expect(await w.engine.verify()).toEqual([]);
});

test('expired keys and tokens are removed when their ttl is past retention', async () => {
  const w = new EngineWorld();
  await notes(w);
  await w.ask(put(1));
  const ttl = { epoch: Math.floor(w.now / 1e6) + 60, unit: 'second' };
  await w.ask({ create_key: obj({ role: 'server', ttl }) });
  await w.ask({ create: { tokens: null }, params: obj({ instance: ref, ttl }) });
  await w.ask({ create: { tokens: null }, params: obj({ instance: ref }) });
  const secrets: readonly number[] = [NATIVE.keys, NATIVE.tokens];
  const stored = () => rows(w, 'documents', (collection) => secrets.includes(collection));
  await later(w, 20 * DAY);
  await collect(w);
  expect(await stored()).toBe(3);
  await later(w, 20 * DAY);
  await collect(w);
  expect(await stored()).toBe(1);
  expect(await w.ask({ count: { documents: { tokens: null } } })).toBe(1);
});

test('rows of a deleted collection are invisible at once, also in a new collection of its name, and removed later', async () => {
  const w = new EngineWorld();
  const all = obj({
    name: 'all',
    source: '_',
    terms: obj({ field: ['data', 'n'] }),
    unique: true,
  });
  await w.ask({ create_index: all });
  await notes(w);
  await w.ask({
    map: { lambda: 'n', expr: create(coll('notes'), { n: { var: 'n' } }) },
    collection: Array.from({ length: 700 }, (_, i) => i),
  });
  await w.ask(put(1000));
  await w.ask(update(1001));
  await w.ask({ delete: coll('notes') });
  const found = { match: { index: 'all' }, terms: 7 };
  const look = async () => [
    await w.ask({ count: found }),
    await w.page({ paginate: found }),
    await w.events(found),
    await w.ask({ count: { documents: coll('notes') } }),
    await w.ask({ exists: ref }),
    await w.events(ref),
  ];
  await notes(w);
  const empty = [0, [], [], 0, false, []];
  expect(await look()).toEqual(empty);
  // Its unique values are free again.
  await w.ask(create(coll('notes'), { n: 8 }));
  expect(await rows(w, 'documents')).toBeGreaterThan(700);
  await collect(w);
  expect([await rows(w, 'documents'), await rows(w, 'history')]).toEqual([1, 0]);
  expect(await look()).toEqual(empty.with(3, 1));
  expect(await w.engine.verify()).toEqual([]);
});

test('entries of a deleted index are removed from the rows, and entries of other indexes stay', async () => {
  const w = new EngineWorld();
  const index = (name: string) =>
    w.ask({
      create_index: obj({ name, source: coll('notes'), values: obj({ field: ['data', 'n'] }) }),
    });
  await notes(w);
  await index('gone');
  await index('kept');
  await w.ask({
    map: { lambda: 'n', expr: create(coll('notes'), { n: { var: 'n' } }) },
    collection: Array.from({ length: 400 }, (_, i) => i),
  });
  await w.ask(put(1000));
  const kept = await w.page({ paginate: { match: { index: 'kept' } }, size: 1000, sources: false });
  await w.ask(update(-1));
  await w.ask({ delete: { index: 'gone' } });
  expect(await w.fault({ paginate: { match: { index: 'gone' } } })).toMatchObject({
    code: 'invalid ref',
  });
  await index('gone');
  expect(await w.fault({ paginate: { match: { index: 'gone' } } })).toMatchObject({
    code: 'instance not found',
  });
  await w.ask({ delete: { index: 'gone' } });
  const events = await w.events({ match: { index: 'kept' } });
  await collect(w);
  expect(await w.page({ paginate: { match: { index: 'kept' } }, size: 1000 })).toEqual([
    -1,
    ...kept.slice(0, -1),
  ]);
  expect(await w.events({ match: { index: 'kept' } })).toEqual(events);
  for (const space of ['documents', 'history'] as const) {
    const bounds = { lower: '' as Key, upper: '\xff' as Key, limit: 100_000, reverse: false };
    const { ranges } = await w.store.read((tx) =>
      tx.fetch([], [{ space, by: 'entry', rows: false, ...bounds }]),
    );
    const numbers = new Set(
      (ranges[0] ?? [])
        .map(({ entry }) => entry.slice(4, 8))
        .filter((number) => number >= '\0\0\x80\0'),
    );
    expect(numbers.size).toBe(1);
  }
  expect(await w.engine.verify()).toEqual([]);
});

test('everything in a deleted database and its children is removed, and nothing in other databases', async () => {
  const w = new EngineWorld();
  const secretOf = async (name: string, secret?: string) => {
    await w.ask({ create_database: obj({ name }) }, secret ? { secret } : {});
    const key = await w.document(
      { create_key: obj({ role: 'admin', database: { database: name } }) },
      secret ? { secret } : {},
    );
    return key.secret;
  };
  const fill = async (secret: string) => {
    await w.ask({ create_collection: obj({ name: 'notes' }) }, { secret });
    await w.ask(
      {
        map: { lambda: 'n', expr: create(coll('notes'), { n: { var: 'n' } }) },
        collection: Array.from({ length: 300 }, (_, i) => i),
      },
      { secret },
    );
  };
  const gone = await secretOf('gone');
  const below = await secretOf('below', gone);
  const kept = await secretOf('kept');
  for (const secret of [gone, below, kept]) await fill(secret);
  await w.ask({ delete: { database: 'gone' } });
  for (const secret of [gone, below]) expect((await w.answer(1, { secret })).status).toBe(401);
  await secretOf('gone');
  await collect(w);
  expect(await rows(w, 'documents')).toBe(300);
  expect(await w.ask({ count: { documents: coll('notes') } }, { secret: kept })).toBe(300);
  expect((await w.answer(1, { secret: below })).status).toBe(401);
  expect(await w.page({ paginate: { databases: null } })).toHaveLength(2);
  expect(await w.engine.verify()).toEqual([]);
});

test('collectExpiredData() that fails at any call of the store changes no answer, and the next run completes it', async () => {
  const answers = async (w: EngineWorld) => [
    await w.page({ paginate: { documents: coll('notes') } }),
    await w.events({ documents: coll('notes') }),
    await w.events(ref),
    await w.page({ paginate: { match: { index: 'by_n' }, terms: 3 } }),
    await w.events({ match: { index: 'by_n' }, terms: 3 }),
  ];
  const store = new FailingStore(new EngineWorld().store);
  const w = new EngineWorld(store);
  await w.ask({
    create_index: obj({ name: 'by_n', source: '_', terms: obj({ field: ['data', 'n'] }) }),
  });
  await notes(w);
  await w.ask({ create_collection: obj({ name: 'old' }) });
  await w.ask({
    map: { lambda: 'n', expr: create(coll('old'), { n: { var: 'n' } }) },
    collection: Array.from({ length: 100 }, (_, i) => i),
  });
  await w.ask(put(1));
  for (let n = 2; n < 60; n += 1) await w.ask(update(n % 5));
  await w.ask({ delete: coll('old') });
  await later(w, 2 * DAY);
  await w.ask(update(3));
  const before = await answers(w);
  for (let call = 1; ; call += 1) {
    store.failNth(call);
    const isDone = await w.engine.collectExpiredData().then(
      () => true,
      () => false,
    );
    store.failNth(undefined);
    expect(await answers(w)).toEqual(before);
    expect(await w.engine.verify()).toEqual([]);
    if (isDone) break;
  }
  expect([await rows(w, 'documents'), await rows(w, 'history')]).toEqual([1, 1]);
});

test('collectExpiredData() makes commits of bounded size, and does nothing until the next other commit', async () => {
  const w = new EngineWorld();
  await notes(w, 0);
  await w.ask(put(0));
  for (let i = 1; i < 900; i += 1) await w.ask(update(i));
  await later(w, 30 * MINUTE);
  const commits: number[] = [];
  w.engine.onCommit(({ rows: changed }) => commits.push(changed.length));
  expect(await collect(w)).toBe(899);
  expect(commits.length).toBeGreaterThan(3);
  expect(Math.max(...commits)).toBeLessThanOrEqual(256);
  const asked = w.store.read.bind(w.store);
  let reads = 0;
  w.store.read = (body, options) => {
    reads += 1;
    return asked(body, options);
  };
  await collect(w);
  const first = reads;
  await collect(w);
  expect([first > 2, reads - first]).toEqual([true, 1]);
});

test('collectExpiredData() reads not much more history of expired documents than it removes', async () => {
  const w = new EngineWorld();
  await notes(w, 0);
  const ids = Array.from({ length: 128 }, (_, id) => id + 1);
  const each = (expr: unknown) => ({ foreach: { lambda: 'id', expr }, collection: ids });
  const ttl = { epoch: Math.floor(w.now / 1e6) + 600, unit: 'second' };
  const one = { ref: { collection: 'notes' }, id: { var: 'id' } };
  await w.ask(each(create(one, { n: 0 }, { ttl })));
  for (let n = 1; n <= 24; n += 1)
    await w.ask(each({ update: one, params: obj({ data: obj({ n }) }) }));
  await later(w, DAY);
  let read = 0;
  const asked = w.store.read.bind(w.store);
  w.store.read = (body, options) =>
    asked(
      (tx) =>
        body({
          async fetch(...request) {
            const found = await tx.fetch(...request);
            request[1].forEach(({ space }, i) => {
              if (space === 'history') read += found.ranges[i]?.length ?? 0;
            });
            return found;
          },
        }),
      options,
    );
  expect(await collect(w)).toBe(128 * 25);
  expect(read).toBeLessThan(3 * 128 * 24);
});

test('collectExpiredData() in two tabs at once, with concurrent writes, loses nothing', async () => {
  const store = new EngineWorld().store;
  const [one, two] = [new EngineWorld(store), new EngineWorld(store)];
  await notes(one, 0);
  await one.ask(put(0));
  for (let i = 1; i < 300; i += 1) await one.ask(update(i));
  await later(one, 30 * MINUTE);
  two.now = one.now;
  const writes = async () => {
    for (let i = 0; i < 30; i += 1) await two.ask(update(1000 + i));
  };
  await Promise.all([one.engine.collectExpiredData(), two.engine.collectExpiredData(), writes()]);
  const events = await two.events(ref);
  expect(events.map(([action]) => action)).toEqual([
    'create',
    ...Array.from({ length: 30 }, () => 'update'),
  ]);
  expect(events[0]).toEqual(['create', { n: 299 }]);
  expect(await one.events(ref)).toEqual(events);
  expect(await rows(one, 'history')).toBe(30);
  expect(await one.engine.verify()).toEqual([]);
});

test('collectExpiredData() does nothing in a copy of a hub database or in a locked database', async () => {
  const w = new EngineWorld();
  await notes(w, 0);
  await w.ask(put(0));
  await w.ask(update(1));
  await later(w, 30 * MINUTE);
  const copy = new EngineWorld(w.store, { view: { over: (writer) => new Overlay(writer) } });
  const over = (): never => {
    throw new Refusal('locked', 'The database is locked.');
  };
  const locked = new EngineWorld(w.store, { view: { over } });
  for (const each of [copy, locked]) expect(await collect(each)).toBe(0);
  expect(await rows(w, 'history')).toBe(1);
  const own = new EngineWorld(w.store, { view: { over: (writer) => writer } });
  expect(await collect(own)).toBe(1);
});

// --- against a model ----------------------------------------------------------------------------

type Op =
  | {
      readonly op: 'put';
      readonly id: number;
      readonly n: number;
      readonly ttl: number | undefined;
    }
  | { readonly op: 'delete'; readonly id: number }
  | {
      readonly op: 'insert';
      readonly id: number;
      readonly ago: number;
      readonly n: number | undefined;
    }
  | { readonly op: 'wait'; readonly minutes: number };

const id = fc.nat(2);
const n = fc.nat(2);
const ops = fc.array(
  fc.oneof(
    fc.record({
      op: fc.constant('put' as const),
      id,
      n,
      ttl: fc.option(fc.nat(40), { nil: undefined }),
    }),
    fc.record({ op: fc.constant('delete' as const), id }),
    fc.record({
      op: fc.constant('insert' as const),
      id,
      ago: fc.nat(60),
      n: fc.option(n, { nil: undefined }),
    }),
    fc.record({ op: fc.constant('wait' as const), minutes: fc.constantFrom(1, 7, 16, 40) }),
  ),
  { maxLength: 14 },
);

async function apply(w: EngineWorld, op: Op): Promise<void> {
  if (op.op === 'wait') return later(w, op.minutes * MINUTE);
  const target = doc('notes', op.id);
  const data = (value: number) => obj({ data: obj({ n: value }) });
  switch (op.op) {
    case 'put': {
      const ttl =
        op.ttl === undefined
          ? {}
          : { ttl: { epoch: w.now + op.ttl * MINUTE, unit: 'microsecond' } };
      const params = obj({ data: obj({ n: op.n }), ...ttl });
      const isThere = await w.ask({ exists: target });
      await w.ask(isThere === true ? { replace: target, params } : { create: target, params });
      break;
    }
    case 'delete':
      if ((await w.ask({ exists: target })) === true) await w.ask({ delete: target });
      break;
    case 'insert':
      await w.ask({
        insert: target,
        ts: w.now - op.ago * MINUTE,
        action: op.n === undefined ? 'delete' : 'create',
        params: op.n === undefined ? obj({}) : data(op.n),
      });
  }
}

async function everything(w: EngineWorld): Promise<unknown[]> {
  const seen: unknown[] = [];
  const by = (term: number) => ({ match: { index: 'by_n' }, terms: term });
  const all = { documents: coll('notes') };
  const ask = async (query: unknown) => (await w.answer(query)).body;
  w.now -= 20_000_000;
  const now = w.now;
  for (const set of [
    all,
    by(0),
    by(1),
    by(2),
    { intersection: [by(0), { match: { index: 'all' } }] },
    { difference: [{ match: { index: 'all' } }, by(1)] },
  ]) {
    w.now = now;
    seen.push(await ask({ paginate: { events: set } }), await ask({ count: set }));
    for (const ago of [1, 5, 14]) seen.push(await ask({ paginate: set, ts: now - ago * MINUTE }));
  }
  for (const each of [0, 1, 2]) {
    w.now = now;
    seen.push(await ask({ paginate: { events: doc('notes', each) } }));
    for (const ago of [1, 5, 14])
      seen.push(await ask({ exists: doc('notes', each), ts: now - ago * MINUTE }));
  }
  w.now = now + 20_000_000;
  return seen;
}

test('answers are the same whether or not expired data was removed', async () => {
  expect.hasAssertions();
  await fc.assert(
    fc.asyncProperty(ops, ops, async (first, second) => {
      const [clean, dirty] = [new EngineWorld(), new EngineWorld()];
      for (const w of [clean, dirty]) {
        await notes(w, 0);
        for (const [name, more] of [
          ['by_n', { terms: obj({ field: ['data', 'n'] }) }],
          ['all', { values: obj({ field: ['data', 'n'] }) }],
        ] as const) {
          await w.ask({ create_index: obj({ name, source: coll('notes'), ...more }) });
        }
      }
      for (const op of [...first, ...second]) {
        await apply(clean, op);
        await apply(dirty, op);
        await collect(clean);
        await touch(dirty);
        await touch(clean);
        clean.now = dirty.now = Math.max(clean.now, dirty.now);
      }
      expect(await everything(clean)).toEqual(await everything(dirty));
      expect(await clean.engine.verify()).toEqual([]);
    }),
    { numRuns: 60 },
  );
});
