/** Closing a database ends every wait, and its secret can no longer be read. */
import { getEventListeners } from 'node:events';
import { expect, onTestFinished, test, vi } from 'vitest';
import { DatabaseClosed, openDatabase, q, QueryError } from '../index.ts';
import {
  copyAnswers,
  FakeWorker,
  openFake,
  syncOptions,
  type FakeAnswers,
} from './testing/fake-worker.ts';

test('close() rejects a wait for the verdict on a write', async () => {
  const { db } = await openFake(copyAnswers);
  const sync = await db.sync(syncOptions);
  const waiting = sync.writes.settled('0.1');
  await db.close();
  await expect(waiting).rejects.toBeInstanceOf(DatabaseClosed);
  await expect(sync.writes.settled('0.1')).rejects.toBeInstanceOf(DatabaseClosed);
});

test('close() rejects a wait for a verdict after the worker was lost', async () => {
  const { db, fake } = await openFake(copyAnswers);
  const sync = await db.sync(syncOptions);
  await sync.whenSettled();
  const waiting = sync.writes.settled('0.1');
  await sync.whenSettled();
  fake.dispatchEvent(new Event('error'));
  await db.close();
  await expect(waiting).rejects.toBeInstanceOf(DatabaseClosed);
});

test('close() terminates a starting worker and rejects queries that wait for it', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  onTestFinished(() => void vi.useRealTimers());
  const workers = [new FakeWorker(), new FakeWorker({}, null)];
  const starting = workers.values();
  const db = await openDatabase('notes', {
    worker: () => {
      const { value } = starting.next();
      if (!value) throw new Error('no more workers');
      return value.asWorker();
    },
  });
  workers[0]?.dispatchEvent(new Event('error'));
  const waiting = db.client().query(1);
  await db.close();
  await expect(waiting).rejects.toBeInstanceOf(DatabaseClosed);
  expect(workers.map(({ isTerminated }) => isTerminated)).toEqual([true, true]);
});

test('close() causes no unhandled rejection if nobody awaits `settled`', async () => {
  const submit: FakeAnswers['submit'] = () =>
    Promise.resolve({
      ok: true,
      value: {
        id: '0.1',
        answer: { status: 201, body: '{"resource":1}', metrics: undefined as never },
      },
    });
  const { db } = await openFake({ ...copyAnswers, submit });
  const sync = await db.sync(syncOptions);
  const { settled } = await sync.client.submit(q.Add(1));
  // An unhandled rejection would fail this file.
  await db.close();
  await expect(settled).rejects.toBeInstanceOf(DatabaseClosed);
});

test('close() rejects whenSettled() with DatabaseClosed, whatever the worker answers', async () => {
  let close: () => void = () => undefined;
  const isClosing = new Promise<void>((resolve) => (close = resolve));
  const { db } = await openFake({
    ...copyAnswers,
    syncWait: async () => {
      await isClosing;
      const description = 'The database is closed.';
      return { ok: false, refusal: { code: 'storage_unavailable', description } };
    },
    close: async () => {
      close();
      // The refusal is sent before this answer.
      await new Promise((resolve) => setImmediate(resolve));
      return { ok: true, value: undefined };
    },
  });
  const sync = await db.sync(syncOptions);
  const settled = sync.whenSettled().catch((reason: unknown) => reason);
  await db.close();
  expect(await settled).toBeInstanceOf(DatabaseClosed);
});

test('close() rejects a wait for files that are being sent', async () => {
  let asked: () => void = () => undefined;
  const isAsked = new Promise<void>((resolve) => (asked = resolve));
  const files: FakeAnswers['files'] = () => {
    asked();
    const file = { file: 'file:x', size: 1, state: 'unsent', error: undefined } as const;
    return Promise.resolve({ ok: true, value: [file] });
  };
  const { db } = await openFake({ files });
  const waiting = db.files.whenSent();
  await isAsked;
  await db.close();
  await expect(waiting).rejects.toBeInstanceOf(DatabaseClosed);
});

test('the root secret of a closed database cannot be read', async () => {
  const { db } = await openFake();
  expect(db.rootSecret).toBe('root');
  await db.close();
  expect(() => db.rootSecret).toThrow(DatabaseClosed);
});

test('ended live queries leave no listener on their signal', async () => {
  const { db } = await openFake();
  const { signal } = new AbortController();
  const closed = vi.fn<() => void>();
  const follow = () =>
    db.client().subscribe(q.Now(), { next: () => undefined, closed }, { signal });
  const stop = follow();
  follow();
  expect(getEventListeners(signal, 'abort')).toHaveLength(2);
  stop();
  expect(getEventListeners(signal, 'abort')).toHaveLength(1);
  await db.close();
  expect(closed).toHaveBeenCalledOnce();
  expect(getEventListeners(signal, 'abort')).toEqual([]);
});

test('queries that have ended leave no listener on their signal', async () => {
  const { db } = await openFake({ query: ({ query }) => answers(query) });
  const { signal } = new AbortController();
  expect(await db.client().query(7, { signal })).toBe(7);
  await expect(db.client().query('no', { signal })).rejects.toBeInstanceOf(QueryError);
  expect(getEventListeners(signal, 'abort')).toEqual([]);
  await db.close();
});

const answers = (query: string) =>
  Promise.resolve(
    query === '7'
      ? { status: 200, body: '{"resource":7}' }
      : { status: 400, body: '{"errors":[]}' },
  );

test.each(['close', 'destroy'] as const)('%s() causes exactly one `closed` event', async (how) => {
  const { db, fake } = await openFake();
  const closed = vi.fn<(reason: string) => void>();
  db.addEventListener('closed', ({ detail }) => closed(detail));
  const ending = db[how]();
  // At the same time another tab deletes the database.
  fake.emit({ type: 'closed', description: 'The database was deleted in another tab.' });
  await Promise.all([ending, db.close()]);
  expect(closed).toHaveBeenCalledOnce();
});

test('if destroy() fails, the `closed` event says that the database was closed', async () => {
  const refusal = { code: 'storage_blocked', description: 'Another tab uses it.' } as const;
  const { db } = await openFake({ destroy: () => Promise.resolve({ ok: false, refusal }) });
  const closed = vi.fn<(reason: string) => void>();
  db.addEventListener('closed', ({ detail }) => closed(detail));
  await expect(db.destroy()).rejects.toMatchObject(refusal);
  expect(closed.mock.calls).toEqual([['The database "notes" was closed. Open it again.']]);
});
