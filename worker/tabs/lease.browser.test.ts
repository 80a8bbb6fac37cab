import { expect, test } from 'vitest';
import { ANSWER_MS, Lease, LEASE_MS } from './lease.ts';

let databases = 0;

/** Tabs that use the browser's own locks, with a clock that tests set and short waits. */
class Origin {
  time = 0;
  waited: number[] = [];
  private readonly name = `lease-${++databases}-${Math.random()}`;
  private readonly tabs = new Set<Lease>();
  private lastId = 0;

  /** `deaf`: a frozen tab, which receives and answers nothing. */
  tab({ deaf = false } = {}): Lease {
    const lease: Lease = new Lease({
      name: this.name,
      id: String(++this.lastId),
      locks: navigator.locks,
      now: () => this.time,
      announce: () => {
        for (const tab of this.tabs) if (tab !== lease) tab.giveUp();
      },
      wait: (ms) => {
        this.waited.push(ms);
        return new Promise((resolve) => setTimeout(resolve, ms / 20));
      },
    });
    if (!deaf) this.tabs.add(lease);
    return lease;
  }
}

test('a lone tab holds the lease', async () => {
  const tab = new Origin().tab();
  expect(tab.isHeld()).toBe(false);
  await tab.join();
  expect(tab.isHeld()).toBe(true);
  tab.close();
  expect(tab.isHeld()).toBe(false);
});

test('a lease expires with its proof, and is renewed with a new one', async () => {
  const origin = new Origin();
  const tab = origin.tab();
  await tab.join();
  origin.time = LEASE_MS - 1;
  expect(tab.isHeld()).toBe(true);
  origin.time = LEASE_MS * 60;
  expect(tab.isHeld()).toBe(false);
  await expect.poll(() => tab.isHeld()).toBe(true);
  tab.close();
});

test('opening a second tab ends the lease of the first', async () => {
  const origin = new Origin();
  const first = origin.tab();
  const second = origin.tab();
  await first.join();
  await second.join();
  expect([first.isHeld(), second.isHeld()]).toEqual([false, false]);
  first.close();
  second.onLeft();
  await expect.poll(() => second.isHeld()).toBe(true);
  second.close();
});

test('term() changes only after another tab could have committed', async () => {
  const origin = new Origin();
  const tab = origin.tab();
  await tab.join();
  const first = tab.term();
  expect(first).toBeDefined();
  origin.time = LEASE_MS * 60;
  expect(tab.term()).toBeUndefined();
  // A new proof shows that the lock was held all the time.
  await expect.poll(() => tab.term()).toBe(first);
  const other = origin.tab();
  await other.join();
  expect(tab.term()).toBeUndefined();
  other.close();
  tab.onLeft();
  await expect.poll(() => tab.isHeld()).toBe(true);
  expect(tab.term()).not.toBe(first);
  tab.close();
});

test('a tab that is the only one left finds out without a message', async () => {
  const origin = new Origin();
  const first = origin.tab();
  const second = origin.tab();
  await Promise.all([first.join(), second.join()]);
  second.close();
  expect(first.isHeld()).toBe(false);
  origin.time += 60_000;
  await expect.poll(() => first.isHeld()).toBe(true);
  first.close();
});

test('a tab that opens beside a frozen one waits until the last proof of its lease has expired', async () => {
  const origin = new Origin();
  const frozen = origin.tab({ deaf: true });
  const other = origin.tab();
  await frozen.join();
  await other.join();
  expect(origin.waited.filter((ms) => ms !== ANSWER_MS)).toEqual([expect.closeTo(LEASE_MS + 200)]);
  // After it resumes: it has noticed that the lock is gone, whatever its clock says.
  expect(frozen.isHeld()).toBe(false);
  expect(other.isHeld()).toBe(false);
  frozen.close();
  other.close();
});

test('of many tabs that open at once none holds the lease; the last one left gets it', async () => {
  const origin = new Origin();
  const tabs = Array.from({ length: 5 }, () => origin.tab());
  await Promise.all(tabs.map((tab) => tab.join()));
  expect(tabs.map((tab) => tab.isHeld())).toEqual(tabs.map(() => false));
  const [last, ...others] = tabs;
  for (const tab of others) tab.close();
  last?.onLeft();
  await expect.poll(() => last?.isHeld()).toBe(true);
  last?.close();
});
