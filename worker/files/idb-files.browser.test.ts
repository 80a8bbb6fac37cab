/** Files in IndexedDB: the contract, two tabs, and what remains after a deletion. */
import { afterEach, describe, expect, test } from 'vitest';
import { describeFileStore } from '../../src/sync/device/files/file-store.contract.ts';
import { putFile } from '../../src/sync/device/files/put-file.ts';
import { sha256 } from '@noble/hashes/sha2.js';
import { browserFiles, type OpenedFiles } from './idb-files.ts';

const opened: { readonly name: string; readonly files: OpenedFiles }[] = [];
afterEach(async () => {
  for (const { files } of opened) files.close();
  for (const { name } of opened.splice(0)) await browserFiles.forgetFiles(name);
});

let last = 0;
function open(name = `files ${(last += 1)} ${performance.timeOrigin}`): OpenedFiles {
  const files = browserFiles.openFiles(name);
  opened.push({ name, files });
  return files;
}

describe('in IndexedDB', () => {
  describeFileStore(() => Promise.resolve(open()));
});

const host = (store: OpenedFiles) => ({ store, sha256, nowMs: () => Date.now() });
const exists = async (name: string): Promise<boolean> =>
  (await indexedDB.databases()).some((each) => each.name === `${name}:files`);

test('no database is created before the first file is put', async () => {
  const name = `unused ${performance.timeOrigin}`;
  const files = open(name);
  expect(await files.isUsed()).toBe(false);
  expect(await exists(name)).toBe(false);
  await putFile(new Blob(['x']), host(files));
  expect(await files.isUsed()).toBe(true);
  expect(await exists(name)).toBe(true);
});

test('two tabs share their files, and see changes of each other', async () => {
  const name = `shared ${performance.timeOrigin}`;
  const [one, two] = [open(name), open(name)];
  const file = await putFile(new Blob([new Uint8Array(3_000_000).fill(7)]), host(one));
  expect(await two.record(file)).toMatchObject({ isWhole: true });
  expect((await two.chunk(file, 2))?.length).toBe(3_000_000 - 2 * 1024 * 1024);
  await Promise.all(
    [one, two, one, two].map((tab) =>
      tab.update(file, (before) => before && { ...before, linkedTs: before.linkedTs + 1 }),
    ),
  );
  expect(await one.record(file)).toMatchObject({ linkedTs: 4 });
});

test('putFile() rejects and leaves nothing behind when another tab deletes the database', async () => {
  const name = `closed ${performance.timeOrigin}`;
  const files = open(name);
  let parts = 0;
  // Another tab deletes everything: this tab closes its files when it is notified.
  const putChunk: OpenedFiles['putChunk'] = async (...part) => {
    if (++parts === 2) {
      files.close();
      await browserFiles.forgetFiles(name);
    }
    return files.putChunk(...part);
  };
  const store = new Proxy(files, {
    get: (target, member: keyof OpenedFiles) =>
      member === 'putChunk' ? putChunk : (target[member] as () => unknown).bind(target),
  });
  const photo = new Blob([new Uint8Array(3_000_000).fill(7)]);
  await expect(putFile(photo, host(store))).rejects.toMatchObject({ code: 'storage_unavailable' });
  expect(await exists(name)).toBe(false);
});

test('forgetFiles() deletes the files, even while a tab has them open', async () => {
  const name = `deleted ${performance.timeOrigin}`;
  const files = open(name);
  await putFile(new Blob(['x']), host(files));
  await browserFiles.forgetFiles(name);
  expect(await exists(name)).toBe(false);
});
