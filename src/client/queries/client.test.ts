import { getEventListeners } from 'node:events';
import { expect, test, vi } from 'vitest';
import { readTags } from '../../http/request-headers.ts';
import { NotFound, openDatabase, q, Ref, UsageError, type QueryOptions } from '../../index.ts';
import { FakeWorker, METRICS, openFake, type FakeAnswers } from '../testing/fake-worker.ts';

/** Answers each query with the call itself. */
const repeat: FakeAnswers = {
  query: ({ secret, query, tags, timeoutMs, traceparent }) =>
    Promise.resolve({
      status: 200,
      body: JSON.stringify({ resource: { secret, query, tags, timeoutMs, traceparent } }),
    }),
};

test('query() sends wire JSON with the secret of the client and its options', async () => {
  const { db } = await openFake(repeat);
  expect(await db.client().query(q.Add(1, 2n))).toMatchObject({
    secret: 'root',
    query: '{"add":[1,2]}',
  });
  const options = { tags: { app: 'notes', view: 'list' }, timeoutMs: 5, traceparent: '00-1' };
  expect(await db.client({ secret: 'alice' }).query({ a: [1] }, options)).toEqual({
    secret: 'alice',
    query: '{"object":{"a":[1]}}',
    tags: 'app=notes,view=list',
    timeoutMs: 5,
    traceparent: '00-1',
  });
  await db.close();
});

test('invalid tags are not sent as other, valid tags', async () => {
  const { db } = await openFake(repeat);
  const sent = async (tags: unknown): Promise<unknown> =>
    ((await db.client().query(1, { tags } as QueryOptions)) as { readonly tags?: string }).tags;
  for (const tags of [
    { a: 'x,b=y' },
    { 'a=x,b': 'y' },
    { a: ['x', 'b=y'] },
    ['home'],
    ['a=b'],
    'home',
    'a=b',
    new Map([['a', 'b']]),
    new Map(),
    5,
  ]) {
    const text = (await sent(tags)) as string;
    expect(() => readTags(text)).toThrow('invalid tags');
  }
  expect(await sent({ page: 'home', step: 2 })).toBe('page=home,step=2');
  expect(await sent({})).toBe('');
  await db.close();
});

test('an option that does not exist is refused', async () => {
  const { db } = await openFake(repeat);
  const client = db.client();
  const secret = { secret: 'alice' } as object;
  await expect(client.query(1, secret)).rejects.toThrow(
    'There is no option `secret`. There are: at, signal, timeoutMs, tags, traceparent.',
  );
  await expect(
    client.paginate([], {}, secret)[Symbol.asyncIterator]().next(),
  ).rejects.toBeInstanceOf(UsageError);
  expect(() => client.subscribe(1, { next: () => undefined }, secret)).toThrow(UsageError);
  await expect(db.signOut({ forgot: true } as object)).rejects.toThrow(
    'There is no option `forgot`. Did you mean `forget`?',
  );
  expect(db.isLocked).toBe(false);
  await db.close();
});

test('every builder is a method of the client that runs the query', async () => {
  const { db } = await openFake(repeat);
  const client = db.client();
  for (const name of Object.keys(q)) expect(client).toHaveProperty(name, expect.any(Function));
  const asked = async (call: Promise<unknown>) => ((await call) as { query: string }).query;
  expect(await asked(client.Login(q.Ref(q.Collection('users'), '1'), { password: 'x' }))).toBe(
    '{"login":{"ref":{"collection":"users"},"id":"1"},"params":{"object":{"password":"x"}}}',
  );
  expect(await asked(client.Paginate(q.Documents(q.Collection('notes')), { size: 2 }))).toBe(
    '{"paginate":{"documents":{"collection":"notes"}},"size":2}',
  );
  await expect((client.Get as unknown as () => Promise<unknown>)()).rejects.toThrow('q.Get takes');
  await db.close();
});

