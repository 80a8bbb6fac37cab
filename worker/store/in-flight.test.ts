import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { Watchdog } from './watchdog.ts';
import { needsOneAtATime, InFlight } from './in-flight.ts';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

const oneAtATime = (): InFlight => new InFlight({ isOneAtATime: true, watchdog: new Watchdog() });

/** Records the name when the transaction may begin, or the reason why it may not. */
function enterAs(name: string, inFlight: InFlight, noted: string[]): void {
  void Promise.resolve(inFlight.enter()).then(
    () => noted.push(name),
    (reason: { readonly code?: string; readonly message: string }) =>
      noted.push(`${name}: ${reason.code ?? reason.message}`),
  );
}

test('enter() admits transactions one at a time, in the order of their calls', async () => {
  const inFlight = oneAtATime();
  expect(inFlight.enter()).toBeUndefined();
  const noted: string[] = [];
  for (const name of ['a', 'b', 'c']) enterAs(name, inFlight, noted);
  await vi.advanceTimersByTimeAsync(0);
  expect(noted).toEqual([]);
  for (const expected of [['a'], ['a', 'b'], ['a', 'b', 'c']]) {
    inFlight.leave();
    await vi.advanceTimersByTimeAsync(0);
    expect(noted).toEqual(expected);
  }
  inFlight.leave();
  expect(inFlight.enter()).toBeUndefined();
});

test('enter() admits all transactions at once without isOneAtATime', () => {
  const inFlight = new InFlight({ isOneAtATime: false, watchdog: new Watchdog() });
  expect([inFlight.enter(), inFlight.enter()]).toEqual([undefined, undefined]);
});

test('enter() rejects with storage_blocked after a long wait, and the next in the queue is admitted', async () => {
  const inFlight = oneAtATime();
  void inFlight.enter();
  const noted: string[] = [];
  enterAs('early', inFlight, noted);
  await vi.advanceTimersByTimeAsync(8_000);
  enterAs('late', inFlight, noted);
  await vi.advanceTimersByTimeAsync(5_000);
  expect(noted).toEqual(['early: storage_blocked']);
  inFlight.leave();
  await vi.advanceTimersByTimeAsync(0);
  expect(noted).toEqual(['early: storage_blocked', 'late']);
});

test('enter() waits while the transaction in progress gets responses, and at most a minute after the last one', async () => {
  const inFlight = oneAtATime();
  void inFlight.enter();
  const noted: string[] = [];
  enterAs('patient', inFlight, noted);
  await vi.advanceTimersByTimeAsync(8_000);
  inFlight.answered();
  await vi.advanceTimersByTimeAsync(50_000);
  expect(noted).toEqual([]);
  enterAs('next', inFlight, noted);
  inFlight.leave();
  await vi.advanceTimersByTimeAsync(8_000);
  expect(noted).toEqual(['patient']);
  inFlight.answered();
  await vi.advanceTimersByTimeAsync(62_000);
  expect(noted).toEqual(['patient', 'next: storage_unavailable']);
});

test('refuseWaiting() rejects the waiting transactions, not the one in progress', async () => {
  const inFlight = oneAtATime();
  void inFlight.enter();
  const noted: string[] = [];
  enterAs('waiting', inFlight, noted);
  inFlight.refuseWaiting(() => new Error('closed'));
  await vi.advanceTimersByTimeAsync(0);
  expect(noted).toEqual(['waiting: closed']);
});

test('drain() resolves when all transactions have ended, or after its timeout', async () => {
  for (const isOneAtATime of [true, false]) {
    const inFlight = new InFlight({ isOneAtATime, watchdog: new Watchdog() });
    await inFlight.drain(1000);
    void inFlight.enter();
    let isDrained = false;
    const draining = inFlight.drain(1000).then(() => (isDrained = true));
    await vi.advanceTimersByTimeAsync(999);
    expect(isDrained).toBe(false);
    inFlight.leave();
    await draining;
    void inFlight.enter();
    const late = inFlight.drain(1000);
    await vi.advanceTimersByTimeAsync(1000);
    await late;
  }
});

test('needsOneAtATime() is true for every browser with WebKit, such as Chrome on an iPhone', () => {
  const webkit = 'AppleWebKit/605.1.15 (KHTML, like Gecko)';
  for (const [isNeeded, userAgent] of [
    [
      true,
      `Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) ${webkit} Version/26.0 Safari/605.1.15`,
    ],
    [true, `Mozilla/5.0 (X11; Linux x86_64) ${webkit} Version/60.5 Safari/605.1.15`],
    [
      true,
      `Mozilla/5.0 (iPhone; CPU iPhone OS 18_0 like Mac OS X) ${webkit} CriOS/140.0 Mobile/15E148`,
    ],
    [
      false,
      'Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/140.0.0.0',
    ],
    [false, 'Mozilla/5.0 (X11) AppleWebKit/537.36 (KHTML, like Gecko) HeadlessChrome/140.0.0.0'],
    [false, 'Mozilla/5.0 (X11; Linux x86_64; rv:153.0) Gecko/20100101 Firefox/153.0'],
  ] as const)
    expect(needsOneAtATime(userAgent), userAgent).toBe(isNeeded);
});

/** A write transaction that records the notifications about other write transactions. */
class Noting {
  readonly received: boolean[] = [];

  followed(isAtWork: boolean): void {
    this.received.push(isAtWork);
  }
}

test('write() notifies waiting write transactions of the progress of other writers, not of readers', () => {
  const inFlight = new InFlight({ isOneAtATime: false, watchdog: new Watchdog() });
  const [first, second, third] = [new Noting(), new Noting(), new Noting()];
  const reader = new Noting();
  for (const each of [first, second, third, reader]) {
    expect(inFlight.enter()).toBeUndefined();
    if (each !== reader) inFlight.write(each);
  }
  inFlight.answered(reader);
  inFlight.leave(reader);
  expect([second.received, third.received]).toEqual([[], []]);
  inFlight.answered(first);
  inFlight.leave(first);
  inFlight.answered(second);
  expect([first.received, second.received, third.received]).toEqual([
    [],
    [true, false],
    [true, false, true],
  ]);
});
