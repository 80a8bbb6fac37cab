/** What a hub expects of a store of files, tested with each kind: memory, a folder, an S3 bucket. */
import { mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import { createRequire } from 'node:module';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createMemoryBlobs, type BlobStore } from '../../src/sync/hub/files/blob-store.ts';
import { openBlobs } from './open-blobs.ts';
import { openBucketBlobs } from './bucket-blobs.ts';
import { openFolderBlobs } from './folder-blobs.ts';

/** The package has no types. */
type S3rver = new (options: object) => { run(): Promise<AddressInfo>; close(): Promise<void> };
const S3 = createRequire(import.meta.url)('s3rver') as S3rver;

const closing: (() => unknown)[] = [];
afterAll(async () => {
  for (const close of closing.splice(0).reverse()) await close();
});

async function folder(): Promise<string> {
  const path = await mkdtemp(join(tmpdir(), 'burrow-files-'));
  closing.push(() => rm(path, { recursive: true, force: true }));
  return path;
}

async function bucket(): Promise<string> {
  const server = new S3({
    address: '127.0.0.1',
    port: 0,
    silent: true,
    directory: await folder(),
    configureBuckets: [{ name: 'photos' }],
  });
  const { port } = await server.run();
  closing.push(() => server.close());
  return `http://127.0.0.1:${port}/photos`;
}

const stores: Record<string, () => Promise<BlobStore>> = {
  memory: () => Promise.resolve(createMemoryBlobs(Date.now)),
  folder: async () => openFolderBlobs(await folder()),
  bucket: async () =>
    openBucketBlobs({
      url: await bucket(),
      region: 'us-east-1',
      keyId: 'S3RVER',
      secret: 'S3RVER',
    }),
};

const bytes = (text: string): Uint8Array => new TextEncoder().encode(text);
const keysOf = async (store: BlobStore, prefix: string): Promise<string[]> => {
  const keys: string[] = [];
  for await (const { key } of store.list(prefix)) keys.push(key);
  return keys;
};

describe.each(Object.keys(stores))('a store of files: %s', (name) => {
  let store: BlobStore;
  beforeAll(async () => {
    store = (await stores[name]?.()) as BlobStore;
  });

  test('a blob keeps the value that was put last until it is deleted', async () => {
    expect(await store.get('0/1/2/ab/manifest')).toBeUndefined();
    await store.put('0/1/2/ab/manifest', bytes('first'));
    await store.put('0/1/2/ab/manifest', bytes('second'));
    await store.put('0/1/2/ab/0', new Uint8Array(1024 * 1024).fill(7));
    expect(new TextDecoder().decode(await store.get('0/1/2/ab/manifest'))).toBe('second');
    expect((await store.get('0/1/2/ab/0'))?.length).toBe(1024 * 1024);
    await store.delete(['0/1/2/ab/manifest', '0/1/2/ab/0', '0/1/2/ab/nothing']);
    expect(await store.get('0/1/2/ab/manifest')).toBeUndefined();
    expect(await keysOf(store, '')).toEqual([]);
  });

  test('list() returns the keys of a directory together, with the times of their puts', async () => {
    const before = Date.now() - 2000;
    const keys = ['1/2/a/0', '1/2/a/1', '1/2/a/10', '1/2/b/0', '11/2/a/0'];
    for (const key of keys) await store.put(key, bytes(key));
    const all = await keysOf(store, '');
    expect([...all].sort()).toEqual([...keys].sort());
    const folders = all.map((key) => key.slice(0, key.lastIndexOf('/')));
    expect(folders.filter((each, i) => each !== folders[i - 1])).toHaveLength(
      new Set(folders).size,
    );
    expect((await keysOf(store, '1/2/a/')).sort()).toEqual(['1/2/a/0', '1/2/a/1', '1/2/a/10']);
    expect(await keysOf(store, '1/3/')).toEqual([]);
    for await (const { putMs } of store.list('')) {
      expect(putMs).toBeGreaterThan(before);
      expect(putMs).toBeLessThan(Date.now() + 2000);
    }
    await store.delete(all);
    expect(await keysOf(store, '')).toEqual([]);
  });

  // This test server encrypts the token of the next page with a cipher that OpenSSL 3 does not have, so there must be only one
  // page.
  const many = name === 'bucket' ? 900 : 1100;

  test(`list() returns ${many} keys`, async () => {
    const keys = Array.from({ length: many }, (_, i) => `9/9/${i}/0`);
    for (let at = 0; at < keys.length; at += 100)
      await Promise.all(keys.slice(at, at + 100).map((key) => store.put(key, bytes('x'))));
    expect((await keysOf(store, '9/')).length).toBe(many);
    await store.delete(keys);
    expect(await keysOf(store, '9/')).toEqual([]);
  });

  test('concurrent puts of the same blob do not disturb each other', async () => {
    const put = () => store.put('5/5/5/a/0', bytes('same'));
    await Promise.all([put(), put(), put(), put()]);
    expect(new TextDecoder().decode(await store.get('5/5/5/a/0'))).toBe('same');
    expect(await keysOf(store, '5/')).toEqual(['5/5/5/a/0']);
    await store.delete(['5/5/5/a/0']);
  });
});

