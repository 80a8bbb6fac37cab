import { expect, test } from 'vitest';
import { keyOfBytes } from '../../src/codec/key.ts';
import type { CommitNotice } from '../../src/engine/host.ts';
import { Refusal } from '../../src/errors.ts';
import { shortNotice } from '../opening/follow-commits.ts';
import { CommitFeed } from './commit-feed.ts';
import { OutgoingStreams } from '../queries/outgoing-streams.ts';

const commit = (previous: number, ts: number): CommitNotice => ({
  previous,
  ts,
  rows: [],
  entries: [],
});

test('CommitFeed tells of each commit whether the one before it was received', () => {
  const feed = new CommitFeed();
  const received: string[] = [];
  const stop = feed.listen(({ ts }, { origin, isComplete }) =>
    received.push(`${ts} ${origin} ${isComplete}`),
  );
  feed.publish(commit(4, 5), 'own');
  feed.publish(commit(5, 6), 'other');
  feed.publish(commit(8, 9), 'own');
  feed.publish(commit(6, 8), 'other');
  feed.publish(commit(9, 10), 'own');
  stop();
  feed.publish(commit(10, 11), 'own');
  expect(received).toEqual([
    '5 own false',
    '6 other true',
    '9 own false',
    '8 other true',
    '10 own true',
  ]);
});

test('CommitFeed takes its first commit as incomplete, unless it is the first of the database', () => {
  const keys = Array.from({ length: 257 }, (_, i) => keyOfBytes(`k${i}`));
  const large: CommitNotice = {
    ...commit(4, 5),
    rows: keys.map((key) => ({ space: 'documents', key })),
  };
  const received = (first: CommitNotice): boolean[] => {
    const feed = new CommitFeed();
    const complete: boolean[] = [];
    feed.listen((_, { isComplete }) => complete.push(isComplete));
    feed.publish(first, 'other');
    return complete;
  };
  expect(received(shortNotice(large))).toEqual([false]);
  expect(received(commit(4, 5))).toEqual([false]);
  expect(received(commit(0, 5))).toEqual([true]);
});

test('OutgoingStreams sends one part for each pull, then the end or the error', async () => {
  const emitted: unknown[] = [];
  let closed = 0;
  const streams = new OutgoingStreams((message) => emitted.push(message));
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
  expect(emitted).toEqual([
    { type: 'part', stream, part: 'a' },
    { type: 'part', stream, part: 'b' },
    { type: 'part', stream, part: undefined },
  ]);
  const second = streams.add(parts());
  await streams.pull(second);
  await streams.close();
  expect(closed).toBe(2);
  async function* failing(): AsyncGenerator<string> {
    yield await Promise.reject<string>(new Refusal('time out', 'late'));
  }
  const third = streams.add(failing());
  await streams.pull(third);
  const refusal = { code: 'time out', description: 'late' };
  expect(emitted.at(-1)).toEqual({ type: 'broken', stream: third, refusal });
});
