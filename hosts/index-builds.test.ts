import { expect, test } from 'vitest';
import { documentKey } from '../src/codec/key.ts';
import type { CommitNotice } from '../src/engine/host.ts';
import { NATIVE } from '../src/values/native-kinds.ts';
import { IndexBuilds } from './index-builds.ts';

const commitTo = (collection: number): CommitNotice => ({
  previous: 0,
  ts: 1,
  rows: [{ space: 'documents', key: documentKey(3, collection, 1n) }],
  entries: [],
});

const noTimer = (): never => {
  throw new Error('No timer is expected.');
};

test('IndexBuilds builds after an index has changed, one build at a time, and again for changes during a build', async () => {
  const finish: (() => void)[] = [];
  let started = 0;
  const lookedIn: unknown[] = [];
  const builds = new IndexBuilds({
    build: (databases) => {
      started += 1;
      lookedIn.push(databases && [...databases]);
      expect(finish).toEqual([]);
      return new Promise((resolve) => finish.push(resolve));
    },
    report: (reason) => {
      throw reason;
    },
    after: noTimer,
  });
  const finishBuild = (): void => finish.shift()?.();
  builds.onCommit(commitTo(NATIVE.collections));
  builds.onCommit(commitTo(1024));
  expect(started).toBe(0);
  builds.onCommit(commitTo(NATIVE.indexes));
  expect(started).toBe(1);
  // However many commits arrive during a build, only one more build follows.
  builds.onCommit(commitTo(NATIVE.indexes));
  builds.start();
  expect(started).toBe(1);
  finishBuild();
  await expect.poll(() => started).toBe(2);
  finishBuild();
  await new Promise((resolve) => setImmediate(resolve));
  expect([started, finish]).toEqual([2, []]);
  // The first build is due to a commit to database 3, the second one also to `start()`.
  expect(lookedIn).toEqual([[3], undefined]);
});

test('IndexBuilds starts nothing and reports nothing after close()', async () => {
  const reported: unknown[] = [];
  let started = 0;
  let fail: (reason: unknown) => void = () => undefined;
  const builds = new IndexBuilds({
    build: () => {
      started += 1;
      return new Promise((_, reject) => (fail = reject));
    },
    report: (reason) => reported.push(reason),
    after: noTimer,
  });
  builds.start();
  builds.close();
  fail(new Error('cut off'));
  await Promise.resolve();
  builds.start();
  expect([started, reported]).toEqual([1, []]);
});

test('IndexBuilds retries a failed build after a delay that doubles each time', async () => {
  const waits: number[] = [];
  const waiting = new Set<() => void>();
  let isAway = true;
  let built = 0;
  const builds = new IndexBuilds({
    build: async () => {
      if (isAway) throw new Error('away');
      built += 1;
    },
    report: () => undefined,
    after: (ms, body) => {
      waits.push(ms);
      waiting.add(body);
      return () => waiting.delete(body);
    },
  });
  const pass = (): void => {
    for (const body of waiting) {
      waiting.delete(body);
      body();
    }
  };
  builds.start();
  for (let times = 1; times <= 8; times += 1) {
    await expect.poll(() => waits).toHaveLength(times);
    expect(waiting.size).toBe(1);
    pass();
  }
  await expect.poll(() => waits).toHaveLength(9);
  expect(waits.slice(0, 3)).toEqual([5_000, 10_000, 20_000]);
  expect(waits.at(-1)).toBe(300_000);
  isAway = false;
  pass();
  await expect.poll(() => built).toBe(1);
  isAway = true;
  builds.start();
  await expect.poll(() => waits.at(-1)).toBe(5_000);
  builds.close();
  expect(waiting.size).toBe(0);
});