test('list() omits half-written files of a folder', async () => {
  const path = await folder();
  const store = await openFolderBlobs(path);
  await store.put('1/0', bytes('x'));
  await writeFile(join(path, '1', '.half'), 'ha');
  expect(await keysOf(store, '')).toEqual(['1/0']);
  await store.delete(['1/0']);
  // The upload may still be in progress, so the file is only removed when it is old.
  expect(await readdir(join(path, '1'))).toEqual(['.half']);
});

test('put() is refused long before the disk is full; files can still be read and deleted', async () => {
  const path = await folder();
  let free = 513 * 1024 * 1024;
  const store = await openFolderBlobs(path, () => free);
  await store.put('1/0', bytes('x'));
  free -= 2 * 1024 * 1024;
  await expect(store.put('1/1', bytes('y'))).rejects.toMatchObject({
    refusal: { code: 'storage_full' },
  });
  expect(await keysOf(store, '')).toEqual(['1/0']);
  await store.delete(['1/0']);
});

// This server does not verify signatures, but it refuses unknown keys.
test('wrong credentials or a missing bucket are an error, not an empty bucket', async () => {
  const url = await bucket();
  const store = openBucketBlobs({ url, region: 'us-east-1', keyId: 'NOBODY', secret: 'wrong' });
  await expect(store.put('1/0', bytes('x'))).rejects.toThrow('403');
  await expect(store.get('1/0')).rejects.toThrow('403');
  await expect(keysOf(store, '')).rejects.toThrow('403');
  const right = { region: 'us-east-1', keyId: 'S3RVER', secret: 'S3RVER' };
  const nowhere = openBucketBlobs({ ...right, url: url.replace('photos', 'nothing') });
  await expect(keysOf(nowhere, '')).rejects.toThrow('no bucket');
});