test('queryWithMetrics() returns all nine metrics', async () => {
  const { db } = await openFake({
    query: () => Promise.resolve({ status: 200, body: '{"resource":[]}' }),
  });
  expect(await db.client().queryWithMetrics(1)).toEqual({
    value: [],
    metrics: METRICS,
    partial: [],
    from: 'device',
  });
  await db.close();
});

test('a failed query rejects with its first error, and `errors` has all of them', async () => {
  const errors = [
    { position: ['get'], code: 'instance not found', description: 'Document not found.' },
    {
      position: [],
      code: 'validation failed',
      description: 'no',
      failures: [{ field: ['a'], code: 'b', description: 'c' }],
    },
  ];
  const { db } = await openFake({
    query: () => Promise.resolve({ status: 404, body: JSON.stringify({ errors }) }),
  });
  await expect(db.client().query(1)).rejects.toMatchObject({
    name: 'NotFound',
    status: 404,
    code: 'instance not found',
    description: 'Document not found.',
    position: ['get'],
    errors,
    message: 'instance not found: Document not found.',
  });
  await db.close();
});

const STOPPED = { refusal: { code: 'time out', description: 'aborted' } } as const;

/** A worker that does not answer queries until they are aborted, and then with this answer. */
async function openWaiting(answer: Awaited<ReturnType<NonNullable<FakeAnswers['query']>>>) {
  const asked: (number | undefined)[] = [];
  const waiting = new Map<number | undefined, () => void>();
  const { db, fake } = await openFake({
    query: ({ number }) => {
      asked.push(number);
      return new Promise((resolve) => waiting.set(number, () => resolve(answer)));
    },
    abort: (number) => {
      waiting.get(number)?.();
      return Promise.resolve({ ok: true, value: undefined });
    },
  });
  return { db, fake, asked };
}

test('query() rejects with the reason of its signal when the worker has stopped the query', async () => {
  const { db, asked } = await openWaiting(STOPPED);
  const other = db.client().query(1);
  const stop = new AbortController();
  const query = db.client().query(2, { signal: stop.signal });
  await expect.poll(() => asked).toEqual([undefined, 1]);
  stop.abort();
  await expect(query).rejects.toBe(stop.signal.reason);
  await expect(query).rejects.toMatchObject({ name: 'AbortError' });
  const own = new AbortController();
  const pages = db.client().paginate(q.Documents(q.Collection('a')), {}, { signal: own.signal });
  const page = pages.nextPage();
  await expect.poll(() => asked).toEqual([undefined, 1, 2]);
  own.abort('enough');
  await expect(page).rejects.toBe('enough');
  await db.close();
  await expect(other).rejects.toMatchObject({ code: 'database_closed' });
});

test('query() resolves if it is aborted too late, and rejects if the worker is lost', async () => {
  const { db, fake, asked } = await openWaiting({ status: 201, body: '{"resource":1}' });
  const late = new AbortController();
  const done = db.client().query(1, { signal: late.signal });
  await expect.poll(() => asked).toHaveLength(1);
  late.abort();
  expect(await done).toBe(1);
  const { signal } = late;
  await expect(db.client().query(1, { signal })).rejects.toBe(signal.reason);
  expect(asked).toHaveLength(1);
  const lost = new AbortController();
  const query = db.client().query(1, { signal: lost.signal });
  await expect.poll(() => asked).toHaveLength(2);
  fake.dispatchEvent(new Event('error'));
  lost.abort();
  await expect(query).rejects.toMatchObject({ code: 'worker_lost' });
});

test('query() is not sent if it is aborted at once', async () => {
  const { db, asked } = await openWaiting(STOPPED);
  const stop = new AbortController();
  const query = db.client().query(1, { signal: stop.signal });
  stop.abort();
  await expect(query).rejects.toBe(stop.signal.reason);
  await db.close();
  expect(asked).toEqual([]);
});

