import { afterEach, expect, test, vi } from 'vitest';
import { metaKey } from '../../src/codec/key.ts';
import { Checkpoint } from './checkpoint.ts';
import { openOutsideMarker } from './outside-marker.ts';

afterEach(() => {
  vi.useRealTimers();
  vi.unstubAllGlobals();
});

test('openOutsideMarker() returns undefined where the browser refuses to open caches', async () => {
  const open = () => Promise.reject(new DOMException('', 'SecurityError'));
  vi.stubGlobal('caches', { open });
  expect(await openOutsideMarker('notes')).toBeUndefined();
});

test('a marker whose write never ends does not prevent closing or deleting the database', async () => {
  vi.useFakeTimers();
  const never = (): Promise<never> => new Promise(() => undefined);
  const checkpoint = new Checkpoint('notes', {
    head: { address: { space: 'meta', key: metaKey('head') }, read: () => 1 },
    marker: { read: never, write: never, remove: never },
  });
  checkpoint.begin({ birth: 'a', head: 1 }, undefined);
  const noted: string[] = [];
  void checkpoint.flush().then(() => noted.push('closed'));
  void checkpoint.abandon().then(() => noted.push('abandoned'));
  await vi.advanceTimersByTimeAsync(3_000);
  expect(noted).toEqual(['closed', 'abandoned']);
});
