/** A disk that accepts no more data, with the errors of its system. */
import type * as Files from 'node:fs/promises';
import { mkdtemp, open, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { openFolderBlobs } from './folder-blobs.ts';

vi.mock('node:fs/promises', async (original) => {
  const real = await original<typeof Files>();
  return { ...real, open: vi.fn<typeof real.open>(real.open) };
});

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'burrow-files-'));
});
afterEach(() => rm(folder, { recursive: true, force: true }));

const failNext = (code: string): void =>
  void vi.mocked(open).mockRejectedValueOnce(Object.assign(new Error(code), { code }));

test.each(['ENOSPC', 'EDQUOT', 'EFBIG'])(
  'put() on %s rejects with `storage_full` and leaves nothing',
  async (code) => {
    const store = await openFolderBlobs(folder, () => Infinity);
    failNext(code);
    const refused = store.put('1/0', new Uint8Array(1));
    await expect(refused).rejects.toMatchObject({ refusal: { code: 'storage_full' } });
    expect(await readdir(join(folder, '1'))).toEqual([]);
    await store.put('1/0', new Uint8Array(1));
    expect(await readdir(join(folder, '1'))).toEqual(['0']);
  },
);

test('put() passes other disk errors on', async () => {
  const store = await openFolderBlobs(folder, () => Infinity);
  failNext('EIO');
  await expect(store.put('1/0', new Uint8Array(1))).rejects.toThrow('EIO');
});

test('put() also syncs the folders that it creates', async () => {
  const store = await openFolderBlobs(folder, () => Infinity);
  const synced = (): unknown[] =>
    vi
      .mocked(open)
      .mock.calls.filter(([, flags]) => flags === 'r')
      .map(([path]) => path);
  vi.mocked(open).mockClear();
  await store.put('1/2/0', new Uint8Array(1));
  expect(new Set(synced())).toEqual(new Set([folder, join(folder, '1'), join(folder, '1', '2')]));
  vi.mocked(open).mockClear();
  await store.put('1/2/1', new Uint8Array(1));
  expect(synced()).toEqual([join(folder, '1', '2')]);
});
