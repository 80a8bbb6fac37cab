/** A page that the browser keeps in its back/forward cache. */
import { getEventListeners } from 'node:events';
import { afterEach, beforeEach, expect, onTestFinished, test, vi } from 'vitest';
import { openDatabase, q, type BurrowError, type Database } from '../index.ts';
import {
  copyAnswers,
  FakeWorker,
  missing,
  syncOptions,
  type FakeAnswers,
} from './testing/fake-worker.ts';

let page: EventTarget;
let workers: FakeWorker[];

beforeEach(() => {
  page = new EventTarget();
  workers = [];
  vi.stubGlobal('addEventListener', page.addEventListener.bind(page));
});
afterEach(() => vi.unstubAllGlobals());

const event = (type: string, persisted: boolean): Event =>
  Object.assign(new Event(type), { persisted });
const leave = (): unknown => page.dispatchEvent(event('pagehide', true));
const show = (): unknown => page.dispatchEvent(event('pageshow', true));

/** Each new worker gets the next answers; further workers get the last ones. */
const starting =
  (...answers: FakeAnswers[]) =>
  (): Worker => {
    const fake = new FakeWorker(answers[workers.length] ?? answers.at(-1));
    workers.push(fake);
    return fake.asWorker();
  };

const hanging: FakeAnswers = { query: () => missing };
const echo: FakeAnswers = {
  query: ({ query }) => Promise.resolve({ status: 200, body: `{"resource":${query}}` }),
};

const open = (...answers: FakeAnswers[]): Promise<Database> =>
  openDatabase('notes', { worker: starting(...answers) });

const ended = (): readonly boolean[] => workers.map(({ isTerminated }) => isTerminated);

test('a page that enters the cache ends its worker; pending queries may have taken effect', async () => {
  const db = await open(hanging, echo);
  const pending = db.client().query(1);
  await db.verify();
  leave();
  expect(ended()).toEqual([true]);
  await expect(pending).rejects.toMatchObject({
    code: 'worker_lost',
    description: expect.stringContaining('unknown whether pending queries took effect'),
  });
});

test('a database that cannot be opened leaves no listener on the page and starts no other worker', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  onTestFinished(() => void vi.useRealTimers());
  const refusal = { code: 'storage_unavailable', description: 'Storage is off.' } as const;
  const opening = open({ open: () => Promise.resolve({ ok: false, refusal }) });
  await expect(opening).rejects.toMatchObject(refusal);
  expect(getEventListeners(page, 'pageshow')).toEqual([]);
  await vi.advanceTimersByTimeAsync(60_000);
  expect(ended()).toEqual([true]);
});

test('a query of a cached page is answered when the page is shown again', async () => {
  const db = await open(hanging, echo);
  leave();
  const asked = db.client().query(7);
  await Promise.resolve();
  expect(workers.length).toBe(1);
  show();
  expect(await asked).toBe(7);
  expect(workers[1]?.opened[0]).toMatchObject({ rootSecret: 'root', birth: 'b' });
  await db.close();
  expect(ended()).toEqual([true, true]);
});

test('`pagehide` and `pageshow` without the cache keep the worker', async () => {
  const db = await open(echo);
  page.dispatchEvent(event('pagehide', false));
  page.dispatchEvent(event('pageshow', false));
  show();
  expect(await db.client().query(1)).toBe(1);
  expect(ended()).toEqual([false]);
  await db.close();
});

test('a live query continues each time the page is shown again', async () => {
  const answering = (resource: number): FakeAnswers => ({
    onMessage: (message, tell) => {
      if (message.type !== 'subscribe') return;
      tell({ type: 'answer', id: message.id, status: 200, body: `{"resource":${resource}}` });
    },
  });
  const db = await open(answering(1), answering(1), answering(2));
  const told: unknown[] = [];
  db.client().subscribe(q.Now(), {
    next: (value) => told.push(value),
    error: (error) => told.push(error),
  });
  await expect.poll(() => told).toEqual([1]);
  for (const count of [2, 3]) {
    leave();
    show();
    await expect.poll(() => workers[count - 1]?.opened.length).toBe(1);
    await db.verify();
  }
  await expect.poll(() => told).toEqual([1, 2]);
  await db.close();
});

test('live queries and sync continue by themselves when a worker can be started again', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  onTestFinished(() => void vi.useRealTimers());
  let hasNetwork = true;
  let starts = 0;
  const live: FakeAnswers = {
    ...copyAnswers,
    onMessage: (message, emit) => {
      if (message.type === 'subscribe')
        emit({ type: 'answer', id: message.id, status: 200, body: '{"resource":1}' });
    },
  };
  const next = starting(live);
  const db = await openDatabase('notes', {
    worker: () => {
      starts++;
      if (hasNetwork) return next();
      throw new Error('no network');
    },
  });
  const sync = await db.sync(syncOptions);
  const told: unknown[] = [];
  const observer = {
    next: (value: unknown) => told.push(value),
    error: ({ code }: BurrowError) => told.push(code),
    closed: () => told.push('closed'),
  };
  db.client().subscribe(1, observer);
  await expect.poll(() => told).toEqual([1]);

  leave();
  hasNetwork = false;
  show();
  await expect.poll(() => [...told, sync.state]).toEqual([1, 'worker_not_started', 'offline']);
  // A subscription that begins while there is no worker.
  db.client().subscribe(1, observer);
  await expect.poll(() => told).toHaveLength(3);
  // The interval between tries grows.
  const before = starts;
  for (let minute = 0; minute < 10; minute++) await vi.advanceTimersByTimeAsync(60_000);
  expect(starts - before).toBeGreaterThan(10);
  expect(starts - before).toBeLessThan(30);

  hasNetwork = true;
  await vi.advanceTimersByTimeAsync(60_000);
  const failed = 'worker_not_started';
  await expect.poll(() => told).toEqual([1, failed, failed, 1, 1]);
  await expect.poll(() => sync.state).toBe('live');
  await db.close();
  expect(told.slice(5)).toEqual(['database_closed', 'closed', 'database_closed', 'closed']);
  hasNetwork = false;
  const last = starts;
  await vi.advanceTimersByTimeAsync(60_000);
  expect(starts).toBe(last);
});

