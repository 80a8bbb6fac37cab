import { expect, onTestFinished, test, vi } from 'vitest';
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
