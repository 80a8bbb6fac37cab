import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import type { Engine } from '../../src/engine/engine.ts';
import { openJobs } from './background-jobs.ts';

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

function openCounted() {
  const begun: string[] = [];
  const engine: Pick<Engine, 'buildIndexes' | 'collectExpiredData'> = {
    buildIndexes: () => Promise.resolve(void begun.push('builds')),
    collectExpiredData: () => Promise.resolve(begun.push('expired data')),
  };
  const jobs = openJobs({
    name: 'db',
    locks: undefined,
    engine: engine as Engine,
    files: { sweep: () => Promise.resolve(void begun.push('files')) },
    logs: {
      exports: { work: () => Promise.resolve(void begun.push('exports')) },
      sweep: () => Promise.resolve(void begun.push('logs')),
    },
    emit: () => undefined,
    report: (reason) => expect.unreachable(String(reason)),
  });
  return { jobs, begun };
}

test('unfinished index builds and exports resume half a second after opening', async () => {
  const { jobs, begun } = openCounted();
  jobs.start();
  await vi.advanceTimersByTimeAsync(499);
  expect(begun).toEqual([]);
  await vi.advanceTimersByTimeAsync(1);
  expect(begun.toSorted()).toEqual(['builds', 'exports']);
  jobs.close();
});

test('no job begins after close()', async () => {
  const { jobs, begun } = openCounted();
  jobs.start();
  jobs.close();
  await vi.advanceTimersByTimeAsync(10_000);
  expect(begun).toEqual([]);
});

test('expired data, files and logs are removed within twenty seconds after opening', async () => {
  const { jobs, begun } = openCounted();
  jobs.start();
  await vi.advanceTimersByTimeAsync(20_000);
  expect(begun).toEqual(expect.arrayContaining(['expired data', 'files', 'logs']));
  jobs.close();
});
