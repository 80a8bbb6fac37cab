/** Replies to calls and messages of the worker use different channels, so they may arrive in either order. */
import { afterEach, expect, test, vi } from 'vitest';
import type { WorkerMessage } from '../../host/api.ts';
import type { JudgedData } from '../../host/sync.ts';
import type { SyncState } from '../../states.ts';
import type { ClientHost } from '../queries/client.ts';
import type { Files } from '../files/files.ts';
import { lockedError, type DatabaseWorker } from '../connection/database-worker.ts';
import type { WorkerListener } from '../connection/worker-events.ts';
import { copyAnswers, openFake, syncOptions } from '../testing/fake-worker.ts';
import { DatabaseClosed, refusalError, UsageError } from '../errors.ts';
import { q } from '../queries/builders.ts';
import { checkSyncOptions, type SyncOptions } from './sync-options.ts';
import { Sync } from './sync.ts';

afterEach(() => vi.unstubAllGlobals());

const OPTIONS = { url: 'http://hub', secret: 's', sets: [] };
const ANSWER = { status: 201, body: '{"resource":1}', metrics: {} };

const LOST = refusalError('worker_lost', 'The database worker was terminated.');

test('sync() rejects in an insecure context before it sends a request', async () => {
  const sync = vi.fn<NonNullable<typeof copyAnswers.sync>>();
  const { db } = await openFake({ ...copyAnswers, sync });
  vi.stubGlobal('crypto', { getRandomValues: crypto.getRandomValues.bind(crypto) });
  await expect(db.sync(syncOptions)).rejects.toMatchObject({
    code: 'unsupported',
    description: 'Sync needs a page that is served over https or from localhost.',
  });
  expect(sync).not.toHaveBeenCalled();
});

const judged = (id: string): JudgedData => ({
  id,
  state: 'confirmed',
  madeMicros: 0,
  query: '1',
  ts: 7,
  body: '{"resource":1}',
  replaces: undefined,
});

/** A worker that answers when the test tells it to. */
function fakeWorker(state: SyncState, more: Readonly<Record<string, unknown>> = {}) {
  let listeners: readonly WorkerListener[] = [];
  const hear = (message: WorkerMessage): void => {
    for (const listener of listeners) listener.onMessage?.(message);
  };
  const before: WorkerMessage[] = [];
  const answers: Readonly<Record<string, unknown>> = {
    sync: { secret: 's', state, failed: undefined, missing: 0 },
    submit: { id: '0.1', answer: ANSWER },
    ...more,
  };
  const calls: (readonly [name: string, argument: unknown])[] = [];
  const host = Object.fromEntries(
    Object.entries(answers).map(([name, answer]) => [
      name,
      (argument: unknown) => {
        calls.push([name, argument]);
        for (const message of before.splice(0)) hear(message);
        return answer;
      },
    ]),
  );
  const worker = {
    syncSecret: '',
    replace: vi.fn<DatabaseWorker['replace']>(() => Promise.resolve()),
    closed: undefined as Error | undefined,
    listen: (listener: WorkerListener) => {
      listeners = [...listeners, listener];
      return () => {
        listeners = listeners.filter((each) => each !== listener);
      };
    },
    call: (body: (host: unknown) => unknown) => Promise.resolve(body(host)),
    ask: (body: (host: unknown) => unknown) => Promise.resolve(body(host)),
  };
  const end = (reason: Error): void => {
    for (const listener of listeners) listener.onEnded?.(reason);
  };
  return {
    calls,
    replace: worker.replace,
    sync: new Sync(worker as unknown as DatabaseWorker, {} as ClientHost, {} as Files),
    end,
    close: (reason: Error) => {
      worker.closed = reason;
      end(reason);
    },
    /** Sends a message before the next reply. */
    first: (message: WorkerMessage) => void before.push(message),
    tell: (message: WorkerMessage) => hear(message),
  };
}

/** An answer that arrives when the test gives it. */
function pending() {
  let answer: (verdict: undefined) => void = () => undefined;
  const asked = new Promise<undefined>((resolve) => (answer = resolve));
  return { asked, answer };
}

