import { expect, test } from 'vitest';
import { documentKey } from '../../src/codec/key.ts';
import type { CommitNotice } from '../../src/engine/host.ts';
import type { BuildProgress } from '../../src/engine/engine.ts';
import { createClock } from '../browser/clock.ts';
import { CommitFeed } from './commit-feed.ts';
import { IndexBuilder } from '../jobs/index-builder.ts';
import { OutgoingStreams } from '../queries/outgoing-streams.ts';
import { NATIVE } from '../../src/values/native-kinds.ts';

const commit = (previous: number, ts: number): CommitNotice => ({
  previous,
  ts,
  rows: [],
  entries: [],
});

test('CommitFeed tells which commits followed the ones it heard of', () => {
  const feed = new CommitFeed();
  const heard: string[] = [];
  const stop = feed.listen(({ ts }, { origin, isComplete }) =>
    heard.push(`${ts} ${origin} ${isComplete}`),
  );
  feed.publish(commit(4, 5), 'own');
  feed.publish(commit(5, 6), 'other');
  feed.publish(commit(8, 9), 'own');
  feed.publish(commit(6, 8), 'other');
  feed.publish(commit(9, 10), 'own');
  stop();
  feed.publish(commit(10, 11), 'own');
  expect(heard).toEqual([
    '5 own true',
    '6 other true',
    '9 own false',
    '8 other true',
    '10 own true',
  ]);
});

test('IndexBuilder builds when an index was touched, one build at a time, none forgotten', async () => {
  let running = 0;
  let builds = 0;
  const progress: BuildProgress[] = [];
  const builder = new IndexBuilder({
    name: 'notes',
    onProgress: (each) => progress.push(each),
    report: (reason) => {
      throw reason;
    },
    engine: {
      async buildIndexes(onProgress) {
        expect(++running).toBe(1);
        await Promise.resolve();
        onProgress?.({ index: 'all', done: 1, isComplete: true });
        running--;
        builds++;
      },
    },
  });
  const touching = (collection: number): CommitNotice => ({
    ...commit(0, 1),
    rows: [{ space: 'documents', key: documentKey(3, collection, 1n) }],
  });
  builder.noteCommit(touching(NATIVE.collections));
  builder.noteCommit(touching(1024));
  expect(running).toBe(0);
  builder.noteCommit(touching(NATIVE.indexes));
  builder.noteCommit(touching(NATIVE.indexes));
  await expect.poll(() => builds).toBe(1);
  builder.noteCommit(touching(NATIVE.indexes));
  builder.start();
  await expect.poll(() => builds).toBe(2);
  expect(progress).toHaveLength(2);
});

test('OutgoingStreams sends one part for each pull, and its end', async () => {
  const told: unknown[] = [];
  let closed = 0;
  const streams = new OutgoingStreams({
    tell: (message) => told.push(message),
    refusalOf: (reason) => ({ code: 'time out', status: 503, description: String(reason) }),
  });
  async function* parts(): AsyncGenerator<string> {
    try {
      yield 'a';
      yield 'b';
    } finally {
      closed++;
    }
  }
  const stream = streams.add(parts());
  await streams.pull(stream);
  await streams.pull(stream);
  await streams.pull(stream);
  await streams.pull(stream);
  expect(told).toEqual([
    { type: 'part', stream, part: 'a' },
    { type: 'part', stream, part: 'b' },
    { type: 'part', stream, part: undefined },
  ]);
  const second = streams.add(parts());
  await streams.pull(second);
  await streams.close();
  expect(closed).toBe(2);
  async function* failing(): AsyncGenerator<string> {
    yield await Promise.reject<string>(new Error('late'));
  }
  const third = streams.add(failing());
  await streams.pull(third);
  expect(told.at(-1)).toMatchObject({
    type: 'broken',
    stream: third,
    refusal: { code: 'time out' },
  });
});

test('createClock() follows the wall clock, in whole microseconds', () => {
  let wall = 1_000_000;
  let monotonic = 10;
  const clock = createClock(
    () => wall,
    () => monotonic,
  );
  expect(clock()).toBe(1_000_000_000);
  monotonic += 0.1234;
  expect(clock()).toBe(1_000_000_123);
  // The device slept: only the wall clock went on.
  wall += 60_000;
  expect(clock()).toBe(1_060_000_123 - 123);
  monotonic += 1;
  wall += 1;
  expect(clock()).toBe(1_060_001_000);
});
