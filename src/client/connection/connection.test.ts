import { getEventListeners } from 'node:events';
import { afterEach, expect, test, vi } from 'vitest';
import type { SalvageResult } from '../../host/salvage.ts';
import { SETTINGS } from '../../host/settings.ts';
import { readOptions } from '../read-options.ts';
import { FakeWorker, missing } from '../testing/fake-worker.ts';
import { Connection, type ConnectionHandlers } from './connection.ts';

afterEach(() => void vi.useRealTimers());

const OPTIONS = {
  name: 'notes',
  settings: readOptions(SETTINGS, {}),
  rootSecret: undefined,
  birth: undefined,
  syncSecret: undefined,
  aliveLock: 'alive',
};

const open = async (
  signal: AbortSignal,
  fake = new FakeWorker(),
  more: Partial<ConnectionHandlers> = {},
): Promise<Connection> => {
  const handlers = { onMessage: () => undefined, onLost: () => undefined, ...more };
  return (await Connection.open(fake.asWorker(), OPTIONS, handlers, signal)).connection;
};

test('ended connections leave no listener on the signal of their page', async () => {
  const { signal } = new AbortController();
  const [ended, retired] = [await open(signal), await open(signal)];
  expect(getEventListeners(signal, 'abort')).toHaveLength(2);
  ended.end(new Error('Ended.'));
  await retired.retire(new Error('Retired.'));
  expect(getEventListeners(signal, 'abort')).toEqual([]);
});

test('a worker that takes minutes for a call without an open database does not count as hung', async () => {
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] });
  const result = { rows: 2, damaged: [], renamed: [] };
  const answers: (() => void)[] = [];
  const salvage = () =>
    new Promise<{ readonly ok: true; readonly value: SalvageResult }>((resolve) => {
      answers.push(() => resolve({ ok: true, value: result }));
    });
  const worker = new FakeWorker({ salvage }).asWorker();
  const done = Connection.once(worker, (host) => host.salvage('damaged', 'new'));
  done.catch(() => undefined);
  await expect.poll(() => answers).toHaveLength(1);
  vi.advanceTimersByTime(600_000);
  answers[0]?.();
  expect(await done).toEqual(result);
});

/** Something that a test waits for. `expect.poll()` would advance the clock that is faked. */
class Signals {
  private count = 0;
  private waiting: (() => void) | undefined = undefined;

  readonly add = (): void => {
    this.count += 1;
    this.waiting?.();
  };

  async reach(count: number): Promise<void> {
    while (this.count < count) await new Promise<void>((resolve) => (this.waiting = resolve));
  }
}

test('opening may take any time with signs of progress, and 30 seconds without one (L8, F8)', async () => {
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] });
  const [begun, heard] = [new Signals(), new Signals()];
  const fake = new FakeWorker({
    open: () => {
      begun.add();
      return missing;
    },
  });
  const opening = open(new AbortController().signal, fake, { onMessage: heard.add });
  opening.catch(() => undefined);
  await begun.reach(1);
  for (const count of [1, 2, 3]) {
    vi.advanceTimersByTime(29_999);
    fake.emit({ type: 'progress', task: 'move', name: undefined, done: count, isComplete: false });
    await heard.reach(count);
  }
  vi.advanceTimersByTime(29_999);
  expect(fake.isTerminated).toBe(false);
  vi.advanceTimersByTime(1);
  await expect(opening).rejects.toMatchObject({ code: 'storage_blocked' });
  expect(fake.isTerminated).toBe(true);
});

test('a worker that answers pings may take any time for a call, and one that does not is lost', async () => {
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] });
  const heard = new Signals();
  let isHung = false;
  const fake = new FakeWorker({
    verify: () => missing,
    onMessage: ({ type }, emit) => {
      if (type !== 'ping' || isHung) return;
      emit({ type: 'pong' });
      // A pong is heard by nobody else: with this message the test knows that it has arrived.
      emit({ type: 'unlocked' });
    },
  });
  const lost: unknown[] = [];
  const connection = await open(new AbortController().signal, fake, {
    onMessage: heard.add,
    onLost: (error) => {
      lost.push(error);
      heard.add();
    },
  });
  const call = connection.call((host) => host.verify());
  call.catch(() => undefined);
  for (let count = 1; count <= 10; count += 1) {
    vi.advanceTimersByTime(10_000);
    await heard.reach(count);
    expect(lost).toEqual([]);
  }
  isHung = true;
  vi.advanceTimersByTime(70_000);
  await expect(call).rejects.toMatchObject({ code: 'worker_lost' });
  expect(lost).toHaveLength(1);
  expect(fake.isTerminated).toBe(true);
});

test.each(['close', 'destroy'] as const)(
  'a worker has ten seconds to close its database, and any time to delete it: %s()',
  async (how) => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    const begun = new Signals();
    let finish = (): void => undefined;
    const ending = () =>
      new Promise<{ readonly ok: true; readonly value: undefined }>((resolve) => {
        finish = () => resolve({ ok: true, value: undefined });
        begun.add();
      });
    const fake = new FakeWorker({ [how]: ending });
    const connection = await open(new AbortController().signal, fake);
    const ended = connection.close(how, new Error('Closed.'));
    await begun.reach(1);
    vi.advanceTimersByTime(9_999);
    expect(fake.isTerminated).toBe(false);
    vi.advanceTimersByTime(1);
    expect(fake.isTerminated).toBe(how === 'close');
    vi.advanceTimersByTime(60_000);
    expect(fake.isTerminated).toBe(how === 'close');
    // close() resolves although its worker never answers.
    if (how === 'destroy') finish();
    await expect(ended).resolves.toBeUndefined();
    expect(fake.isTerminated).toBe(true);
  },
);