test('checkSyncOptions() names the invalid option', () => {
  const url = 'https://hub.example';
  const login = { user: q.Ref(q.Collection('users'), '1'), password: '', key: 'fnA' };
  const { password: _password, ...half } = login;
  for (const [options, name] of [
    [{ sets: [] }, 'url'],
    ...['hub.example', 'http://', 'https://?', 'ftp://hub', 'https://hub/#top', 5, null, {}].map(
      (wrong) => [{ url: wrong, sets: [] }, 'url'] as const,
    ),
    // `fetch` refuses a URL with a password, and resolves one without `//` against the page.
    ...['https://ada:secret@hub', 'https://ada@hub/api', 'https:hub'].map(
      (wrong) => [{ url: wrong, sets: [] }, 'url'] as const,
    ),
    [{ url: new URL('ws://hub.example'), sets: [] }, 'url'],
    [{ url }, 'sets'],
    [{ url, sets: q.Documents(q.Collection('notes')) }, 'sets'],
    [{ url, sets: [], login: half }, 'login'],
    [{ url, sets: [], login: { ...login, user: undefined } }, 'login'],
  ] as const) {
    const check = (): void => checkSyncOptions(options as Partial<SyncOptions>);
    expect(check).toThrow(`The option \`${name}\` must be`);
  }
  // The URL may contain a password.
  const secret = (): void => checkSyncOptions({ url: 'ftp://ada:secret@hub', sets: [] });
  expect(secret).toThrow(/^(?!.*secret)The option `url` must be/);
  expect(() => checkSyncOptions(undefined as never)).toThrow('Options must be an object');
  checkSyncOptions({ url, sets: [] });
  checkSyncOptions({ url: new URL(url), sets: [] });
  for (const right of ['http://[::1]:8443', 'https://hub/@team/'])
    checkSyncOptions({ url: right, sets: [] });
  checkSyncOptions({ url, sets: [], login });
});

test('Sync.start() does not replace a newer state with the state of the reply', async () => {
  const { sync, first, tell } = fakeWorker('catching-up');
  first({ type: 'sync-state', state: 'live', reason: undefined });
  await sync.start(OPTIONS);
  expect(sync.state).toBe('live');
  tell({ type: 'sync-state', state: 'offline', reason: undefined });
  expect(sync.state).toBe('offline');
  const quiet = fakeWorker('live');
  await quiet.sync.start(OPTIONS);
  expect(quiet.sync.state).toBe('live');
});

test('submit() gets a verdict that arrives before or after its answer', async () => {
  const { sync, first } = fakeWorker('live');
  await sync.start(OPTIONS);
  first({ type: 'sync-verdict', write: judged('0.1') });
  const early = await sync.client.submit(q.Add(1));
  expect((await early.settled).state).toBe('confirmed');
  const again = fakeWorker('live');
  await again.sync.start(OPTIONS);
  const late = await again.sync.client.submit(q.Add(1));
  again.tell({ type: 'sync-verdict', write: judged('0.1') });
  expect((await late.settled).ts).toBe(7);
});

test('the option `url` may be a URL object', async () => {
  const { sync, calls } = fakeWorker('live');
  await sync.start({ ...OPTIONS, url: new URL('http://hub.example') });
  await sync.setSets([]);
  const url = 'http://hub.example/';
  expect(calls.map(([, call]) => call)).toMatchObject([{ url }, { url }]);
});

test('setSets() replaces the sets without another login', async () => {
  const { sync, calls } = fakeWorker('live');
  await sync.start(OPTIONS);
  await sync.setSets([q.Documents(q.Collection('tasks'))]);
  const set = '{"documents":{"collection":"tasks"}}';
  expect(calls.map(([, call]) => call)).toMatchObject([
    { secret: 's', sets: [] },
    { url: 'http://hub', secret: undefined, login: undefined, sets: [set] },
  ]);
  const wrong = q.Documents(q.Collection('tasks')) as unknown as [];
  await expect(sync.setSets(wrong)).rejects.toThrow('`sets` must be an array');
});

