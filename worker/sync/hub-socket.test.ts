import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import type { Push } from '../../src/sync/protocol/messages.ts';
import { HubSocket, type LineSocket } from './hub-socket.ts';

class FakeSocket extends EventTarget {
  readonly sent: unknown[] = [];
  isClosed = false;

  send(text: string): void {
    this.sent.push(JSON.parse(text));
  }
  close(): void {
    this.isClosed = true;
  }
  receives(reply: unknown): void {
    const data = typeof reply === 'string' ? reply : JSON.stringify(reply);
    this.dispatchEvent(new MessageEvent('message', { data }));
  }
  opens(): void {
    this.dispatchEvent(new Event('open'));
  }
  breaks(): void {
    this.dispatchEvent(new Event('close'));
  }
}

const PUSH: Push = { device: 'd', epoch: 'e', settled: 0, items: [] };
const PUSHED = { lastSeq: 1, verdicts: [] };

function open() {
  const socket = new FakeSocket();
  const received: unknown[] = [];
  const ends: boolean[] = [];
  const offline = new EventTarget();
  const line = new HubSocket({
    host: { connect: () => socket as LineSocket, offline },
    url: 'ws://hub/sync/line',
    token: 'secret',
    device: 'd',
    deadlineMs: 30_000,
    events: { onHint: (poke) => received.push(poke), onActivity: () => received.push('sign') },
    onEnd: (wasOpen) => ends.push(wasOpen),
  });
  return {
    line,
    socket,
    received,
    ends,
    goOffline: () => offline.dispatchEvent(new Event('offline')),
  };
}

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

test('HubSocket sends its token and device, and takes pushes only after the hub has accepted them', async () => {
  const { line, socket, received } = open();
  socket.opens();
  expect(socket.sent).toEqual([{ open: { token: 'secret', device: 'd' } }]);
  expect(line.push(PUSH)).toBeUndefined();
  socket.receives({ opened: true });
  expect(received).toEqual(['sign']);
  const pushed = line.push(PUSH);
  expect(socket.sent.at(-1)).toEqual({ n: 1, push: PUSH });
  socket.receives({ n: 1, pushed: PUSHED });
  expect(await pushed).toEqual({ ok: true, value: PUSHED });
});

test('HubSocket matches responses to pushes in any order, also between other messages', async () => {
  const { line, socket, received } = open();
  socket.receives({ opened: true });
  const [first, second] = [line.push(PUSH), line.push(PUSH)];
  socket.receives({ poke: { head: 7 } });
  socket.receives({ beat: true });
  const refused = { code: 'gap', description: 'send 1 first' };
  socket.receives({ n: 2, refused, retryAfterSeconds: 3 });
  socket.receives({ n: 1, pushed: PUSHED });
  socket.receives({ n: 9, pushed: PUSHED });
  expect(await second).toEqual({ ok: false, refusal: refused, retryAfterMs: 3000 });
  expect(await first).toEqual({ ok: true, value: PUSHED });
  expect(received).toEqual(['sign', { head: 7 }, 'sign']);
});

test('HubSocket leaves a long push to an HTTP request', () => {
  const { line, socket } = open();
  socket.receives({ opened: true });
  expect(line.push({ ...PUSH, epoch: 'x'.repeat(64 * 1024) })).toBeUndefined();
  expect(socket.sent).toEqual([]);
});

test('HubSocket rejects pending pushes and reports its end once when the connection breaks', async () => {
  const { line, socket, ends } = open();
  socket.receives({ opened: true });
  const pushed = line.push(PUSH);
  socket.breaks();
  line.end();
  await expect(pushed).rejects.toBeInstanceOf(TypeError);
  expect(ends).toEqual([true]);
  expect(line.push(PUSH)).toBeUndefined();
});

test('HubSocket ends when a push has no response within the deadline', async () => {
  const { line, socket, ends } = open();
  socket.receives({ opened: true });
  const failed = line.push(PUSH)?.catch((reason: unknown) => reason);
  await vi.advanceTimersByTimeAsync(30_000);
  expect(await failed).toBeInstanceOf(TypeError);
  expect(ends).toEqual([true]);
});

type Made = ReturnType<typeof open>;

test.each([
  ['the loss of the network', ({ goOffline }: Made) => goOffline()],
  ['a message that is not JSON', ({ socket }: Made) => socket.receives('<html>')],
  [
    'the refusal of the session',
    ({ socket }: Made) => socket.receives({ refused: { code: 'locked' } }),
  ],
])('HubSocket closes and reports its end after %s', (_, happen) => {
  const made = open();
  made.socket.receives({ opened: true });
  happen(made);
  expect(made.ends).toEqual([true]);
  expect(made.socket.isClosed).toBe(true);
});

test('HubSocket closes if the hub has not accepted it within five seconds', async () => {
  const { socket, ends } = open();
  socket.opens();
  await vi.advanceTimersByTimeAsync(4999);
  expect(ends).toEqual([]);
  await vi.advanceTimersByTimeAsync(1);
  expect(ends).toEqual([false]);
  expect(socket.isClosed).toBe(true);
});
