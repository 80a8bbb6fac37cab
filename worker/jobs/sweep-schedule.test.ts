import { expect, test } from 'vitest';
import { documentKey, historyKey } from '../../src/codec/key.ts';
import type { CommitNotice } from '../../src/engine/host.ts';
import { Housekeeper } from './sweep-schedule.ts';
import { NATIVE } from '../../src/values/native-kinds.ts';

/** Timers that go off when they are told to. */
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
    goOff: () => waiting.shift()?.body(),
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

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;

test('Housekeeper collects a while after opening, then every hour, and goes on after a failure', async () => {
  const { after, planned, goOff } = timers();
  const reported: unknown[] = [];
  let passes = 0;
  const keeper = new Housekeeper({
    name: 'notes',
    after,
    report: (reason) => reported.push(reason),
    engine: {
      collectGarbage: async () => {
        passes += 1;
        if (passes === 1) throw new Error('no room');
      },
    },
  });
  expect(planned()).toEqual([MINUTE]);
  goOff();
  await expect.poll(planned).toEqual([HOUR]);
  expect(reported).toEqual([new Error('no room')]);
  goOff();
  await expect.poll(planned).toEqual([HOUR]);
  expect(passes).toBe(2);
  keeper.close();
  expect(planned()).toEqual([]);
});

test('Housekeeper collects soon after the end of a collection, an index or a database, once for many', async () => {
  const { after, planned, goOff } = timers();
  let end: () => void = () => undefined;
  const keeper = new Housekeeper({
    name: 'notes',
    after,
    report: (reason) => {
      throw reason;
    },
    engine: { collectGarbage: () => new Promise((resolve) => (end = resolve)) },
  });
  keeper.noteCommit(created);
  expect(planned()).toEqual([MINUTE]);
  keeper.noteCommit(deleted);
  keeper.noteCommit(deleted);
  expect(planned()).toEqual([5000]);
  goOff();
  // What ends meanwhile may have been passed already.
  keeper.noteCommit(deleted);
  expect(planned()).toEqual([]);
  end();
  await expect.poll(planned).toEqual([5000]);
  goOff();
  end();
  await expect.poll(planned).toEqual([HOUR]);
  keeper.close();
});