test('submit() sends a label and data, and writes.list() returns them', async () => {
  const note = { label: 'Buy milk', data: '{"list":[1]}' };
  const write = { ...judged('0.1'), note };
  const { sync, calls } = fakeWorker('live', { writes: [write, judged('0.2')] });
  await sync.start(OPTIONS);
  await sync.client.submit(q.Add(1), { label: 'Buy milk', data: { list: [1] } });
  expect(calls.at(-1)).toMatchObject(['submit', { note }]);
  const told = (await sync.writes.list()).map(({ label, data }) => ({ label, data }));
  expect(told).toEqual([
    { label: 'Buy milk', data: { list: [1] } },
    { label: undefined, data: undefined },
  ]);
});

test('writes.settled() returns a known verdict, or waits for it with all other callers', async () => {
  const known = fakeWorker('live', { verdict: judged('0.1') });
  await known.sync.start(OPTIONS);
  expect(await known.sync.writes.settled('0.1')).toMatchObject({ state: 'confirmed', ts: 7 });
  const { sync, tell } = fakeWorker('live', { verdict: undefined });
  await sync.start(OPTIONS);
  const { settled } = await sync.client.submit(q.Add(1));
  const waiting = [settled, sync.writes.settled('0.1'), sync.writes.settled('0.1')];
  await Promise.resolve();
  tell({ type: 'sync-verdict', write: judged('0.1') });
  expect((await Promise.all(waiting)).map(({ id }) => id)).toEqual(['0.1', '0.1', '0.1']);
});

test('writes.settled() gets a verdict that arrives before its answer, however many follow', async () => {
  const { asked, answer } = pending();
  const { sync, tell } = fakeWorker('live', { verdict: asked });
  await sync.start(OPTIONS);
  const settled = sync.writes.settled('0.1');
  const heard = new Promise((resolve) =>
    sync.addEventListener('verdict', ({ detail }) => detail.id === '0.1001' && resolve(detail)),
  );
  for (let n = 1; n <= 1001; n++) tell({ type: 'sync-verdict', write: judged(`0.${n}`) });
  await heard;
  answer(undefined);
  expect(await settled).toMatchObject({ id: '0.1', ts: 7 });
});

test('writes.settled() does not resolve with a verdict from before the hub was restored', async () => {
  const { sync, tell } = fakeWorker('live', { verdict: undefined });
  await sync.start(OPTIONS);
  const heard = new Promise((resolve) => sync.addEventListener('verdict', resolve, { once: true }));
  // On a write of another tab, for which nobody in this tab waits.
  tell({ type: 'sync-verdict', write: judged('0.1') });
  await heard;
  const settled = sync.writes.settled('0.1');
  await Promise.resolve();
  tell({ type: 'sync-verdict', write: { ...judged('0.1'), ts: 9 } });
  expect(await settled).toMatchObject({ id: '0.1', ts: 9 });
});

test('a question for a verdict that fails does not end the wait for it', async () => {
  const refused = Promise.reject(LOST);
  refused.catch(() => undefined);
  const { sync, tell } = fakeWorker('live', { verdict: refused });
  await sync.start(OPTIONS);
  const { settled } = await sync.client.submit(q.Add(1));
  await expect(sync.writes.settled('0.1')).rejects.toBe(LOST);
  tell({ type: 'sync-verdict', write: judged('0.1') });
  expect(await settled).toMatchObject({ id: '0.1' });
});

test('`lostWrites` is how many writes were lost, also after sync is connected again', async () => {
  const missing = [3, 0].values();
  const value = { secret: 's', state: 'live', failed: undefined } as const;
  const { db } = await openFake({
    sync: () =>
      Promise.resolve({ ok: true, value: { ...value, missing: missing.next().value ?? 0 } }),
  });
  const sync = await db.sync(syncOptions);
  expect(sync.lostWrites).toBe(3);
  await sync.setSets([]);
  expect(sync.lostWrites).toBe(3);
  await db.close();
});