/** Pages of the numbers 0 to 9 by their cursors, as the engine makes them. */
const pagesOfTen: FakeAnswers = {
  query: ({ query }) => {
    let asked = JSON.parse(query) as Record<string, unknown>;
    const steps: string[] = [];
    while (!('paginate' in asked)) {
      steps.push('map' in asked ? 'map' : 'filter');
      asked = asked['collection'] as Record<string, unknown>;
    }
    const {
      size = 4,
      after,
      before,
    } = asked as { size?: number; after?: number[] | number; before?: number[] | null };
    const from = [after ?? 0].flat()[0] ?? 0;
    const to = before === undefined ? from + size : ([before ?? 10].flat()[0] ?? 10);
    const start = before === undefined ? from : Math.max(0, to - size);
    const data = Array.from({ length: Math.min(to, 10) - start }, (_, i) =>
      [start + i, ...steps].join(' '),
    );
    const page = {
      ...(before === undefined
        ? after !== undefined && { before: [from] }
        : start > 0 && { before: [start] }),
      ...(before === undefined ? to < 10 && { after: [to] } : before !== null && { after: [to] }),
      data,
    };
    return Promise.resolve({ status: 200, body: JSON.stringify({ resource: page }) });
  },
};

const collect = async (pages: AsyncIterable<unknown[]>): Promise<string[]> => {
  const all: string[] = [];
  for await (const page of pages) all.push(page.join());
  return all;
};

test('paginate() goes forward and back, page by page', async () => {
  const { db } = await openFake(pagesOfTen);
  const pages = db.client().paginate(q.Documents(q.Collection('numbers')));
  expect(await pages.nextPage()).toEqual(['0', '1', '2', '3']);
  expect(await pages.nextPage()).toEqual(['4', '5', '6', '7']);
  expect(await pages.previousPage()).toEqual(['0', '1', '2', '3']);
  const last = db.client().paginate(q.Documents(q.Collection('numbers')));
  expect(await last.previousPage()).toEqual(['6', '7', '8', '9']);
  await db.close();
});

test('paginate() iterates from its current position, and starts at a given cursor', async () => {
  const { db } = await openFake(pagesOfTen);
  const set = q.Documents(q.Collection('numbers'));
  const client = db.client();
  expect(await collect(client.paginate(set))).toEqual(['0,1,2,3', '4,5,6,7', '8,9']);
  expect(await collect(client.paginate(set, { size: 6, after: 5 }))).toEqual(['5,6,7,8,9']);
  expect(await collect(client.paginate(set, { cursor: { after: 8 } }))).toEqual(['8,9']);
  const pages = client.paginate(set);
  await pages.nextPage();
  expect(await collect(pages)).toEqual(['4,5,6,7', '8,9']);
  const visited: string[] = [];
  await client.paginate(set, { before: 6 }).eachReverse((page) => {
    visited.push(page.join());
  });
  await pages.each(async (page) => {
    visited.push(page.join());
    await Promise.resolve();
  });
  expect(visited).toEqual(['2,3,4,5', '0,1', '4,5,6,7', '8,9']);
  await db.close();
});

test('paginate().map() and filter() return new helpers and do not change the old ones', async () => {
  const { db } = await openFake(pagesOfTen);
  const pages = db.client().paginate(q.Documents(q.Collection('numbers')), { size: 10, after: 8 });
  const filtered = pages.filter((x) => q.IsString(x));
  const mapped = filtered.map((x) => q.Get(x));
  expect(await collect(mapped)).toEqual(['8 map filter,9 map filter']);
  expect(await collect(filtered)).toEqual(['8 filter,9 filter']);
  expect(await collect(pages)).toEqual(['8,9']);
  await db.close();
});

test('subscribe() refuses an invalid observer', async () => {
  const client = (await openFake(repeat)).db.client();
  const next = (): void => undefined;
  for (const observer of [undefined, {}, next, { next, error: 'x' }, { next, closed: true }]) {
    const subscribe = (): unknown => client.subscribe(q.Now(), observer as never);
    expect(subscribe).toThrow('subscribe() takes functions: {');
  }
});

