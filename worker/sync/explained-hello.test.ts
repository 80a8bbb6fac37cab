import { getEventListeners } from 'node:events';
import { expect, test } from 'vitest';
import { EXPLAIN_EVERY_MS, explainedHello } from './explained-hello.ts';
import { deviceId } from '../../src/sync/protocol/identifiers.ts';
import { SYNC_PROTOCOL } from '../../src/sync/protocol/messages.ts';

const TEXT = 'Not to pages of this origin.';
const message = {
  protocol: SYNC_PROTOCOL,
  device: deviceId('0'.repeat(32), 'device'),
  epoch: undefined,
  lastSeq: 0,
};

/** A hello that fails, at a hub that rejects the origin if there is an explanation. */
function failing(reason: Error, { explanation }: { explanation: string | undefined }) {
  const stop = new AbortController();
  const state = { now: 0, asked: 0, stop };
  const hello = explainedHello({
    hello: () => Promise.reject(reason),
    refusedOrigin: () => Promise.resolve((state.asked++, explanation)),
    now: () => state.now,
    signal: stop.signal,
  });
  return { state, hello: () => hello(message) };
}

test('explainedHello() returns a refusal with the explanation of the hub when the hub rejects the origin', async () => {
  const { hello } = failing(new TypeError('failed'), { explanation: TEXT });
  expect(await hello()).toEqual({ ok: false, refusal: { code: 'forbidden', description: TEXT } });
});

test('explainedHello() rejects with the error of the hello when the hub is down', async () => {
  const reason = new TypeError('failed');
  const { state, hello } = failing(reason, { explanation: undefined });
  await expect(hello()).rejects.toBe(reason);
  expect(state.asked).toBe(1);
});

test('explainedHello() asks for an explanation at most once per interval, and never after a timeout or an abort', async () => {
  const { state, hello } = failing(new TypeError('failed'), { explanation: undefined });
  for (const now of [0, 1, EXPLAIN_EVERY_MS - 1]) {
    state.now = now;
    await expect(hello()).rejects.toThrow('failed');
  }
  expect(state.asked).toBe(1);
  state.now = EXPLAIN_EVERY_MS;
  await expect(hello()).rejects.toThrow('failed');
  expect(state.asked).toBe(2);
  state.now = 2 * EXPLAIN_EVERY_MS;
  state.stop.abort();
  await expect(hello()).rejects.toThrow('failed');
  expect(state.asked).toBe(2);
  const late = failing(new DOMException('late', 'AbortError'), { explanation: TEXT });
  await expect(late.hello()).rejects.toThrow('late');
  expect(late.state.asked).toBe(0);
});

test('explainedHello() leaves no listener on the signal after several failures', async () => {
  const { state, hello } = failing(new TypeError('failed'), { explanation: undefined });
  for (let n = 0; n < 3; n++) {
    state.now = n * EXPLAIN_EVERY_MS;
    await expect(hello()).rejects.toThrow('failed');
  }
  expect(state.asked).toBe(3);
  expect(getEventListeners(state.stop.signal, 'abort')).toEqual([]);
});