test('writes.settled() of an unknown write rejects and leaves no waiter', async () => {
  const error = refusalError('not found', 'There is no write 0.9, or it is already resolved.');
  const refused = Promise.reject(error);
  refused.catch(() => undefined);
  const more = { stopSync: undefined, writes: [], verdict: refused };
  const { sync, calls } = fakeWorker('live', more);
  await sync.start(OPTIONS);
  await expect(sync.writes.settled('0.9')).rejects.toBe(error);
  await sync.stop();
  await sync.start(OPTIONS);
  // A caller that waits for a verdict gets those that were missed.
  expect(calls.map(([name]) => name)).toEqual(['sync', 'verdict', 'stopSync', 'sync']);
});

test('settled() gets a verdict that was made while the sync was stopped during its request', async () => {
  const { asked, answer } = pending();
  const more = { stopSync: undefined, verdict: asked, writes: [judged('0.1')] };
  const { sync } = fakeWorker('live', more);
  await sync.start(OPTIONS);
  const settled = sync.writes.settled('0.1');
  await sync.stop();
  await sync.start(OPTIONS);
  answer(undefined);
  expect(await settled).toMatchObject({ id: '0.1', ts: 7 });
});

test('closing the database rejects waits for verdicts, even while the sync is stopped', async () => {
  const { sync, end, close, tell } = fakeWorker('live', {
    stopSync: undefined,
    verdict: undefined,
  });
  await sync.start(OPTIONS);
  const { settled } = await sync.client.submit(q.Add(1));
  end(LOST);
  tell({ type: 'sync-verdict', write: judged('0.1') });
  expect(await settled).toMatchObject({ id: '0.1' });
  const waiting = [sync.writes.settled('0.2'), sync.writes.settled('0.3')];
  await sync.stop();
  const closed = new DatabaseClosed('Closed.');
  close(closed);
  for (const each of waiting) await expect(each).rejects.toBe(closed);
});

test('a verdict that was made while the sync was stopped settles its write after the restart', async () => {
  const { sync } = fakeWorker('live', { stopSync: undefined, writes: [judged('0.1')] });
  await sync.start(OPTIONS);
  const { settled } = await sync.client.submit(q.Add(1));
  const verdicts: string[] = [];
  sync.addEventListener('verdict', ({ detail }) => verdicts.push(detail.id));
  await sync.stop();
  await sync.start(OPTIONS);
  expect(await settled).toMatchObject({ state: 'confirmed', ts: 7 });
  expect(verdicts).toEqual(['0.1']);
});

test('`settled` rejects if the write was resolved elsewhere while the sync was stopped', async () => {
  const error = refusalError('not found', 'There is no write 0.1, or it is already resolved.');
  const refused = Promise.reject(error);
  refused.catch(() => undefined);
  const { sync } = fakeWorker('live', { stopSync: undefined, writes: [], verdict: refused });
  await sync.start(OPTIONS);
  const { settled } = await sync.client.submit(q.Add(1));
  await sync.stop();
  await sync.start(OPTIONS);
  await expect(settled).rejects.toBe(error);
});

test('a sync whose database is closed is offline, with the reason', async () => {
  const { sync, end, close } = fakeWorker('live', { stopSync: undefined });
  await sync.start(OPTIONS);
  const told: unknown[] = [];
  sync.addEventListener('state', ({ detail }) => told.push(detail));
  end(lockedError());
  expect(sync.state).toBe('live');
  close(new DatabaseClosed('Closed.'));
  expect(sync.state).toBe('offline');
  expect(told).toEqual([{ state: 'offline', reason: 'Closed.' }]);
});

test('a sync whose worker is lost is connecting, and requests another worker', async () => {
  const { sync, end, replace } = fakeWorker('live');
  await sync.start(OPTIONS);
  end(LOST);
  expect(sync.state).toBe('connecting');
  expect(replace).toHaveBeenCalledExactlyOnceWith(LOST);
});

