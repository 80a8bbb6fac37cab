import { expect, test } from 'vitest';
import { documentKey, historyKey } from '../src/codec/key.ts';
import type { CommitNotice } from '../src/engine/host.ts';
import { NATIVE } from '../src/values/native-kinds.ts';
import { SweepSchedule } from './sweep-schedule.ts';

/** Timers that fire when a test tells them to. */
function timers() {
  const waiting: { readonly ms: number; readonly body: () => void }[] = [];
  return {
    after: (ms: number, body: () => void) => {
      const timer = { ms, body };
      waiting.push(timer);
      return () => {
        const at = waiting.indexOf(timer);
        if (at >= 0) waiting.splice(at, 1);
      };
    },
    planned: () => waiting.map(({ ms }) => ms),
    fire: () => waiting.shift()?.body(),
  };
}

const notice = (rows: CommitNotice['rows']): CommitNotice => ({
  previous: 1,
  ts: 2,
  rows,
  entries: [],
});
const deleted = notice([{ space: 'history', key: historyKey(0, NATIVE.indexes, 1n, 2) }]);
const created = notice([{ space: 'documents', key: documentKey(0, NATIVE.indexes, 1n) }]);

const FIRST = 10_000;
const HOUR = 3_600_000;

test('SweepSchedule sweeps ten seconds after opening, then every hour, even after an error', async () => {
  const { after, planned, fire } = timers();
  const reported: unknown[] = [];
  let passes = 0;
  const schedule = new SweepSchedule({
    after,
    report: (reason) => reported.push(reason),
    sweep: async () => {
      passes += 1;
      if (passes === 1) throw new Error('no room');
    },
  });
  expect(planned()).toEqual([FIRST]);
  fire();
  await expect.poll(planned).toEqual([HOUR]);
  expect(reported).toEqual([new Error('no room')]);
  fire();
  await expect.poll(planned).toEqual([HOUR]);
  expect(passes).toBe(2);
  schedule.close();
  expect(planned()).toEqual([]);
});

test('SweepSchedule sweeps soon after the deletion of a collection, index or database, once for several', async () => {
  const { after, planned, fire } = timers();
  let end: () => void = () => undefined;
  const schedule = new SweepSchedule({
    after,
    report: (reason) => {
      throw reason;
    },
    sweep: () => new Promise((resolve) => (end = resolve)),
  });
  schedule.onCommit(created);
  expect(planned()).toEqual([FIRST]);
  schedule.onCommit(deleted);
  schedule.onCommit(deleted);
  expect(planned()).toEqual([5000]);
  fire();
  // The running sweep may already have passed what is deleted during it.
  schedule.onCommit(deleted);
  expect(planned()).toEqual([]);
  end();
  await expect.poll(planned).toEqual([5000]);
  fire();
  end();
  await expect.poll(planned).toEqual([HOUR]);
  schedule.close();
});
