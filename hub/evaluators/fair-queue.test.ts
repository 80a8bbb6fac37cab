import { expect, test } from 'vitest';
import { FairQueue } from './fair-queue.ts';

const take = (queue: FairQueue<string>, runningMax = 1): string | undefined =>
  queue.take(runningMax);

test('FairQueue takes from the line that has waited longest since its last turn', () => {
  const queue = new FairQueue<string>();
  queue.add('a', 'a1');
  queue.add('a', 'a2');
  expect(take(queue)).toBe('a1');
  queue.add('a', 'a3');
  queue.add('b', 'b1');
  queue.add('b', 'b2');
  queue.add('c', 'c1');
  const order: unknown[] = [];
  for (let running = 'a'; running !== '';) {
    queue.end(running);
    const next = take(queue);
    order.push(next);
    running = next?.charAt(0) ?? '';
  }
  expect(order).toEqual(['b1', 'c1', 'a2', 'b2', 'a3', undefined]);
  expect(queue.isEmpty).toBe(true);
});

test('FairQueue lets nobody overtake by coming again after each turn', () => {
  const queue = new FairQueue<string>();
  queue.add('a', 'a');
  take(queue);
  queue.add('b', 'b');
  queue.end('a');
  queue.add('a', 'a');
  expect(take(queue)).toBe('b');
});

test('FairQueue lets so many of one line run at once', () => {
  const queue = new FairQueue<string>();
  for (const item of ['a1', 'a2', 'a3']) queue.add('a', item);
  queue.add('b', 'b1');
  expect([take(queue, 2), take(queue, 2), take(queue, 2), take(queue, 2)]).toEqual([
    'a1',
    'b1',
    'a2',
    undefined,
  ]);
  expect([queue.size, queue.countOf('a')]).toEqual([1, 3]);
  expect([queue.remove('a', 'a3'), queue.remove('a', 'a3')]).toEqual([true, false]);
});
