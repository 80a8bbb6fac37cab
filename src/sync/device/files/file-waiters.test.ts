import { expect, test } from 'vitest';
import { Signal } from '../syncer/signal.ts';
import { FileWaiters, type FileWait } from './file-waiters.ts';

const EARLY = new Error('too early');
const FINAL = new Error('for good');

/** A call that waits for a file. The test answers it, and ends its pauses, unless it is woken. */
function waiting(waits: FileWaiters, file: string) {
  const asked: {
    answer: (value: string) => void;
    refuse: (reason: Error) => void;
    getOn: () => void;
  }[] = [];
  const woken = new Signal();
  const wait: FileWait<string> = {
    file,
    woken,
    ask: (getOn) =>
      new Promise((answer, refuse) => {
        asked.push({ answer, refuse, getOn });
      }),
    pauseAfter: (reason, failures) => (reason === FINAL ? undefined : failures),
  };
  return { asked, woken, done: waits.until(wait) };
}

/** @param pauses of calls that are waiting: their duration, and a function that ends each */
function fileWaits() {
  const pauses: { readonly ms: number; readonly end: () => void }[] = [];
  const waits = new FileWaiters(
    (ms, signal) =>
      new Promise((resolve) => {
        pauses.push({ ms, end: resolve });
        signal.onRaised(resolve);
      }),
  );
  return { waits, pauses };
}

test('a waiting call asks again only when its file has arrived at the hub', async () => {
  const { waits, pauses } = fileWaits();
  const heron = waiting(waits, 'heron');
  const owl = waiting(waits, 'owl');
  heron.asked[0]?.refuse(EARLY);
  owl.asked[0]?.refuse(EARLY);
  await expect.poll(() => pauses).toHaveLength(2);
  waits.wake(['wren', 'heron']);
  await expect.poll(() => heron.asked).toHaveLength(2);
  expect(owl.asked).toHaveLength(1);
  heron.asked[1]?.answer('bytes');
  expect(await heron.done).toBe('bytes');
  waits.wake();
  await expect.poll(() => owl.asked).toHaveLength(2);
  owl.asked[1]?.answer('other bytes');
  expect(await owl.done).toBe('other bytes');
});

test('a wake-up during a request to the hub is not lost', async () => {
  const { waits } = fileWaits();
  const { asked, done } = waiting(waits, 'heron');
  waits.wake(['heron']);
  asked[0]?.refuse(EARLY);
  await expect.poll(() => asked).toHaveLength(2);
  asked[1]?.answer('bytes');
  expect(await done).toBe('bytes');
});

test('a waiting call asks again after its pause or when it is woken from outside', async () => {
  const { waits, pauses } = fileWaits();
  const { asked, woken, done } = waiting(waits, 'heron');
  asked[0]?.refuse(EARLY);
  await expect.poll(() => pauses).toHaveLength(1);
  pauses[0]?.end();
  await expect.poll(() => asked).toHaveLength(2);
  asked[1]?.refuse(EARLY);
  await expect.poll(() => pauses.map(({ ms }) => ms)).toEqual([0, 1]);
  woken.raise();
  await expect.poll(() => asked).toHaveLength(3);
  asked[2]?.refuse(FINAL);
  await expect(done).rejects.toBe(FINAL);
});

test('a call that makes progress before it fails starts again with the shortest pause', async () => {
  const { waits, pauses } = fileWaits();
  const { asked } = waiting(waits, 'heron');
  for (const [times, isGettingOn] of [false, false, true, false].entries()) {
    await expect.poll(() => asked).toHaveLength(times + 1);
    if (isGettingOn) asked[times]?.getOn();
    asked[times]?.refuse(EARLY);
    await expect.poll(() => pauses).toHaveLength(times + 1);
    pauses[times]?.end();
  }
  expect(pauses.map(({ ms }) => ms)).toEqual([0, 1, 0, 1]);
});

test('fail() rejects waiting calls at once, and running ones if their request fails', async () => {
  const { waits, pauses } = fileWaits();
  const [waits1, asks, succeeds] = [1, 2, 3].map(() => waiting(waits, 'heron'));
  waits1?.asked[0]?.refuse(EARLY);
  await expect.poll(() => pauses).toHaveLength(1);
  const stopped = new Error('stopped');
  waits.fail(stopped);
  await expect(waits1?.done).rejects.toBe(stopped);
  asks?.asked[0]?.refuse(EARLY);
  await expect(asks?.done).rejects.toBe(stopped);
  succeeds?.asked[0]?.answer('bytes');
  expect(await succeeds?.done).toBe('bytes');
  expect([waits1, asks, succeeds].map((each) => each?.asked.length)).toEqual([1, 1, 1]);
});