test('a database that is opening when the page is cached opens when the page is shown', async () => {
  const opening = open({ open: () => missing }, echo);
  await expect.poll(() => workers[0]?.opened.length).toBe(1);
  leave();
  expect(ended()).toEqual([true]);
  show();
  const db = await opening;
  expect(await db.client().query(1)).toBe(1);
  expect(workers.length).toBe(2);
  await db.close();
});

test('a worker that is loading when the page is cached is terminated', async () => {
  const silent = new FakeWorker({}, null);
  let isFirst = true;
  const next = starting(echo);
  const opening = openDatabase('notes', {
    worker: () => {
      if (!isFirst) return next();
      isFirst = false;
      return silent.asWorker();
    },
  });
  await Promise.resolve();
  await Promise.resolve();
  leave();
  show();
  await (await opening).close();
  expect([silent.isTerminated, workers.length]).toEqual([true, 1]);
});

test('a read-only call is repeated when the page is shown', async () => {
  const db = await open(
    { verify: () => missing },
    { verify: () => Promise.resolve({ ok: true, value: ['wrong'] }) },
  );
  const verifying = db.verify();
  await db.acknowledgeLoss();
  leave();
  show();
  expect(await verifying).toEqual(['wrong']);
  await db.close();
});

test('close() of a cached page rejects waiting queries, and no worker starts later', async () => {
  const db = await open(echo);
  leave();
  const waiting = db.client().query(1);
  await Promise.all([db.close(), expect(waiting).rejects.toThrow('was closed'), show()]);
  expect(workers.length).toBe(1);
});

test('close() resolves when the page is cached; destroy() finishes when the page is shown', async () => {
  const closing = await open({ close: () => missing });
  const closed = closing.close();
  await expect.poll(() => workers.length).toBe(1);
  leave();
  await closed;
  show();

  const forgotten: string[] = [];
  const forget: FakeAnswers = {
    forget: (name) => {
      forgotten.push(name);
      return Promise.resolve({ ok: true, value: undefined });
    },
  };
  workers = [];
  const destroying = await open({ destroy: () => missing }, forget);
  const destroyed = destroying.destroy();
  await Promise.resolve();
  leave();
  expect(forgotten).toEqual([]);
  show();
  await destroyed;
  expect([forgotten, ended()]).toEqual([['notes'], [true, true]]);
});

test('a page that is shown again gets `locked` if its user has signed out', async () => {
  const locked: FakeAnswers = {
    open: () => {
      const persistence = 'best-effort';
      const value = { birth: 'b', rootSecret: undefined, persistence, loss: undefined } as const;
      return Promise.resolve({ ok: true, value });
    },
  };
  const db = await open(echo, locked);
  const heard = new Promise((resolve) => db.addEventListener('locked', resolve));
  leave();
  show();
  await heard;
  expect(db.isLocked).toBe(true);
  await db.close();
});

test('a page that is shown again gets `closed` if the database was deleted', async () => {
  const deleted = 'The database was deleted in another tab.';
  const db = await open(echo, { open: () => Promise.resolve({ ok: true, value: { deleted } }) });
  const heard = new Promise((resolve) => {
    db.addEventListener('closed', ({ detail }) => resolve(detail));
  });
  leave();
  const waiting = db.client().query(1);
  show();
  const refused = { code: 'storage_unavailable', description: deleted };
  await expect(waiting).rejects.toMatchObject(refused);
  expect(await heard).toBe(deleted);
  await expect(db.client().query(1)).rejects.toMatchObject(refused);
  expect(ended()).toEqual([true, true]);
});

test('sync continues when the page is shown again, and missed verdicts settle their writes', async () => {
  const calls: unknown[] = [];
  const answer = { status: 201, body: '{"resource":1}', txnTime: 0, metrics: {} } as never;
  const syncing: FakeAnswers = {
    sync: (call) => {
      calls.push(call);
      const value = { secret: 's', state: 'live', failed: undefined, missing: 0 } as const;
      return Promise.resolve({ ok: true, value });
    },
    submit: () => Promise.resolve({ ok: true, value: { id: '0.1', answer } }),
    writes: () =>
      Promise.resolve({
        ok: true,
        value: [
          {
            id: '0.1',
            state: 'confirmed',
            madeMicros: 0,
            query: '1',
            ts: 7,
            body: '{"resource":1}',
            replaces: undefined,
          },
        ],
      }),
  };
  const db = await open(syncing);
  const sync = await db.sync({ url: 'http://hub', secret: 'token', sets: [] });
  const { settled } = await sync.client.submit(q.Add(1));
  leave();
  show();
  expect(await settled).toMatchObject({ id: '0.1', state: 'confirmed', ts: 7 });
  expect(calls).toMatchObject([{ secret: 'token' }, { secret: undefined, login: undefined }]);
  expect(workers[1]?.opened[0]?.syncSecret).toBe('s');
  await db.close();
});
