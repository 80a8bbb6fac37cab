import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { expect, test } from 'vitest';
import { LaneQueue } from './lane-queue.ts';

setFlagsFromString('--expose-gc');
const collectGarbage = runInNewContext('gc') as () => void;

test('LaneQueue runs tasks of one lane in order and tasks of other lanes in parallel', async () => {
  const queue = new LaneQueue<string>();
  const order: string[] = [];
  let goOn = (): void => undefined;
  const first = queue.run(['a'], () => new Promise<void>((resolve) => (goOn = resolve)));
  const second = queue.run(['a', 'b'], async () => void order.push('both'));
  await queue.run(['c'], async () => void order.push('other'));
  expect(order).toEqual(['other']);
  goOn();
  await Promise.all([first, second]);
  expect(order).toEqual(['other', 'both']);
});

test('LaneQueue continues after a task that fails', async () => {
  const queue = new LaneQueue<string>();
  await expect(queue.run(['a'], () => Promise.reject(new Error('no')))).rejects.toThrow('no');
  expect(await queue.run(['a'], async () => 1)).toBe(1);
});

test('LaneQueue does not keep the result of a completed task', async () => {
  const queue = new LaneQueue<string>();
  const run = async () => new WeakRef(await queue.run(['a'], async () => ({ rows: ['many'] })));
  const result = await run();
  const isForgotten = (): boolean => {
    collectGarbage();
    return result.deref() === undefined;
  };
  await expect.poll(isForgotten).toBe(true);
  expect(await queue.run(['a'], async () => 1)).toBe(1);
});
