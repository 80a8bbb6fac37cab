import { expect, test } from 'vitest';
import { sha256 } from '../../engine/testing/sha256.ts';
import { createDeviceIds, deviceIdFrom, isIdMadeWith } from './device-ids.ts';

const NOW = 1_767_225_600_000_000;
const ID_MAX = 2n ** 63n;
const KEY = 'a1'.repeat(32);
const OTHER = 'b2'.repeat(32);

test('createDeviceIds() makes growing ids that match their key and no other', () => {
  let now = NOW;
  const makeId = createDeviceIds(
    () => (now += 100),
    (count) => new Uint8Array(count).fill(now % 251),
    sha256,
  );
  let last = 0n;
  for (let i = 0; i < 1000; i++) {
    const id = makeId(KEY);
    expect(id > last && id < ID_MAX).toBe(true);
    expect([isIdMadeWith(KEY, id, sha256), isIdMadeWith(OTHER, id, sha256)]).toEqual([true, false]);
    last = id;
  }
});

test('isIdMadeWith() refuses numbers next to an id, and small numbers', () => {
  const id = deviceIdFrom(NOW, new Uint8Array([1, 2]), KEY, sha256);
  expect(isIdMadeWith(KEY, id, sha256)).toBe(true);
  for (const each of [id + 1n, id - 1n, id + (1n << 20n), 0n, 1n, 4242n, ID_MAX - 1n])
    expect(isIdMadeWith(KEY, each, sha256)).toBe(false);
});

test('device ids are ordered by time', () => {
  const at = (now: number) => deviceIdFrom(now, new Uint8Array(2), KEY, sha256);
  expect(at(NOW) < at(NOW + 1000) && at(NOW + 1000) < at(NOW + 86_400_000_000)).toBe(true);
});
