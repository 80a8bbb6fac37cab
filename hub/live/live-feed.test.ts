import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { keyOfBytes } from '../../src/codec/key.ts';
import type { CommitNotice, ReadSet } from '../../src/engine/host.ts';
import { Changes } from '../../src/http/changes.ts';
import { anyNotice, anyReads } from '../../src/http/testing/changes-arbitrary.ts';
import { boundedReads } from '../evaluators/bounded-reads.ts';
import { LiveFeed } from './live-feed.ts';

const TEN_ROWS = 'abcdefghij'.split('').map((letter) => ({
  space: 'documents' as const,
  key: keyOfBytes(letter),
}));
const changeOfHistory = (letter: string): CommitNotice => ({
  previous: 0,
  ts: 1,
  rows: [{ space: 'history', key: keyOfBytes(letter) }],
  entries: [],
});

test('boundedReads() returns few reads that every change to the original reads touches', () => {
  fc.assert(
    fc.property(anyReads, anyNotice, fc.integer({ min: 4, max: 8 }), (readSet, each, max) => {
      const bounded = boundedReads(readSet, max);
      expect(bounded.rows.length + bounded.ranges.length).toBeLessThanOrEqual(max);
      const changes = new Changes([each]);
      expect(changes.touches(bounded) || !changes.touches(readSet)).toBe(true);
    }),
    { examples: [[{ rows: TEN_ROWS, ranges: [] }, changeOfHistory('a'), 4]] },
  );
});

const NOTHING: ReadSet = { rows: [], ranges: [] };

function openFeed(keysMax = 10) {
  const perTurn = [0];
  const told: Changes[] = [];
  const feed = new LiveFeed({
    pause: async () => {
      await new Promise((resolve) => setImmediate(resolve));
      perTurn.push(0);
    },
    keysMax,
    report: (reason) => {
      throw reason;
    },
  });
  const follower = {
    size: 10,
    onChanges: (changes: Changes) => {
      told.push(changes);
      perTurn[perTurn.length - 1] = (perTurn.at(-1) ?? 0) + 1;
    },
  };
  return { feed, follower, told, perTurn };
}

const rowsOf = (previous: number, count: number) =>
  Array.from({ length: count }, (_, i) => ({
    space: 'documents' as const,
    key: keyOfBytes(`${previous} ${i}`),
  }));
const commit = (previous: number, keys = 1): CommitNotice => ({
  previous,
  ts: previous + 1,
  rows: rowsOf(previous, keys),
  entries: [],
});

test('thousands of live queries are notified of a commit over several turns of the event loop', async () => {
  const { feed, follower, told, perTurn } = openFeed();
  for (let i = 0; i < 500; i++) feed.add({ ...follower });
  expect(feed.size).toBe(5000);
  feed.onCommit(commit(1));
  await expect.poll(() => told.length).toBe(500);
  expect(Math.max(...perTurn)).toBeLessThanOrEqual(26);
});

test('commits of one turn are reported together; a large commit or a gap counts as any change', async () => {
  const { feed, follower, told } = openFeed();
  feed.onCommit(commit(0));
  const stop = feed.add(follower);
  for (let ts = 1; ts < 6; ts++) feed.onCommit(commit(ts));
  await expect.poll(() => told.length).toBe(1);
  expect(told[0]?.touches(NOTHING)).toBe(false);
  for (let ts = 1; ts < 6; ts++)
    expect(told[0]?.touches({ rows: rowsOf(ts, 1), ranges: [] })).toBe(true);
  feed.onCommit(commit(6, 11));
  await expect.poll(() => told.length).toBe(2);
  expect(told[1]?.touches(NOTHING)).toBe(true);
  feed.onCommit(commit(20));
  await expect.poll(() => told.length).toBe(3);
  expect(told[2]?.touches(NOTHING)).toBe(true);
  // Index entries count as keys too.
  feed.onCommit({ ...commit(21), entries: rowsOf(21, 10) });
  await expect.poll(() => told.length).toBe(4);
  expect(told[3]?.touches(NOTHING)).toBe(true);
  feed.onCommit(commit(22, 10));
  await expect.poll(() => told.length).toBe(5);
  expect(told[4]?.touches(NOTHING)).toBe(false);
  stop();
  feed.onCommit(commit(23));
  await new Promise((resolve) => setImmediate(resolve));
  expect(told.length).toBe(5);
});
