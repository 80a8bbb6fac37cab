import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { expect, test } from 'vitest';
import { q, type Client, type Observer } from '../../index.ts';
import { queriesOf } from './shared-queries.ts';

setFlagsFromString('--expose-gc');
const collect = runInNewContext('gc') as () => void;

/** Answers each query with a new object. */
const answering = (): Client =>
  ({
    subscribe: (_: unknown, observer: Observer<unknown>) => {
      observer.next({}, { partial: [], from: 'device' });
      return () => undefined;
    },
  }) as unknown as Client;

const nextTask = () => new Promise((resolve) => setTimeout(resolve));

test('find() returns the same object for a query that is in use, however many there are', () => {
  const queries = queriesOf(answering());
  const held = Array.from({ length: 500 }, (_, n) => queries.find(q.Add(n, 0)));
  expect(held.map((query, n) => query === queries.find(q.Add(n, 0)))).not.toContain(false);
});

test('the values of the last 100 queries without a subscriber are kept', async () => {
  const queries = queriesOf(answering());
  const values: WeakRef<object>[] = [];
  for (let n = 0; n < 150; n++) {
    const query = queries.find(q.Add(n, 0));
    const stop = query.subscribe(() => undefined);
    values.push(new WeakRef(query.get().value as object));
    stop();
  }
  await nextTask();
  // A WeakRef that was dereferenced keeps its target alive until the end of the task.
  await nextTask();
  collect();
  const isKept = values.map((value) => value.deref() !== undefined);
  expect(isKept).toEqual([...Array(50).fill(false), ...Array(100).fill(true)]);
});
