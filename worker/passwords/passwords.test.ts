import { compareSync, hashSync } from 'bcryptjs';
import { afterEach, expect, test, vi } from 'vitest';
import type { PasswordJob } from '../../hosts/passwords.ts';
import { dummyHash } from '../../hosts/dummy-hash.ts';
import { PasswordPool } from './passwords.ts';

/** A hashing worker in the same thread: it really hashes. */
class FakeWorker extends EventTarget {
  readonly jobs: PasswordJob[] = [];
  isTerminated = false;
  private readonly fails: boolean;
  constructor(fails = false) {
    super();
    this.fails = fails;
  }
  postMessage(job: PasswordJob): void {
    this.jobs.push(job);
    queueMicrotask(() => {
      if (this.fails) this.dispatchEvent(new Event('error', { cancelable: true }));
      else {
        const data =
          job.task === 'hash'
            ? hashSync(job.password, job.cost)
            : compareSync(job.password, job.hash);
        this.dispatchEvent(new MessageEvent('message', { data }));
      }
    });
  }
  terminate(): void {
    this.isTerminated = true;
  }
}

const poolOf = (workers: FakeWorker[], workersMax = 2) =>
  new PasswordPool({
    hashCost: 4,
    workersMax,
    start: () => {
      const next = workers.shift();
      if (!next) throw new Error('no more workers');
      return next as unknown as Worker;
    },
  });

afterEach(() => {
  vi.useRealTimers();
});

test('passwords are hashed and verified in other workers', async () => {
  const workers = [new FakeWorker(), new FakeWorker()];
  const [first, second] = workers;
  const pool = poolOf([...workers]);
  const { passwords } = pool;
  const [one, two] = await Promise.all([passwords.hash('one', 4), passwords.hash('two', 4)]);
  expect(one).toMatch(/^\$2b\$04\$/);
  expect(await passwords.verify('one', one)).toBe(true);
  expect(await passwords.verify('two', one)).toBe(false);
  expect(await passwords.verify('two', two)).toBe(true);
  expect([first?.jobs.length, second?.jobs.length]).toEqual([4, 1]);
  pool.close();
  expect([first?.isTerminated, second?.isTerminated]).toEqual([true, true]);
});

test('verify() without a hash is false, at the cost of a real verification', async () => {
  const worker = new FakeWorker();
  const { passwords } = poolOf([worker]);
  expect(await passwords.verify('anything', undefined)).toBe(false);
  expect(worker.jobs).toEqual([{ task: 'verify', password: 'anything', hash: dummyHash(4) }]);
  expect(dummyHash(12)).toHaveLength(60);
});

test('verify() is false for a password that differs only after 72 bytes or a zero byte', async () => {
  const worker = new FakeWorker();
  const { passwords } = poolOf([worker]);
  const long = 'x'.repeat(72);
  const known = await passwords.hash(long, 4);
  expect(await passwords.verify(long, known)).toBe(true);
  expect(await passwords.verify(`${long}y`, known)).toBe(false);
  const short = await passwords.hash('short', 4);
  expect(await passwords.verify('short\0er', short)).toBe(false);
  expect(worker.jobs).toHaveLength(5);
});

test('hashing continues in this thread when workers fail or cannot be started', async () => {
  const failing = poolOf([new FakeWorker(true), new FakeWorker(true)]);
  const hashes = await Promise.all(['a', 'b', 'c'].map((each) => failing.passwords.hash(each, 4)));
  expect(hashes.map((hash, i) => compareSync('abc'[i] ?? '', hash))).toEqual([true, true, true]);
  const none = poolOf([]);
  const hash = await none.passwords.hash('a', 4);
  expect(await none.passwords.verify('a', hash)).toBe(true);
});

test('a worker that is idle for 30 seconds is terminated', async () => {
  vi.useFakeTimers();
  const workers = [new FakeWorker(), new FakeWorker()];
  const [first, second] = workers;
  const pool = poolOf([...workers], 1);
  await pool.passwords.hash('a', 4);
  vi.advanceTimersByTime(29_000);
  await pool.passwords.hash('b', 4);
  vi.advanceTimersByTime(29_000);
  expect(first?.isTerminated).toBe(false);
  vi.advanceTimersByTime(2000);
  expect(first?.isTerminated).toBe(true);
  await pool.passwords.hash('c', 4);
  expect(second?.jobs).toHaveLength(1);
});

test('close() rejects waiting jobs with storage_unavailable', async () => {
  const silent = Object.assign(new FakeWorker(), { postMessage: () => undefined });
  const pool = poolOf([silent], 1);
  const waiting = [pool.passwords.hash('a', 4), pool.passwords.hash('b', 4)];
  pool.close();
  for (const each of waiting)
    await expect(each).rejects.toMatchObject({ code: 'storage_unavailable' });
});