test('a failed live query logs a warning if its observer has no `error`', async () => {
  const warn = vi.spyOn(console, 'warn').mockImplementation(() => undefined);
  const errors = [{ position: [], code: 'invalid ref', description: 'No index.' }];
  const { db } = await openFake({
    onMessage: (message, tell) => {
      if (message.type === 'subscribe')
        tell({ type: 'answer', id: message.id, status: 400, body: JSON.stringify({ errors }) });
    },
  });
  db.client().subscribe(q.Now(), { next: () => undefined });
  const said = ['Burrow: a live query failed:', 'invalid ref: No index.'];
  await expect.poll(() => warn.mock.calls).toEqual([said]);
  const heard: string[] = [];
  db.client().subscribe(q.Now(), {
    next: () => undefined,
    error: ({ description }) => heard.push(description),
  });
  await expect.poll(() => heard).toEqual(['No index.']);
  await db.close();
  expect(warn).toHaveBeenCalledOnce();
  warn.mockRestore();
});

test('subscribe() reports each changed answer, in order, until it is stopped', async () => {
  const messages: unknown[] = [];
  const { db, fake } = await openFake({ onMessage: (message) => messages.push(message) });
  const told: unknown[] = [];
  const heard = async (count: number): Promise<void> => {
    await expect.poll(() => told.length).toBe(count);
  };
  const stop = db.client({ secret: 'alice' }).subscribe(q.Get(q.Var('x')), {
    next: (value) => told.push(value),
    error: (error) => told.push(error),
  });
  await expect
    .poll(() => messages)
    .toEqual([{ type: 'subscribe', id: 1, secret: 'alice', query: '{"get":{"var":"x"}}' }]);
  fake.emit({ type: 'answer', id: 1, status: 200, body: '{"resource":{"@ref":{"id":"keys"}}}' });
  await heard(1);
  fake.emit({ type: 'answer', id: 1, status: 200, body: '{"resource":{"@ref":{"id":"keys"}}}' });
  fake.emit({
    type: 'answer',
    id: 1,
    status: 404,
    body: '{"errors":[{"code":"instance not found","description":""}]}',
  });
  await heard(2);
  expect(told).toEqual([new Ref('keys'), expect.any(NotFound)]);
  stop();
  stop();
  await expect.poll(() => messages.at(-1)).toEqual({ type: 'unsubscribe', id: 1 });
  fake.emit({ type: 'answer', id: 1, status: 200, body: '{"resource":3}' });
  await db.verify();
  expect(told).toHaveLength(2);
  await db.close();
});

test('a live query continues after its worker is lost', async () => {
  const second = new FakeWorker({
    onMessage: (message, tell) => {
      if (message.type === 'subscribe')
        tell({ type: 'answer', id: message.id, status: 200, body: '{"resource":2}' });
    },
  });
  const first = new FakeWorker({
    onMessage: (message, tell) => {
      if (message.type === 'subscribe')
        tell({ type: 'answer', id: message.id, status: 200, body: '{"resource":1}' });
    },
  });
  const workers = [first, second];
  const db = await openDatabase('notes', { worker: () => workers.shift()!.asWorker() });
  const told: unknown[] = [];
  db.client().subscribe(1, {
    next: (value) => told.push(value),
    error: (error) => told.push(error),
  });
  await expect.poll(() => told).toEqual([1]);
  first.dispatchEvent(new Event('error'));
  await expect.poll(() => told).toEqual([1, 2]);
  // The second loss comes so soon that no third worker is started.
  second.dispatchEvent(new Event('error'));
  await expect.poll(() => told).toEqual([1, 2, expect.objectContaining({ code: 'worker_lost' })]);
  await db.close();
});

test('closing the database ends a live query with the reason', async () => {
  const { db } = await openFake({});
  const told: unknown[] = [];
  db.client().subscribe(1, {
    next: () => undefined,
    error: (error) => told.push(['error', error.message]),
    closed: (reason) => told.push(['closed', reason.message]),
  });
  await db.close();
  const reason = expect.stringContaining('was closed');
  const both = [
    ['error', reason],
    ['closed', reason],
  ];
  await expect.poll(() => told).toEqual(both);
});