test('a sync whose lost worker cannot be replaced is offline, with the reason', async () => {
  const { sync, end, replace } = fakeWorker('live');
  await sync.start(OPTIONS);
  const told: unknown[] = [];
  sync.addEventListener('state', ({ detail }) => told.push(detail));
  replace.mockRejectedValue(LOST);
  end(LOST);
  await vi.waitFor(() => expect(sync.state).toBe('offline'));
  expect(told).toEqual([
    { state: 'connecting', reason: undefined },
    { state: 'offline', reason: LOST.message },
  ]);
});

test('a sync whose database is closed leaves no listener on the page', async () => {
  const signals: AbortSignal[] = [];
  vi.stubGlobal('addEventListener', (_type: string, _listener: unknown, how: AbortController) =>
    signals.push(how.signal),
  );
  const { sync, close } = fakeWorker('live');
  await sync.start(OPTIONS);
  expect(signals.map(({ aborted }) => aborted)).toEqual([false, false]);
  close(new DatabaseClosed('Closed.'));
  expect(signals.map(({ aborted }) => aborted)).toEqual([true, true]);
});

test('stop() ends in the state offline, with a reason', async () => {
  const { sync } = fakeWorker('live', { stopSync: undefined });
  await sync.start(OPTIONS);
  const told: unknown[] = [];
  sync.addEventListener('state', ({ detail }) => told.push(detail));
  await sync.stop();
  expect(sync.state).toBe('offline');
  expect(told).toEqual([{ state: 'offline', reason: 'Sync was stopped.' }]);
});

test('writes.resolve() refuses invalid choices and sends nothing', async () => {
  const { sync, calls } = fakeWorker('live', { resolveWrite: undefined });
  await sync.start(OPTIONS);
  for (const wrong of [
    undefined,
    null,
    {},
    'discard',
    { discard: false },
    { retry: 'yes' },
    { drop: true },
    { edit: undefined },
    { discard: true, retry: true },
  ])
    await expect(sync.writes.resolve('0.1', wrong as never)).rejects.toBeInstanceOf(UsageError);
  expect(calls.map(([name]) => name)).toEqual(['sync']);
  await sync.writes.resolve('0.1', { discard: true });
  await sync.writes.resolve('0.1', { retry: true });
  await sync.writes.resolve('0.1', { edit: q.Add(1) });
  expect(calls.slice(1).map(([name]) => name)).toEqual(Array(3).fill('resolveWrite'));
});

test('sync() and submit() refuse an option that does not exist, and send nothing', async () => {
  const { sync, calls } = fakeWorker('live');
  expect(() => checkSyncOptions({ ...OPTIONS, token: 'x' } as typeof OPTIONS)).toThrow(
    'There is no option `token`. There are: url, secret, login, sets.',
  );
  await sync.start(OPTIONS);
  const wrong = { timeoutMs: 5 } as object;
  await expect(sync.client.submit(q.Add(1), wrong)).rejects.toBeInstanceOf(UsageError);
  expect(calls.map(([name]) => name)).toEqual(['sync']);
});

test.each([
  ['a bigint', 5n],
  [
    'an object that contains itself',
    (() => {
      const self: { self?: unknown } = {};
      self.self = self;
      return self;
    })(),
  ],
])('submit() refuses data that JSON cannot hold: %s', async (_, data) => {
  const { sync, calls } = fakeWorker('live');
  await sync.start(OPTIONS);
  await expect(sync.client.submit(q.Add(1), { data })).rejects.toBeInstanceOf(UsageError);
  expect(calls.map(([name]) => name)).toEqual(['sync']);
});

test('navigator.storage.persist() is called once, as soon as a copy has content', async () => {
  const persist = vi.fn<() => Promise<boolean>>(() => Promise.resolve(true));
  vi.stubGlobal('navigator', { storage: { persist } });
  const { db, fake } = await openFake(copyAnswers);
  await db.sync(syncOptions);
  expect(persist).not.toHaveBeenCalled();
  const progress = { sets: [], bytes: 0, remainingMs: undefined, pending: 1, oldestPendingMs: 0 };
  // As after a `submit()` without a network.
  for (let times = 0; times < 2; times++) fake.emit({ type: 'sync-progress', progress });
  await db.verify();
  expect(persist).toHaveBeenCalledOnce();
  await db.close();
});
