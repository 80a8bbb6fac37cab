import { expect, onTestFinished, test, vi } from 'vitest';
import { utf8Bytes } from '../../src/codec/utf8.ts';
import { SYNC_LIMITS } from '../../src/limits.ts';
import type { LiveAnswer } from '../queries/live-queries.ts';
import { HubLiveQueries } from './hub-live-queries.ts';

/** The number of entries in all maps. */
const kept = (live: HubLiveQueries): number =>
  Object.values(live).reduce((sum, each) => sum + (each instanceof Map ? each.size : 0), 0);

test('HubLiveQueries keeps no entries of live queries that have ended', async () => {
  const opened: string[] = [];
  const ended: string[] = [];
  const live = new HubLiveQueries({
    open: (secret, _, signal) =>
      new Promise((_resolve, reject) => {
        opened.push(secret);
        signal.addEventListener('abort', () => {
          ended.push(secret);
          reject(new Error('ended'));
        });
      }),
  });
  const secrets = Array.from({ length: 20 }, (_, n) => `secret ${n}`);
  secrets.forEach((secret, id) => live.subscribe(id, secret, '1', () => undefined));
  await expect.poll(() => opened).toHaveLength(20);
  secrets.forEach((_, id) => live.unsubscribe(id));
  await expect.poll(() => ended).toHaveLength(20);
  expect(kept(live)).toBe(0);
  // The same secret again, with a query that is removed before it was sent.
  live.subscribe(20, 'secret 0', '1', () => undefined);
  live.unsubscribe(20);
  live.subscribe(21, 'secret 0', '1', () => undefined);
  live.subscribe(22, 'secret 0', '2', () => undefined);
  await expect.poll(() => opened.slice(20)).toEqual(['secret 0']);
  live.close();
  expect(kept(live)).toBe(0);
});

test('a live query reports hub_unreachable when the hub is silent, and is sent again', async () => {
  vi.useFakeTimers();
  onTestFinished(() => void vi.useRealTimers());
  let opened = 0;
  const live = new HubLiveQueries({
    open: (_secret, _body, signal) =>
      new Promise((_resolve, reject) => {
        opened += 1;
        signal.addEventListener('abort', () => reject(new Error('aborted')));
      }),
  });
  const told: LiveAnswer[] = [];
  live.subscribe(1, 'secret', '1', (_, answer) => void told.push(answer));
  await vi.advanceTimersByTimeAsync(SYNC_LIMITS.silenceMs + 2000);
  expect(told).toMatchObject([
    { status: 503, body: expect.stringContaining('hub_unreachable') as string },
  ]);
  expect(opened).toBe(2);
  live.close();
});

/** A live query whose streams end after these texts. */
function cutOff(...texts: readonly string[]) {
  vi.useFakeTimers();
  onTestFinished(() => void vi.useRealTimers());
  const told: LiveAnswer[] = [];
  let opened = 0;
  const live = new HubLiveQueries({
    open: () => {
      opened += 1;
      const body = new ReadableStream<Uint8Array>({
        start(to) {
          for (const text of texts) to.enqueue(utf8Bytes(text));
          to.close();
        },
      });
      const headers = { 'content-type': 'text/event-stream' };
      return Promise.resolve(new Response(body, { headers }));
    },
  });
  live.subscribe(1, 'secret', '1', (_, answer) => void told.push(answer));
  onTestFinished(() => live.close());
  return { told, opened: () => opened };
}

test.each([[], [': hello\n\n']])(
  'a live query whose stream is cut off before any answer reports it, and is sent again less and less often',
  async (...texts) => {
    const { told, opened } = cutOff(...texts);
    await vi.advanceTimersByTimeAsync(60_000);
    expect(opened()).toBeLessThan(12);
    expect(told[0]).toMatchObject({ status: 503, body: expect.stringContaining('streams') });
  },
);

test('a live query whose stream is cut off after its answer reports nothing, and is sent again at once', async () => {
  const { told, opened } = cutOff(': hello\n\n', 'event: answer\ndata: 0 200 tag\ndata: {}\n\n');
  await vi.advanceTimersByTimeAsync(60_000);
  expect(opened()).toBeGreaterThan(60);
  expect(new Set(told.map(({ status }) => status))).toEqual(new Set([200]));
});