test('an error does not end a live query', async () => {
  const errors = [{ position: [], code: 'instance not found', description: 'Gone.' }];
  const { db } = await openFake({
    onMessage: (message, tell) => {
      if (message.type !== 'subscribe') return;
      tell({ type: 'answer', id: message.id, status: 404, body: JSON.stringify({ errors }) });
      tell({ type: 'answer', id: message.id, status: 200, body: '{"resource":1}' });
    },
  });
  const told: unknown[] = [];
  await new Promise((resolve) => {
    db.client().subscribe(1, {
      next: resolve,
      error: ({ code }) => told.push(code),
      closed: () => told.push('closed'),
    });
  });
  expect(told).not.toContain('closed');
  await db.close();
});

test('a signal ends a live query, and an already aborted signal prevents it', async () => {
  const heard: unknown[] = [];
  const { db } = await openFake({ onMessage: ({ type }) => heard.push(type) });
  const observer = { next: () => undefined };
  const over = db.client().subscribe(1, observer, { signal: AbortSignal.abort() });
  over();
  const control = new AbortController();
  db.client().subscribe(1, observer, { signal: control.signal });
  await expect.poll(() => heard).toEqual(['subscribe']);
  control.abort();
  await expect.poll(() => heard).toEqual(['subscribe', 'unsubscribe']);
  const { signal } = new AbortController();
  const stop = db.client().subscribe(1, observer, { signal });
  expect(getEventListeners(signal, 'abort')).toHaveLength(1);
  stop();
  expect(getEventListeners(signal, 'abort')).toEqual([]);
  await db.close();
});

test('sync() returns the same Sync each time, with the sets and the login of the last call', async () => {
  const calls: unknown[] = [];
  const { db } = await openFake({
    sync: (call) => {
      calls.push(call);
      const { secret } = call;
      const failed = { status: 401, body: '{"errors":[{"code":"unauthorized"}]}' };
      const reply = { secret: 's', state: 'live', missing: 0 } as const;
      return Promise.resolve({
        ok: true,
        value: { ...reply, failed: secret === 'wrong' ? failed : undefined },
      });
    },
  });
  const options = { url: 'http://hub', sets: [] };
  await expect(db.sync({ ...options, secret: 'wrong' })).rejects.toThrow('unauthorized');
  const [one, other] = await Promise.all([db.sync({ ...options, secret: 'a' }), db.sync(options)]);
  expect(other).toBe(one);
  const set = q.Documents(q.Collection('notes'));
  expect(await db.sync({ ...options, secret: 'b', sets: [set] })).toBe(one);
  const sets = ['{"documents":{"collection":"notes"}}'];
  expect(calls.slice(1)).toMatchObject([{ secret: 'a' }, {}, { secret: 'b', sets }]);
  await db.close();
});

test('whenActive() resolves when the index is built, and stops listening', async () => {
  const heard: string[] = [];
  const { db } = await openFake({
    onMessage: (message, tell) => {
      heard.push(message.type);
      if (message.type !== 'subscribe') return;
      expect(message.query).toBe('{"select":"active","from":{"get":{"index":"by_tag"}}}');
      for (const isActive of [false, true])
        tell({ type: 'answer', id: message.id, status: 200, body: `{"resource":${isActive}}` });
    },
  });
  await db.client().whenActive(q.Index('by_tag'));
  await expect.poll(() => heard).toEqual(['subscribe', 'unsubscribe']);
  await db.close();
});

test('whenActive() rejects when there is no such index', async () => {
  const errors = [{ position: ['from', 'get'], code: 'invalid ref', description: 'No index.' }];
  const { db } = await openFake({
    onMessage: (message, tell) => {
      if (message.type !== 'subscribe') return;
      tell({ type: 'answer', id: message.id, status: 400, body: JSON.stringify({ errors }) });
    },
  });
  await expect(db.client().whenActive(q.Index('none'))).rejects.toThrow('invalid ref: No index.');
  await db.close();
});
