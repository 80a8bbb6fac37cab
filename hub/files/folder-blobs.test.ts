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

const failureOf = (code: string): Error => Object.assign(new Error(code), { code });

type File = Awaited<ReturnType<typeof open>>;

/** Calls this with the next file that is opened. */
function onNextFile(change: (file: File) => void): void {
  const openReal = vi.mocked(open).getMockImplementation() as typeof open;
  vi.mocked(open).mockImplementationOnce(async (...given) => {
    const file = await openReal(...given);
    change(file);
    return file;
  });
}

/** The next file is opened, but cannot be written. @returns the spy on its `close()` */
function failNext(code: string): () => unknown {
  let close: unknown;
  onNextFile((file) => {
    vi.spyOn(file, 'writeFile').mockRejectedValueOnce(failureOf(code));
    close = vi.spyOn(file, 'close');
  });
  return () => close;
}

test.each(['ENOSPC', 'EDQUOT', 'EFBIG'])(
  'put() on %s rejects with `storage_full` and leaves nothing',
  async (code) => {
    const store = await openFolderBlobs(folder, () => Infinity);
    const close = failNext(code);
    const refused = store.put('1/0', new Uint8Array(1));
    await expect(refused).rejects.toMatchObject({ refusal: { code: 'storage_full' } });
    expect(await readdir(join(folder, '1'))).toEqual([]);
    expect(close()).toHaveBeenCalledOnce();
    await store.put('1/0', new Uint8Array(1));
    expect(await readdir(join(folder, '1'))).toEqual(['0']);
  },
);

test('put() passes other disk errors on', async () => {
  const store = await openFolderBlobs(folder, () => Infinity);
  failNext('EIO');
  await expect(store.put('1/0', new Uint8Array(1))).rejects.toThrow('EIO');
});

test('put() makes its folder once more if `delete()` has just removed it', async () => {
  const store = await openFolderBlobs(folder, () => Infinity);
  vi.mocked(open).mockRejectedValueOnce(failureOf('ENOENT'));
  await store.put('1/0', new Uint8Array([7]));
  expect(await store.get('1/0')).toEqual(Buffer.from([7]));
  for (let n = 0; n < 2; n += 1) vi.mocked(open).mockRejectedValueOnce(failureOf('ENOENT'));
  await expect(store.put('1/0', new Uint8Array(1))).rejects.toThrow('ENOENT');
});

test('put() gives a file its name only when its bytes are on disk', async () => {
  const store = await openFolderBlobs(folder, () => Infinity);
  const syncing: (() => void)[] = [];
  onNextFile((file) => {
    const held = new Promise<void>((resolve) => syncing.push(resolve));
    vi.spyOn(file, 'sync').mockImplementationOnce(() => held);
  });
  const first = store.put('1/0', new Uint8Array(1));
  await expect.poll(() => syncing.length).toBe(1);
  // By the end of this one the first would have its name too.
  await store.put('1/1', new Uint8Array(1));
  const named = async () =>
    (await readdir(join(folder, '1'))).filter((name) => name[0] !== '.').toSorted();
  expect(await named()).toEqual(['1']);
  syncing[0]?.();
  await first;
  expect(await named()).toEqual(['0', '1']);
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
