import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { LIMITS } from '../../limits.ts';
import { createMemoryStore } from '../../store/memory.ts';
import { watchedReads } from '../../store/testing/watched-reads.ts';
import { EngineWorld, coll, create, doc, obj } from '../testing/engine-world.ts';

const T = 1_600_000_000_000_000;

async function world(): Promise<EngineWorld> {
  const w = new EngineWorld();
  await w.ask({ create_collection: obj({ name: 'dial', history_days: 10_000 }) });
  const field = (name: string) => obj({ field: ['data', name] });
  await w.ask({
    create_index: obj({
      name: 'by_s',
      source: coll('dial'),
      terms: field('s'),
      values: field('n'),
    }),
  });
  return w;
}

type Data = { readonly s: string; readonly n: number };
type Op =
  | { readonly op: 'put'; readonly data: Data }
  | { readonly op: 'delete' }
  | { readonly op: 'insert'; readonly at: number; readonly data: Data | undefined }
  | { readonly op: 'remove'; readonly at: number; readonly end: boolean };

const data = fc.record({ s: fc.constantFrom('on', 'off'), n: fc.nat(2) });
const at = fc.nat(5).map((offset) => T + offset);
const ops: fc.Arbitrary<Op[]> = fc.array(
  fc.oneof(
    fc.record({ op: fc.constant('put' as const), data }),
    fc.record({ op: fc.constant('delete' as const) }),
    fc.record({
      op: fc.constant('insert' as const),
      at,
      data: fc.option(data, { nil: undefined }),
    }),
    fc.record({ op: fc.constant('remove' as const), at, end: fc.boolean() }),
  ),
  { maxLength: 8 },
);

/**
 * A model of a document's history: each version with the time since when it was valid. `data` undefined: deleted. Deletions without a
 * version before them are dropped.
 */
class Model {
  chain: { readonly ts: number; readonly data: Data | undefined }[] = [];

  set(ts: number, value: Data | undefined): void {
    this.chain = this.chain.filter((each) => each.ts !== ts);
    this.chain.push({ ts, data: value });
    this.settle();
  }

  take(ts: number, end: boolean): void {
    this.chain = this.chain.filter((each) => each.ts !== ts || (each.data === undefined) !== end);
    this.settle();
  }

  private settle(): void {
    this.chain.sort((a, b) => a.ts - b.ts);
    this.chain = this.chain.filter((each, i) => each.data ?? this.chain[i - 1]?.data);
  }

  get last(): number | undefined {
    return this.chain.at(-1)?.ts;
  }

  get current(): Data | undefined {
    return this.chain.at(-1)?.data;
  }

  at(ts: number): Data | undefined {
    return this.chain.findLast((each) => each.ts <= ts)?.data;
  }

  timedEvents(): unknown[][] {
    const events = this.events();
    return this.chain.map(({ ts }, i) => [ts, ...(events[i] as unknown[])]);
  }

  events(): unknown[] {
    return this.chain.map(({ data: now }, i) => {
      const before = this.chain[i - 1]?.data;
      if (!now) return ['delete', null];
      if (!before) return ['create', now];
      const changed = Object.entries(now).filter(
        ([name, value]) => before[name as keyof Data] !== value,
      );
      return ['update', changed.length > 0 ? Object.fromEntries(changed) : null];
    });
  }

  setEvents(s: string): unknown[] {
    return this.chain.flatMap(({ data: now }, i) => {
      const before = this.chain[i - 1]?.data;
      const was = before?.s === s ? [before.n] : [];
      const is = now?.s === s ? [now.n] : [];
      if (was[0] === is[0]) return [];
      return [
        ...(was.length > 0 ? [['remove', was]] : []),
        ...(is.length > 0 ? [['add', is]] : []),
      ];
    });
  }
}

const ref = doc('dial', 1);
const params = (value: Data | undefined) => obj(value ? { data: obj(value) } : {});

async function apply(w: EngineWorld, model: Model, op: Op): Promise<void> {
  switch (op.op) {
    case 'put': {
      const query = model.current
        ? { replace: ref, params: params(op.data) }
        : create(ref, op.data);
      model.set((await w.answer(query)).txnTime, op.data);
      break;
    }
    case 'delete':
      if (model.current) model.set((await w.answer({ delete: ref })).txnTime, undefined);
      break;
    case 'insert':
      await w.ask({
        insert: ref,
        ts: op.at,
        action: op.data ? 'update' : 'delete',
        params: params(op.data),
      });
      model.set(op.at, op.data);
      break;
    case 'remove':
      await w.ask({ remove: ref, ts: op.at, action: op.end ? 'delete' : 'create' });
      model.take(op.at, op.end);
      break;
  }
}

