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

test('IndexBuilds builds when an index was changed, one build at a time, and forgets none', async () => {
  const finish: (() => void)[] = [];
  let started = 0;
  const builds = new IndexBuilds({
    build: () => {
      started += 1;
      expect(finish).toEqual([]);
      return new Promise((resolve) => finish.push(resolve));
    },
    report: (reason) => {
      throw reason;
    },
  });
  const finishBuild = (): void => finish.shift()?.();
  builds.noteCommit(commitTo(NATIVE.collections));
  builds.noteCommit(commitTo(1024));
  expect(started).toBe(0);
  builds.noteCommit(commitTo(NATIVE.indexes));
  expect(started).toBe(1);
  // However many commits come during a build, one more follows it.
  builds.noteCommit(commitTo(NATIVE.indexes));
  builds.start();
  expect(started).toBe(1);
  finishBuild();
  await expect.poll(() => started).toBe(2);
  finishBuild();
  await new Promise((resolve) => setImmediate(resolve));
  expect([started, finish]).toEqual([2, []]);
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
  });
  builds.start();
  builds.close();
  fail(new Error('cut off'));
  await Promise.resolve();
  builds.start();
  expect([started, reported]).toEqual([1, []]);
});
