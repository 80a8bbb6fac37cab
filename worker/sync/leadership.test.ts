import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { FakeLocks } from '../testing/fake-locks.ts';
import { Leadership } from './leadership.ts';

interface Tab {
  readonly leadership: Leadership;
  readonly calls: string[];
}

/** Tabs that receive each other's messages, except for those that are silent. */
function tabsOver(locks: FakeLocks | undefined, count: number) {
  const silent = new Set<number>();
  const sent = { checks: 0, beats: 0 };
  const tabs: Tab[] = [];
  const add = (): void => {
    const i = tabs.length;
    const calls: string[] = [];
    const leadership = new Leadership({
      name: 'notes',
      locks: locks as unknown as LockManager | undefined,
      lead: () => calls.push('lead'),
      follow: () => calls.push('follow'),
      check: () => {
        sent.checks++;
        tabs.forEach((other, to) => {
          if (to !== i && !silent.has(to)) other.leadership.onCheck();
        });
      },
      beat: () => {
        sent.beats++;
        if (!silent.has(i)) for (const other of tabs) other.leadership.onBeat();
      },
    });
    tabs.push({ leadership, calls });
  };
  for (let i = 0; i < count; i++) add();
  return {
    tabs,
    add,
    silent,
    sent,
    leaders: () => tabs.flatMap(({ leadership }, i) => (leadership.leads ? [i] : [])),
  };
}

const pass = (ms: number) => vi.advanceTimersByTimeAsync(ms);

let closing: readonly Tab[] = [];
beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  for (const { leadership } of closing) leadership.close();
  vi.useRealTimers();
});

function open(count: number, { hasLocks } = { hasLocks: true }) {
  const made = tabsOver(hasLocks ? new FakeLocks() : undefined, count);
  closing = made.tabs;
  return made;
}

test('the first tab leads while the others wait, and the next one leads when it closes', async () => {
  const { tabs, leaders } = open(3);
  await pass(60_000);
  expect(leaders()).toEqual([0]);
  tabs[0]?.leadership.close();
  await pass(0);
  expect(leaders()).toEqual([1]);
  expect(tabs.map(({ calls }) => calls)).toEqual([['lead', 'follow'], ['lead'], []]);
});

test('a tab that is alone sends nothing and sets no timer', async () => {
  const { sent, leaders } = open(1);
  await pass(0);
  expect(leaders()).toEqual([0]);
  const { beats } = sent;
  expect(vi.getTimerCount()).toBe(0);
  await pass(60_000);
  expect(sent).toEqual({ checks: 0, beats });
});

test('however many tabs wait, one of them checks at a time, and the leader has no timer', async () => {
  const made = open(1);
  // Tabs are opened at different times.
  for (let i = 1; i < 10; i++) {
    await pass(150);
    made.add();
  }
  await pass(0);
  expect(vi.getTimerCount()).toBe(9);
  const before = { ...made.sent };
  await pass(60_000);
  const checks = made.sent.checks - before.checks;
  expect(made.leaders()).toEqual([0]);
  expect(made.sent.beats - before.beats).toBe(checks);
  expect(checks).toBeLessThanOrEqual(20);
});

test('a leader that does not answer two checks loses the lock, and waits for its next turn', async () => {
  const { tabs, silent, leaders } = open(2);
  await pass(10_000);
  silent.add(0);
  await pass(6000);
  expect(leaders()).toEqual([0]);
  await pass(4000);
  expect(leaders()).toEqual([1]);
  expect(tabs[0]?.calls).toEqual(['lead', 'follow']);
  silent.delete(0);
  // It waits for the lock, and does not steal it back.
  await pass(60_000);
  expect(leaders()).toEqual([1]);
  tabs[1]?.leadership.close();
  await pass(0);
  expect(leaders()).toEqual([0]);
});

test('a leader that gives up follows, and leads again when its turn comes', async () => {
  const { tabs, leaders } = open(2);
  tabs[0]?.leadership.giveUp();
  await pass(0);
  expect(leaders()).toEqual([1]);
  tabs[1]?.leadership.giveUp();
  await pass(0);
  expect(leaders()).toEqual([0]);
});

test('a tab does not count time in which it was frozen as silence of the leader', async () => {
  const { leaders, silent } = open(2);
  await pass(2000);
  silent.add(0);
  // Both were frozen, while their clocks continued.
  vi.setSystemTime(Date.now() + 60_000);
  vi.spyOn(performance, 'now').mockImplementation(() => Date.now());
  await pass(2000);
  silent.delete(0);
  await pass(30_000);
  expect(leaders()).toEqual([0]);
  vi.restoreAllMocks();
});

test('without Web Locks every tab leads', async () => {
  const { leaders } = open(2, { hasLocks: false });
  await pass(0);
  expect(leaders()).toEqual([0, 1]);
});

test('a closed tab does not lead, even if it gets the lock later', async () => {
  const { tabs, leaders } = open(2);
  tabs[1]?.leadership.close();
  tabs[0]?.leadership.close();
  await pass(10_000);
  expect(leaders()).toEqual([]);
  expect(tabs[1]?.calls).toEqual([]);
});
