import { expect, test, vi } from 'vitest';
import { openDatabase, q, type Database } from '../index.ts';
import type { UnlockCall } from '../host/open.ts';
import { FakeWorker, missing } from './testing/fake-worker.ts';

/** The workers of one database, which may be locked. */
class Device {
  readonly workers: FakeWorker[] = [];
  readonly unlocks: UnlockCall[] = [];
  /** Workers that closed their database before they were terminated. */
  readonly closed: FakeWorker[] = [];
  isLocked = false;

  readonly worker = (): Worker => {
    let opened = 0;
    const fake = new FakeWorker({
      open: () => {
        const rootSecret = this.isLocked ? undefined : `root ${this.workers.length}.${++opened}`;
        const persistence = 'best-effort';
        const reply = { birth: 'b', rootSecret, persistence, loss: undefined } as const;
        return Promise.resolve({ ok: true, value: reply });
      },
      lock: () => {
        this.isLocked = true;
        return Promise.resolve({ ok: true, value: undefined });
      },
      close: async () => {
        await new Promise((resolve) => setImmediate(resolve));
        if (!fake.isTerminated) this.closed.push(fake);
        return { ok: true, value: undefined };
      },
      unlock: (call) => {
        this.unlocks.push(call);
        const isRight = 'secret' in call && call.secret === 'right';
        if (isRight) this.isLocked = false;
        const errors = [{ code: 'unauthorized', description: 'no' }];
        const body = JSON.stringify(isRight ? { resource: { secret: 'right' } } : { errors });
        return Promise.resolve({ ok: true, value: { status: isRight ? 200 : 401, body } });
      },
      query: ({ secret, query }) =>
        query === '"hang"'
          ? missing
          : Promise.resolve({ status: 200, body: `{"resource":${JSON.stringify(secret)}}` }),
    });
    this.workers.push(fake);
    return fake.asWorker();
  };

  get last(): FakeWorker {
    const last = this.workers.at(-1);
    if (!last) throw new Error('No worker was started.');
    return last;
  }
}

const heardBy = (db: Database): string[] => {
  const heard: string[] = [];
  db.addEventListener('locked', () => heard.push('locked'));
  db.addEventListener('unlocked', () => heard.push('unlocked'));
  return heard;
};

test('close() waits until the worker ended by signOut() has closed its database', async () => {
  const device = new Device();
  const db = await openDatabase('notes', { worker: device.worker });
  await db.signOut();
  expect(device.workers[0]?.isTerminated).toBe(false);
  await db.close();
  expect(device.workers[0]?.isTerminated).toBe(true);
  expect(device.closed).toEqual([device.workers[0]]);
});

test('signOut() ends the worker and pending queries, and hides the root secret until unlock()', async () => {
  const device = new Device();
  const db = await openDatabase('notes', { worker: device.worker });
  const heard = heardBy(db);
  const before = db.rootSecret;
  const waiting = db.client().query('hang');
  const live = new Promise((resolve) => {
    db.client().subscribe(q.Now(), { next: resolve, error: resolve });
  });
  await db.signOut();
  await expect(waiting).rejects.toMatchObject({ code: 'locked', status: 423 });
  expect(await live).toMatchObject({ code: 'locked' });
  expect([db.isLocked, heard]).toEqual([true, ['locked']]);
  await expect.poll(() => device.workers[0]?.isTerminated).toBe(true);
  expect(() => db.rootSecret).toThrow('db.unlock(');

  await expect(db.unlock({ secret: 'wrong' })).rejects.toMatchObject({ code: 'unauthorized' });
  expect(db.isLocked).toBe(true);
  expect(await db.unlock({ secret: 'right' })).toEqual({ secret: 'right' });
  expect([db.isLocked, heard]).toEqual([false, ['locked', 'unlocked']]);
  expect(db.rootSecret).not.toBe(before);
  expect(await db.client().query(1)).toBe(db.rootSecret);
  // The worker of the new session was not given the secret of the old one.
  expect(device.last.opened[0]?.rootSecret).toBeUndefined();
});

test('a lock or an unlock in another tab also applies to the database here', async () => {
  const device = new Device();
  const db = await openDatabase('notes', { worker: device.worker });
  const heard = heardBy(db);
  const waiting = db.client().query('hang');
  device.isLocked = true;
  device.last.emit({ type: 'locked' });
  await expect(waiting).rejects.toMatchObject({ code: 'locked' });
  expect(db.isLocked).toBe(true);
  await expect(
    new Promise((_, reject) => {
      db.client().subscribe(1, { next: () => undefined, error: reject });
    }),
  ).rejects.toMatchObject({ code: 'locked' });

  device.isLocked = false;
  const renewed = new Promise((resolve) => db.addEventListener('unlocked', resolve));
  device.last.emit({ type: 'unlocked' });
  await renewed;
  expect(heard).toEqual(['locked', 'unlocked']);
  expect(await db.client().query(1)).toBe(db.rootSecret);
});

