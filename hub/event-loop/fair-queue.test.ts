import { expect, test } from 'vitest';
import { FairQueue } from './fair-queue.ts';

const take = (queue: FairQueue<string>, runningMax = 1): string | undefined =>
  queue.take(runningMax);

test('FairQueue takes from the line whose last turn was longest ago', () => {
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

test('FairQueue: a line that rejoins after its turn does not overtake others', () => {
  const queue = new FairQueue<string>();
  queue.add('a', 'a');
  take(queue);
  queue.add('b', 'b');
  queue.end('a');
  queue.add('a', 'a');
  expect(take(queue)).toBe('b');
});

test('FairQueue: an emptied line keeps its last turn, within a group and as a group of its own', () => {
  for (const group of [undefined, 'all']) {
    const queue = new FairQueue<string>();
    for (const name of ['a', 'b', 'c']) queue.add(name, name, group);
    for (const name of ['a', 'b', 'c']) expect(take(queue)).toBe(name);
    for (const name of ['a', 'b', 'c']) queue.end(name);
    for (const name of ['c', 'b', 'a']) queue.add(name, name, group);
    expect([take(queue), take(queue), take(queue)]).toEqual(['a', 'b', 'c']);
  }
});

test('FairQueue: a line of which all items run does not keep the others waiting', () => {
  const queue = new FairQueue<string>();
  queue.add('a', 'a1');
  queue.add('b', 'b1');
  expect([take(queue, 2), take(queue, 2)]).toEqual(['a1', 'b1']);
  queue.add('b', 'b2');
  expect(take(queue, 2)).toBe('b2');
});

test('FairQueue limits how many items of one line run at once', () => {
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
  expect([queue.size, queue.countOf('a'), queue.countOf('unknown')]).toEqual([0, 2, 0]);
});

test('FairQueue: running items count until they end, even if nothing of their line waits', () => {
  const queue = new FairQueue<string>();
  for (const item of ['a1', 'a2']) queue.add('a', item);
  expect([take(queue, 2), take(queue, 2)]).toEqual(['a1', 'a2']);
  queue.end('a');
  for (const item of ['a3', 'a4']) queue.add('a', item);
  expect([take(queue, 2), take(queue, 2)]).toEqual(['a3', undefined]);
});

test('FairQueue: an item that is put back is the next one of its line', () => {
  const queue = new FairQueue<string>();
  for (const item of ['a1', 'a2']) queue.add('a', item);
  expect(take(queue)).toBe('a1');
  queue.putBack('a', 'a1');
  expect(queue.size).toBe(2);
  expect([take(queue), take(queue)]).toEqual(['a1', undefined]);
});

test('FairQueue: a line whose items were all removed or displaced is forgotten', () => {
  const queue = new FairQueue<string>();
  queue.add('a', 'a');
  expect(queue.remove('a', 'a')).toBe(true);
  expect(queue.isEmpty).toBe(true);
  for (const name of ['b1', 'b2']) queue.add(name, name, 'b');
  expect(queue.displace('c')).toBe('b1');
  expect(queue.remove('b2', 'b2')).toBe(true);
  expect(queue.isEmpty).toBe(true);
});

test('FairQueue: the end of a line does not divide its group', () => {
  const queue = new FairQueue<string>();
  for (const name of ['a1', 'a2']) queue.add(name, name, 'a');
  expect(take(queue)).toBe('a1');
  queue.end('a1');
  expect(queue.isNextGroup('a')).toBe(false);
});

test('FairQueue gives a group with many lines as many turns as a group with one', () => {
  const queue = new FairQueue<string>();
  for (const n of [1, 2, 3, 4]) queue.add(`a${n}`, `a${n}`, 'a');
  queue.add('b', 'b1', 'b');
  queue.add('b', 'b2', 'b');
  const order = Array.from({ length: 4 }, () => {
    const taken = take(queue, 10) ?? '';
    queue.end(taken.startsWith('a') ? taken : 'b');
    return taken;
  });
  expect(order).toEqual(['a1', 'b1', 'a2', 'b2']);
  // Within the group, its lines take turns too.
  queue.add('a1', 'again', 'a');
  expect([take(queue), take(queue), take(queue)]).toEqual(['a3', 'a4', 'again']);
});

test('FairQueue: a group that rejoins after its turn does not overtake others', () => {
  const queue = new FairQueue<string>();
  queue.add('a1', 'a1', 'a');
  take(queue);
  queue.add('b', 'b', 'b');
  queue.end('a1');
  queue.add('a2', 'a2', 'a');
  expect(take(queue)).toBe('b');
});

test('FairQueue: a rarely used group goes before busy groups', () => {
  const queue = new FairQueue<string>();
  queue.recordTurn('seldom');
  for (const name of ['a', 'b']) queue.recordTurn(name);
  for (const name of ['a', 'b']) queue.add(name, name);
  expect([queue.isNextGroup('seldom'), queue.isNextGroup('unknown')]).toEqual([true, true]);
  queue.add('seldom', 'seldom 1');
  queue.add('seldom', 'seldom 2');
  expect(queue.isNextGroup('seldom')).toBe(false);
  const order = Array.from({ length: 4 }, () => take(queue, 2));
  expect(order).toEqual(['seldom 1', 'a', 'b', 'seldom 2']);
});

test('FairQueue: a group that has just had a turn is not the next one, even if none of its items waits', () => {
  const queue = new FairQueue<string>();
  queue.add('a', 'a');
  queue.add('b', 'b1');
  queue.add('b', 'b2');
  expect([take(queue), take(queue)]).toEqual(['a', 'b1']);
  queue.end('a');
  queue.end('b');
  expect(queue.isNextGroup('a')).toBe(true);
  queue.recordTurn('a');
  expect(queue.isNextGroup('a')).toBe(false);
});

test('FairQueue: within a group, a rarely used line goes before busy lines', () => {
  const queue = new FairQueue<string>();
  for (const name of ['seldom', 'a', 'b']) queue.recordTurn(name, 'group');
  for (const name of ['a', 'b']) queue.add(name, name, 'group');
  const next = (name: string, group = 'group'): boolean => queue.isNextInGroup(name, group);
  expect([next('seldom'), next('unknown'), next('a')]).toEqual([true, false, false]);
  // Nothing of that group waits, so the order of the groups decides.
  expect(next('seldom', 'another')).toBe(false);
  queue.add('seldom', 'seldom 1', 'group');
  queue.add('seldom', 'seldom 2', 'group');
  expect(next('seldom')).toBe(false);
  const order = Array.from({ length: 4 }, () => take(queue, 2));
  expect(order).toEqual(['seldom 1', 'a', 'b', 'seldom 2']);
});

test('FairQueue: a recorded turn also counts for waiting items', () => {
  const queue = new FairQueue<string>();
  for (const name of ['a', 'b']) queue.add(name, name);
  queue.recordTurn('a');
  expect([take(queue), take(queue)]).toEqual(['b', 'a']);
});

test('FairQueue remembers the last turns of a limited number of groups', () => {
  const queue = new FairQueue<string>();
  for (let n = 0; n < 2000; n += 1) queue.recordTurn(`${n}`);
  queue.add('first', 'first');
  expect([queue.isNextGroup('1999'), queue.isNextGroup('0')]).toEqual([false, true]);
});

test('FairQueue: a full queue drops the last item of the group with most waiting items', () => {
  const queue = new FairQueue<string>();
  for (const n of [1, 2, 3]) queue.add('a1', `a1 ${n}`, 'a');
  queue.add('a2', 'a2 1', 'a');
  queue.add('b1', 'b1 1', 'b');
  expect(queue.displace('c1', 'c')).toBe('a1 3');
  queue.add('c1', 'c1 1', 'c');
  // A newcomer of the same group is compared with the other lines of that group.
  expect([queue.displace('a1', 'a'), queue.displace('a2', 'a')]).toEqual([undefined, undefined]);
  expect(queue.displace('a3', 'a')).toBe('a1 2');
  queue.add('a3', 'a3 1', 'a');
  expect(queue.displace('b2', 'b')).toBe('a1 1');
  queue.add('b2', 'b2 1', 'b');
  // The others have no more than the newcomer's group would have.
  expect(queue.displace('b3', 'b')).toBeUndefined();
  expect(queue.size).toBe(5);
  expect(queue.waiting().toSorted()).toEqual(['a2 1', 'a3 1', 'b1 1', 'b2 1', 'c1 1']);
});

test('FairQueue: the group and the line with most waiting items need not be the oldest', () => {
  const queue = new FairQueue<string>();
  queue.add('a', 'a');
  queue.add('b1', 'b1', 'b');
  for (const n of [1, 2, 3]) queue.add('b2', `b2 ${n}`, 'b');
  expect(queue.displace('c')).toBe('b2 3');
});

test('FairQueue: a new line displaces nothing from a group whose lines have one item each', () => {
  const queue = new FairQueue<string>();
  for (const name of ['a1', 'a2']) queue.add(name, name, 'a');
  expect(queue.displace('a3', 'a')).toBeUndefined();
});
