import { randomBytes } from 'node:crypto';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { createMemoryStore } from '../../src/store/memory.ts';
import { counterOf, increment, put, row } from '../../src/store/testing/store-rows.ts';
import { fillDisk, onSmallDisk } from '../testing/small-disk.ts';
import { prepareHubRows } from './hub-rows.ts';
import { withDiskRoom } from './disk-room.ts';
import { openHubStore } from './open-store.ts';

const MIB = 1024 * 1024;
const FULL = { code: 'quota_exceeded' };

test('without disk space, writes are refused and reads continue', async () => {
  let free = 1024 * MIB;
  const asked: string[] = [];
  const store = withDiskRoom(createMemoryStore(), '/data', (folder) => {
    asked.push(folder);
    return free;
  });
  await increment(store);
  free = 10 * MIB;
  await expect(increment(store)).rejects.toMatchObject(FULL);
  expect(await counterOf(store)).toBe(1);
  free = 1024 * MIB;
  await increment(store);
  expect(await counterOf(store)).toBe(2);
  expect(asked).toEqual(['/data', '/data', '/data']);
});

test('a hub whose rows exist starts without disk space', async () => {
  let free = 1024 * MIB;
  const store = withDiskRoom(createMemoryStore(), '/data', () => free);
  const made = await prepareHubRows(store, () => 'hash');
  free = 10 * MIB;
  expect(await prepareHubRows(store, (stored) => stored)).toEqual(made);
  // A new root secret must be stored.
  await expect(prepareHubRows(store, () => 'another')).rejects.toMatchObject(FULL);
});

test('a folder on a full disk can be read, refuses writes at once, and accepts them again without a restart', (context) =>
  onSmallDisk(context, 300, async (disk) => {
    const opened = await openHubStore({ at: { data: join(disk, 'data') } });
    const { store } = opened;
    await increment(store);
    const fillers = ['one', 'two'].map((name) => join(disk, name));
    const [first = '', second = ''] = fillers;
    await fillDisk(disk, first, 70 * MIB);
    let refusal: unknown;
    for (let i = 0; i < 200 && refusal === undefined; i += 1) {
      const large = { ...row(`d${i}`), value: randomBytes(400_000).toString('base64') };
      refusal = await put(store, 'documents', [large]).then(
        () => undefined,
        (reason: unknown) => reason,
      );
    }
    expect(refusal).toMatchObject(FULL);
    // Other programs use up the remaining space.
    await fillDisk(disk, second, 0);
    for (let i = 0; i < 50; i += 1) {
      expect(await counterOf(store)).toBe(1);
      await expect(increment(store)).rejects.toMatchObject(FULL);
    }
    for (const filler of fillers) await rm(filler);
    await increment(store);
    expect(await counterOf(store)).toBe(2);
    await opened.close();
  }));