interface EventPage {
  readonly data: readonly {
    readonly ts: number;
    readonly action: string;
    readonly data: unknown;
  }[];
  readonly before?: EventCursor;
  readonly after?: EventCursor;
}

interface EventCursor {
  readonly ts: number;
  readonly action: string;
}

/** Pages of any size, in both directions and from any time, are slices of the list of all events. */
async function expectPages(
  w: EngineWorld,
  all: readonly unknown[][],
  { isPastKept }: { readonly isPastKept: boolean },
): Promise<void> {
  const times = new Set(all.flatMap(([ts]) => [-1, 0, 1].map((by) => Number(ts) + by)));
  const pageOf = (options: object) =>
    w.ask({ paginate: { events: ref }, ...options }) as Promise<EventPage>;
  const shown = ({ data }: EventPage) => data.map(({ ts, action, data: now }) => [ts, action, now]);
  for (const size of [1, 2, 3]) {
    for (const side of ['after', 'before'] as const) {
      const found: unknown[][] = [];
      let page = await pageOf({ size, [side]: side === 'after' ? T - 10 : null });
      for (;;) {
        if (side === 'after') found.push(...shown(page));
        else found.unshift(...shown(page));
        const cursor = page[side];
        if (!cursor) break;
        const { ts, action } = cursor;
        page = await pageOf({ size, [side]: obj({ ts, action, document: ref }) });
      }
      expect(found).toEqual(all);
    }
    for (const ts of times) {
      const from = all.filter(([at]) => Number(at) >= ts);
      expect(shown(await pageOf({ size, after: ts }))).toEqual(from.slice(0, size));
      const until = all.filter(([at]) => Number(at) < ts);
      expect(shown(await pageOf({ size, before: ts }))).toEqual(until.slice(-size));
      if (!isPastKept) continue;
      const past = all.filter(([at]) => Number(at) <= ts);
      const back = { size, before: null, ts };
      expect(shown(await pageOf(back))).toEqual(past.slice(-size));
    }
  }
}

async function expectSame(w: EngineWorld, model: Model): Promise<void> {
  expect(await w.events(ref)).toEqual(model.events());
  await expectPages(w, model.timedEvents(), { isPastKept: true });
  for (const s of ['on', 'off']) {
    expect(await w.events({ match: { index: 'by_s' }, terms: s })).toEqual(model.setEvents(s));
  }
  for (let ts = T - 1; ts <= T + 6; ts++) {
    const there = model.at(ts);
    expect(await w.ask({ exists: ref, ts })).toBe(there !== undefined);
    expect(await w.page({ paginate: { match: { index: 'by_s' }, terms: 'on' }, ts })).toEqual(
      there?.s === 'on' ? [there.n] : [],
    );
  }
  expect(await w.ask({ exists: ref })).toBe(model.current !== undefined);
  expect(await w.engine.verify()).toEqual([]);
}

test('insert(), remove() and plain writes agree with a model, for documents and for sets', async () => {
  expect.hasAssertions();
  await fc.assert(
    fc.asyncProperty(ops, async (steps) => {
      const w = await world();
      const model = new Model();
      for (const step of steps) await apply(w, model, step);
      await expectSame(w, model);
    }),
    { numRuns: 60 },
  );
});

test('pages of events begin with the version that was valid at the limit of retention', async () => {
  const step = fc.oneof(
    fc.record({ op: fc.constant('put' as const), data }),
    fc.record({ op: fc.constant('delete' as const) }),
    fc.constant('wait' as const),
  );
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 10 }), async (steps) => {
      const w = new EngineWorld();
      await w.ask({ create_collection: obj({ name: 'dial', history_days: 0 }) });
      let model = new Model();
      for (const each of steps) {
        if (each !== 'wait') await apply(w, model, each);
        else {
          // Now everything written before is at the limit of retention.
          w.now += 2 * LIMITS.historyGraceMicros;
          const { last, current } = model;
          model = new Model();
          if (last !== undefined && current) model.set(last, current);
        }
      }
      await expectPages(w, model.timedEvents(), { isPastKept: false });
    }),
    { numRuns: 60 },
  );
});