test.each<[string, (db: Database, device: Device) => Promise<void>]>([
  ['here', (db) => db.signOut()],
  [
    'in another tab',
    async (_, device) => {
      device.isLocked = true;
      device.last.emit({ type: 'locked' });
    },
  ],
])(
  'after a sign-out %s, an idle database gets the `unlocked` event of another tab',
  async (_, lock) => {
    const device = new Device();
    const db = await openDatabase('notes', { worker: device.worker });
    const heard = heardBy(db);
    await lock(db, device);
    await expect.poll(() => [heard, device.workers[1]?.opened.length]).toEqual([['locked'], 1]);
    device.isLocked = false;
    device.last.emit({ type: 'unlocked' });
    await expect.poll(() => heard).toEqual(['locked', 'unlocked']);
    expect(await db.client().query(1)).toBe(db.rootSecret);
    await db.close();
  },
);

test('openDatabase() opens a locked database as locked, or unlocks it with a valid login', async () => {
  const device = new Device();
  device.isLocked = true;
  const db = await openDatabase('notes', { worker: device.worker });
  expect(db.isLocked).toBe(true);
  const wrong = openDatabase('notes', { worker: device.worker, unlock: { secret: 'wrong' } });
  await expect(wrong).rejects.toMatchObject({ code: 'unauthorized' });
  expect(device.last.isTerminated).toBe(true);
  const right = await openDatabase('notes', { worker: device.worker, unlock: { secret: 'right' } });
  expect(right.isLocked).toBe(false);
});

test('unlock() sends the user as a query with the password, and refuses invalid logins', async () => {
  const device = new Device();
  device.isLocked = true;
  const db = await openDatabase('notes', { worker: device.worker });
  const user = q.Match(q.Index('users_by_email'), 'alice');
  await expect(db.unlock({ user, password: 'secret' })).rejects.toMatchObject({ status: 401 });
  expect(device.unlocks).toEqual([{ user: JSON.stringify(user), password: 'secret' }]);
  for (const login of [{}, { secret: 1 }, { user }, { password: 'secret' }]) {
    await expect(db.unlock(login as { secret: string })).rejects.toThrow('db.unlock needs');
  }
});

test('signOut({ forget: true }) deletes a locked database', async () => {
  const device = new Device();
  device.isLocked = true;
  const db = await openDatabase('notes', { worker: device.worker });
  await db.signOut({ forget: true });
  await expect(db.client().query(1)).rejects.toThrow('was closed');
});

test('a worker is terminated when it has closed its database, or after two seconds', async () => {
  const device = new Device();
  const db = await openDatabase('notes', { worker: device.worker });
  const [first] = device.workers;
  first?.emit({ type: 'locked' });
  await new Promise((resolve) => db.addEventListener('locked', resolve));
  expect([first?.isTerminated, db.isLocked]).toEqual([false, true]);
  await expect.poll(() => first?.isTerminated).toBe(true);

  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  try {
    const hung = new FakeWorker({ close: () => missing });
    const other = await openDatabase('others', { worker: () => hung.asWorker() });
    hung.emit({ type: 'closed', description: 'gone' });
    await new Promise((resolve) => other.addEventListener('closed', resolve));
    await vi.advanceTimersByTimeAsync(1_999);
    expect(hung.isTerminated).toBe(false);
    await vi.advanceTimersByTimeAsync(1);
    expect(hung.isTerminated).toBe(true);
  } finally {
    vi.useRealTimers();
  }
});

test('calls made while another tab unlocks the database use its new root secret', async () => {
  const seen: string[] = [];
  let onStart = (): void => undefined;
  const fakes: FakeWorker[] = [];
  const db = await openDatabase('notes', {
    worker: () => {
      queueMicrotask(onStart);
      const fake = new FakeWorker({
        query: ({ secret }) => Promise.resolve({ status: 200, body: `{"resource":"${secret}"}` }),
        onMessage: (message) => message.type === 'subscribe' && seen.push(message.secret),
      });
      fakes.push(fake);
      return fake.asWorker();
    },
  });
  const answer = new Promise((resolve) => {
    onStart = () => {
      db.client().subscribe(q.Now(), { next: () => undefined });
      resolve(db.client().query(q.Now()));
    };
  });
  fakes[0]?.emit({ type: 'unlocked' });
  expect(await answer).toBe('root');
  await expect.poll(() => seen).toContain('root');
  expect(seen).not.toContain('');
  await db.close();
});