/** A bucket that reports `times` times that it is busy. */
async function busyBucket(status: number, code: string, times: number) {
  let asked = 0;
  const server = createServer((request, response) => {
    request.resume().once('end', () => {
      asked += 1;
      if (asked > times) response.end('bytes');
      else
        response
          .writeHead(status, { 'content-type': 'application/xml' })
          .end(`<Error><Code>${code}</Code><Message>later</Message></Error>`);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  closing.push(() => server.close());
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/photos`;
  const store = openBucketBlobs({ url, region: 'us-east-1', keyId: 'K', secret: 'S' });
  return { store, asked: () => asked };
}

test.each([
  [503, 'SlowDown'],
  [429, 'TooManyRequests'],
  [408, 'RequestTimeout'],
  [400, 'RequestTimeout'],
])('a bucket that answers %i %s is asked again', async (status, code) => {
  const { store } = await busyBucket(status, code, 1);
  await store.put('1/0', bytes('x'));
  expect(await store.get('1/0')).toEqual(bytes('bytes'));
});

test('a bucket that stays busy or is unreachable fails with `storage_unavailable`', async () => {
  const { store, asked } = await busyBucket(429, 'TooManyRequests', Infinity);
  await expect(store.put('1/0', bytes('x'))).rejects.toMatchObject({ code: 'storage_unavailable' });
  expect(asked()).toBe(4);
  const away = openBucketBlobs({
    url: 'http://127.0.0.1:1/photos',
    region: 'us-east-1',
    keyId: 'K',
    secret: 'S',
  });
  await expect(away.get('1/0')).rejects.toMatchObject({ code: 'storage_unavailable' });
});

/** A bucket that refuses to delete `1/0` this often, and has never had `1/1`. */
async function keepingBucket(times: number): Promise<BlobStore> {
  let refusals = 0;
  const server = createServer((request, response) => {
    request.resume().once('end', () => {
      if (request.method === 'HEAD') {
        response.writeHead(request.url?.endsWith('/1/0') === true ? 200 : 404).end();
        return;
      }
      const isRefused = (refusals += 1) <= times;
      const part = (key: string, isError: boolean): string =>
        isError
          ? `<Error><Key>${key}</Key><Code>AccessDenied</Code><Message>no</Message></Error>`
          : `<Deleted><Key>${key}</Key></Deleted>`;
      response.setHeader('content-type', 'application/xml');
      response.end(`<DeleteResult>${part('1/0', isRefused)}${part('1/1', true)}</DeleteResult>`);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  closing.push(() => server.close());
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/photos`;
  return openBucketBlobs({ url, region: 'us-east-1', keyId: 'K', secret: 'S' });
}

test('a bucket that refuses to delete a key is asked again, and then delete() fails', async () => {
  await (await keepingBucket(1)).delete(['1/0', '1/1']);
  const refusing = await keepingBucket(Infinity);
  await expect(refusing.delete(['1/0', '1/1'])).rejects.toMatchObject({
    code: 'storage_unavailable',
    cause: { message: expect.stringContaining('1/0') as string },
  });
});

test('openBlobs() chooses the store by the settings', async () => {
  const data = await folder();
  const opened = await openBlobs(
    { files: undefined, data, postgres: undefined, tenant: 'main' },
    {},
  );
  expect(opened?.describe).toBe(join(data, 'files'));
  expect(
    await openBlobs({ files: undefined, data, postgres: 'postgres://x', tenant: 'main' }, {}),
  ).toBeUndefined();
  expect(
    (
      await openBlobs(
        { files: undefined, data: 'memory:', postgres: undefined, tenant: 'main' },
        {},
      )
    )?.describe,
  ).toBe('memory');
  const files = join(data, 'a file');
  await writeFile(files, '');
  await expect(openBlobs({ files, data, postgres: undefined, tenant: 'main' }, {})).rejects.toThrow(
    `Cannot keep files in ${files} (--files): EEXIST`,
  );
  // In a file of variables, a line without a value sets an empty variable.
  for (const environment of [{}, { AWS_ACCESS_KEY_ID: '', AWS_SECRET_ACCESS_KEY: '' }])
    await expect(
      openBlobs(
        { files: 'https://s3.example/photos', data, postgres: undefined, tenant: 'main' },
        environment,
      ),
    ).rejects.toThrow('AWS_ACCESS_KEY_ID');
});

test('tenants that share a file store do not see each other’s files (P2)', async () => {
  const [files, postgres] = [await folder(), 'postgres://x'];
  const opened = async (tenant: string): Promise<BlobStore> => {
    const kept = await openBlobs({ files, data: '', postgres, tenant }, {});
    return kept?.blobs as BlobStore;
  };
  const [acme, other, main] = [await opened('acme'), await opened('other'), await opened('main')];
  const [key, folderOfKey] = ['0/1/2/ab/manifest', '0/1/2/ab/'];
  await acme.put(key, bytes('a heron'));
  expect(await keysOf(acme, '')).toEqual([key]);
  expect(await keysOf(acme, folderOfKey)).toEqual([key]);
  for (const store of [other, main]) {
    expect(await store.get(key)).toBeUndefined();
    expect(await keysOf(store, folderOfKey)).toEqual([]);
    await store.delete([key]);
  }
  expect(await keysOf(other, '')).toEqual([]);
  expect(new TextDecoder().decode(await acme.get(key))).toBe('a heron');
  await acme.delete([key]);
  expect(await acme.get(key)).toBeUndefined();
});
