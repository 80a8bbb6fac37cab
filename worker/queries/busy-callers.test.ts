import { afterEach, expect, test, vi } from 'vitest';
import { pause } from '../browser/pause.ts';
import { BusyCallers } from './busy-callers.ts';

afterEach(() => vi.useRealTimers());

/** Each query takes 10 ms of a clock that only queries advance. */
function openCallers() {
  vi.useFakeTimers({ toFake: ['Date', 'performance'] });
  const callers = new BusyCallers();
  const ended: string[] = [];
  const later = (ms: number) => void vi.advanceTimersByTime(ms);
  const run = async (query: string): Promise<void> => {
    const caller = query.slice(0, 1);
    const free = callers.whenFree(caller);
    if (free) await free;
    later(10);
    callers.note(caller, 10);
    ended.push(query);
  };
  return { callers, run, ended, later };
}

test('queries of a busy caller wait for those of others, and keep their order', async () => {
  const { run, ended } = openCallers();
  const queries = Array.from({ length: 12 }, (_, n) => `a${n}`);
  const all = queries.map(run);
  const begun = ended.length;
  expect(begun).toBeLessThan(8);
  all.push(run('b0'));
  expect(ended.at(-1)).toBe('b0');
  await Promise.all(all);
  expect(ended.filter((query) => query.startsWith('a'))).toEqual(queries);
});

test('a busy caller that waits for each answer does not wait for a turn', async () => {
  const { callers, run } = openCallers();
  for (let i = 0; i < 8; i++) await run('a');
  await pause();
  expect(callers.whenFree('a')).toBeUndefined();
  expect(callers.whenFree('a')).toBeInstanceOf(Promise);
});

test('a caller that was busy begins at once after three seconds', async () => {
  const { run, ended, later } = openCallers();
  await Promise.all(['a0', 'a1', 'a2', 'a3', 'a4', 'a5', 'a6', 'a7'].map(run));
  await pause();
  later(3000);
  void run('a8');
  expect(ended.at(-1)).toBe('a8');
});

test('a busy caller holds up others only if there are others', async () => {
  const { callers, run, later } = openCallers();
  for (let i = 0; i < 8; i++) await run('a');
  expect(callers.holdsUpOthers('a')).toBe(false);
  await run('b');
  expect([callers.holdsUpOthers('a'), callers.holdsUpOthers('b')]).toEqual([true, false]);
  later(1100);
  await run('a');
  expect(callers.holdsUpOthers('a')).toBe(false);
});

test('callers beyond the latest hundred are forgotten', async () => {
  const { callers, run } = openCallers();
  for (let i = 0; i < 8; i++) await run('a');
  await pause();
  expect([callers.whenFree('a'), callers.whenFree('a')]).toEqual([undefined, expect.any(Promise)]);
  // Both queries take a turn.
  for (let i = 0; i < 3; i++) await pause();
  for (let i = 0; i < 100; i++) callers.note(`client ${i}`, 0);
  expect(callers.whenFree('a')).toBeUndefined();
});

test('a caller is not busy for longer if the clock is set back', async () => {
  const { callers, run, later } = openCallers();
  for (let i = 0; i < 3; i++) await run('a');
  await run('b');
  vi.setSystemTime(Date.now() - 3_600_000);
  await run('a');
  later(3000);
  expect([callers.holdsUpOthers('a'), callers.whenFree('a')]).toEqual([false, undefined]);
});