test('a page of events reads few versions, however many the document has', async () => {
  const read: number[] = [];
  const store = createMemoryStore();
  const counted = watchedReads(store, ({ ranges }, [, asked]) => {
    const past = ranges.filter((_, i) => asked[i]?.space === 'history');
    read.push(...past.map((entries) => entries.length));
  });
  const w = new EngineWorld(store);
  await w.ask({ create_collection: obj({ name: 'dial' }) });
  await w.ask(create(ref, { n: 0 }));
  for (let n = 1; n <= 100; n += 1) await w.ask({ update: ref, params: obj({ data: obj({ n }) }) });
  const reader = new EngineWorld(counted);
  reader.now = w.now;
  const ns = async (options: object) =>
    (
      (await reader.page({ paginate: { events: ref }, size: 2, ...options })) as EventPage['data']
    ).map(({ data: now }) => (now as { readonly n: number }).n);
  read.length = 0;
  expect(await ns({})).toEqual([0, 1]);
  expect(await ns({ before: null })).toEqual([99, 100]);
  expect(Math.max(...read)).toBeLessThan(10);
});

test('history rewrites and writes in one query have the same result as one after the other', async () => {
  const w = await world();
  await w.ask(create(ref, { s: 'on', n: 1 }));
  await w.ask({
    do: [
      { update: ref, params: obj({ data: obj({ n: 2 }) }) },
      { insert: ref, ts: T, action: 'create', params: obj({ data: obj({ s: 'on', n: 2 }) }) },
      { update: ref, params: obj({ data: obj({ n: 3 }) }) },
    ],
  });
  expect(await w.events(ref)).toEqual([
    ['create', { s: 'on', n: 2 }],
    ['update', { n: 1 }],
    ['update', { n: 3 }],
  ]);
  expect(await w.events({ match: { index: 'by_s' }, terms: 'on' })).toEqual([
    ['add', [2]],
    ['remove', [2]],
    ['add', [1]],
    ['remove', [1]],
    ['add', [3]],
  ]);
  await w.ask({
    do: [{ remove: ref, ts: T, action: 'create' }, { delete: ref }],
  });
  expect((await w.events(ref)).map(([action]) => action)).toEqual(['create', 'update', 'delete']);
});

test('insert() requires a document ref, a past time and valid data', async () => {
  const w = await world();
  const insert = (target: unknown, ts: unknown, fields: Record<string, unknown> = {}) =>
    w.fault({ insert: target, ts, action: 'create', params: obj(fields) });
  expect(await insert(coll('dial'), T)).toMatchObject({ code: 'invalid argument', position: [] });
  expect(await insert(ref, w.now + 9e9)).toMatchObject({
    code: 'invalid write time',
    position: [],
  });
  expect(await insert(ref, T, { data: 1 })).toMatchObject({
    code: 'validation failed',
    position: [],
    failures: [{ field: ['data'], code: 'invalid type' }],
  });
  expect(await w.fault({ remove: { tokens: null }, ts: T, action: 'create' })).toMatchObject({
    code: 'invalid argument',
  });
});

test('insert() refuses a time before the earliest that a version can have', async () => {
  const w = await world();
  const at = (ts: unknown) => ({ insert: ref, ts, action: 'create', params: obj({}) });
  const early = [{ time: '1684-07-28T00:12:25.259008Z' }, { time: '0001-01-01T00:00:00Z' }];
  for (const ts of early)
    expect(await w.fault(at(ts))).toMatchObject({
      code: 'invalid write time',
      position: [],
      description: 'Cannot write before 1684-07-28.',
    });
  expect(await w.ask({ remove: ref, ts: early[0], action: 'create' })).toBe(null);
  expect(await w.events(ref)).toEqual([]);
  expect(await w.ask({ select: 'ts', from: at({ time: '1685-01-01T00:00:00Z' }) })).toBe(
    -8_993_635_200_000_000,
  );
});

test('insert() does not check unique indexes', async () => {
  const w = await world();
  const terms = obj({ field: ['data', 'n'] });
  await w.ask({ create_index: obj({ name: 'u', source: coll('dial'), terms, unique: true }) });
  await w.ask(create(doc('dial', 1), { n: 1 }));
  await w.ask({
    insert: doc('dial', 2),
    ts: T,
    action: 'create',
    params: obj({ data: obj({ n: 1 }) }),
  });
  expect(await w.ask({ count: { match: { index: 'u' }, terms: 1 } })).toBe(2);
});

test('removing the oldest retained version does not make an older one visible', async () => {
  const w = new EngineWorld();
  await w.ask({ create_collection: obj({ name: 'dial', history_days: 10 }) });
  await w.ask({ insert: ref, ts: T, action: 'create', params: obj({ data: obj({ n: 1 }) }) });
  await w.ask({ insert: ref, ts: T + 5, action: 'create', params: obj({ data: obj({ n: 2 }) }) });
  expect(await w.events(ref)).toEqual([['create', { n: 2 }]]);
  await w.ask({ remove: ref, ts: T + 5, action: 'create' });
  expect(await w.ask({ exists: ref })).toBe(false);
  expect(await w.events(ref)).toEqual([]);
});
