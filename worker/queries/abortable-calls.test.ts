import { expect, test } from 'vitest';
import { refusalBody } from '../../src/engine/session.ts';
import { NO_METRICS } from '../../src/engine/session.ts';
import type { QueryReply } from '../../src/host/query.ts';
import { AbortableCalls, type Abortable } from './abortable-calls.ts';

const DONE: QueryReply = { status: 200, body: '{"resource":1}', metrics: NO_METRICS };
const LATE: QueryReply = {
  status: 503,
  body: refusalBody('time out', 'Query took too long.'),
  metrics: NO_METRICS,
};

/** A call that ends when the test says so, with the given reply. */
function call(calls: AbortableCalls, number: number) {
  let seen: Partial<Abortable> = {};
  let end: (reply: QueryReply) => void = () => undefined;
  const reply = calls.run(number, (abortable) => {
    seen = abortable;
    return new Promise<QueryReply>((resolve) => (end = resolve));
  });
  return { reply, isAbandoned: () => seen.isAbandoned?.(), end: (how: QueryReply) => end(how) };
}

test('a call that is aborted before its first execution ends at once, and other calls go on', async () => {
  const calls = new AbortableCalls();
  const [first, second] = [call(calls, 1), call(calls, 2)];
  calls.abort(2);
  calls.abort(3);
  await expect(second.reply).rejects.toMatchObject({ code: 'time out' });
  expect([first.isAbandoned(), second.isAbandoned()]).toEqual([false, true]);
  first.end(DONE);
  expect(await first.reply).toBe(DONE);
});

test('a call that is aborted after it has begun ends as the engine ends it', async () => {
  const calls = new AbortableCalls();
  const [stopped, committed] = [call(calls, 1), call(calls, 2)];
  for (const each of [stopped, committed]) expect(each.isAbandoned()).toBe(false);
  calls.abort(1);
  calls.abort(2);
  expect(stopped.isAbandoned()).toBe(true);
  stopped.end(LATE);
  committed.end(DONE);
  await expect(stopped.reply).rejects.toMatchObject({ code: 'time out' });
  expect(await committed.reply).toBe(DONE);
});

test('an aborted submitted write rejects, while a timeout without an abort is an answer', async () => {
  const calls = new AbortableCalls();
  const submitted = calls.run(1, async ({ isAbandoned }) => {
    isAbandoned?.();
    calls.abort(1);
    return { id: undefined, answer: LATE };
  });
  await expect(submitted).rejects.toMatchObject({ code: 'time out' });
  expect(await calls.run(1, () => Promise.resolve(LATE))).toBe(LATE);
  expect(await calls.run(undefined, () => Promise.resolve(LATE))).toBe(LATE);
});

test('runUntil() rejects at once when its call is aborted, and aborts its signal', async () => {
  const calls = new AbortableCalls();
  const signals: (AbortSignal | undefined)[] = [];
  const never = (signal?: AbortSignal): Promise<never> => {
    signals.push(signal);
    return new Promise(() => undefined);
  };
  const fetched = calls.runUntil(1, never);
  calls.abort(1);
  await expect(fetched).rejects.toMatchObject({ code: 'time out' });
  expect(signals[0]?.aborted).toBe(true);
  expect(await calls.runUntil(undefined, (signal) => Promise.resolve(signal))).toBeUndefined();
});
