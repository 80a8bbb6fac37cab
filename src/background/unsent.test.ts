import { expect, test } from 'vitest';
import {
  copyAnswers,
  openFake as openFakeCopy,
  syncOptions,
} from '../client/testing/fake-worker.ts';
import type { WriteData } from '../host/sync.ts';
import { UsageError, type Database, type Sync } from '../index.ts';
import { watchUnsent } from './unsent.ts';

/** A database whose answers arrive when the test gives them. */
function openFake() {
  const sync = new EventTarget();
  const files = new EventTarget();
  let lists = 0;
  let answerWrites: (pending: number) => void = () => undefined;
  let answerFiles: (unsent: number) => void = () => undefined;
  Object.assign(sync, {
    writes: {
      list: () =>
        new Promise((resolve) => {
          lists += 1;
          answerWrites = (pending) => resolve(Array.from({ length: pending }));
        }),
    },
  });
  Object.assign(files, {
    list: () =>
      new Promise((resolve) => {
        answerFiles = (unsent) =>
          resolve(Array.from({ length: unsent }, () => ({ state: 'unsent' })));
      }),
  });
  return {
    sync: sync as unknown as Sync,
    files: files as unknown as Database['files'],
    lists: () => lists,
    answer: (pending: number, unsent: number) => (answerWrites(pending), answerFiles(unsent)),
    progress: (pending: number) =>
      sync.dispatchEvent(new CustomEvent('progress', { detail: { pending } })),
    verdict: () => sync.dispatchEvent(new Event('verdict')),
  };
}

test('watchUnsent() reports the number of unsent writes and files until it is stopped', async () => {
  const { sync, files, answer, progress, verdict } = openFake();
  const counts: number[] = [];
  const stop = watchUnsent(sync, files, (count) => counts.push(count));
  answer(1, 2);
  await expect.poll(() => counts).toEqual([3]);
  progress(4);
  expect(counts).toEqual([3, 6]);
  verdict();
  answer(0, 0);
  await expect.poll(() => counts).toEqual([3, 6, 0]);
  verdict();
  stop();
  answer(7, 7);
  progress(7);
  await new Promise(setImmediate);
  expect(counts).toEqual([3, 6, 0]);
});

test('watchUnsent() does not replace a newer count with that of an older list', async () => {
  const { sync, files, answer, progress } = openFake();
  const counts: number[] = [];
  watchUnsent(sync, files, (count) => counts.push(count));
  progress(0);
  // A list from before the last verdict.
  answer(1, 0);
  await expect.poll(() => counts).toEqual([0, 0]);
});

test('watchUnsent() lists once more for all verdicts that arrive during a listing', async () => {
  const { sync, files, answer, verdict, lists } = openFake();
  const counts: number[] = [];
  watchUnsent(sync, files, (count) => counts.push(count));
  for (let n = 0; n < 100; n++) verdict();
  expect(lists()).toBe(1);
  answer(100, 0);
  await expect.poll(lists).toBe(2);
  answer(0, 1);
  await expect.poll(() => counts).toEqual([100, 1]);
  verdict();
  await expect.poll(lists).toBe(3);
});

test('watchUnsent() reports 0 when the database is deleted', async () => {
  const write = { id: '0.1', madeMicros: 0, query: '1', replaces: undefined, note: undefined };
  const local = { ...write, state: 'local', predicted: undefined } as WriteData;
  const writes = async () => ({ ok: true, value: [local] }) as const;
  const { db } = await openFakeCopy({ ...copyAnswers, writes });
  const counts: number[] = [];
  watchUnsent(await db.sync(syncOptions), db.files, (count) => counts.push(count));
  await expect.poll(() => counts.at(-1)).toBe(1);
  await db.signOut({ forget: true, discardUnsent: true });
  await expect.poll(() => counts.at(-1)).toBe(0);
});

test.each([undefined, {}, new EventTarget(), Promise.resolve()])(
  'watchUnsent() refuses %s as a sync',
  (sync) => {
    expect(() => watchUnsent(sync as Sync, undefined, () => undefined)).toThrow(UsageError);
  },
);
