import { getEventListeners } from 'node:events';
import { afterEach, expect, test, vi } from 'vitest';
import type { SalvageResult } from '../../host/salvage.ts';
import { SETTINGS } from '../../host/settings.ts';
import { readOptions } from '../read-options.ts';
import { FakeWorker } from '../testing/fake-worker.ts';
import { Connection } from './connection.ts';

afterEach(() => void vi.useRealTimers());

const OPTIONS = {
  name: 'notes',
  settings: readOptions(SETTINGS, {}),
  rootSecret: undefined,
  birth: undefined,
  syncSecret: undefined,
  aliveLock: 'alive',
};

const open = async (signal: AbortSignal): Promise<Connection> => {
  const worker = new FakeWorker().asWorker();
  const handlers = { onMessage: () => undefined, onLost: () => undefined };
  return (await Connection.open(worker, OPTIONS, handlers, signal)).connection;
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
