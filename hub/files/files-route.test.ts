/** Files over HTTP, with a hub that listens. */
import { createHash } from 'node:crypto';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { sha256 } from '../../src/engine/testing/sha256.ts';
import { createMemoryBlobs } from '../../src/sync/hub/files/blob-store.ts';
import { fileNameOf } from '../../src/sync/protocol/files.ts';
import { SYNC_LIMITS } from '../../src/limits.ts';
import { HUB_ROWS, put as rowOf } from '../store/hub-rows.ts';
import { memoryStorage, openTestHub, type TestHub } from '../testing/test-hub.ts';
import { createFilesRoute, type FilesRoute } from './files-route.ts';

const DAY = 86_400_000;
let hub: TestHub;
let route: FilesRoute;
let now = 0;

beforeEach(async () => {
  now = Date.now();
  const blobs = createMemoryBlobs(() => now);
  hub = await openTestHub({
    settings: { corsOrigins: ['https://app.example'] },
    routes: (opened) => [(route = createFilesRoute(opened, blobs, { fileBytes: 4_000_000 }))],
  });
  await hub.query({ create_collection: { object: { name: 'notes' } } });
});
afterEach(() => route.close());

const content = Buffer.alloc(SYNC_LIMITS.fileChunkBytes + 10, 'photo');
const chunks = [
  content.subarray(0, SYNC_LIMITS.fileChunkBytes),
  content.subarray(SYNC_LIMITS.fileChunkBytes),
];
const manifest = {
  size: content.length,
  chunks: chunks.map((chunk) => createHash('sha256').update(chunk).digest('hex')),
};
const file = fileNameOf(manifest, sha256);
const digits = file.slice('file:'.length);

const note = (data: unknown) =>
  hub.query({
    create: { ref: { collection: 'notes' }, id: '7' },
    params: { object: { data: { object: { photo: data } } } },
  });

const ask = (
  path: string,
  init: RequestInit = {},
  secret: string | undefined = hub.secret,
): Promise<Response> =>
  fetch(`${hub.url}/files/${path}`, {
    ...init,
    headers: { ...(secret !== '' && { authorization: `Bearer ${secret}` }) },
  });
const put = (path: string, body: string | Buffer) =>
  ask(path, { method: 'PUT', body: body as BodyInit });

test('a file is uploaded and downloaded in chunks if its document allows it', async () => {
  await note(file);
  const at = 'collection=notes&id=7';
  const begun = await put(`${digits}?${at}`, JSON.stringify(manifest));
  expect([begun.status, await begun.json()]).toEqual([200, { missing: [0, 1] }]);
  expect((await put(`${digits}/0?${at}`, chunks[0] as Buffer)).status).toBe(204);
  const early = await ask(`${digits}?${at}`);
  expect([early.status, await early.json()]).toMatchObject([404, { code: 'file_not_uploaded' }]);
  expect((await put(`${digits}/1?${at}`, chunks[1] as Buffer)).status).toBe(204);
  expect(await (await ask(`${digits}?${at}`)).json()).toEqual(manifest);
  const parts = await Promise.all(
    [0, 1].map(async (n) => Buffer.from(await (await ask(`${digits}/${n}?${at}`)).arrayBuffer())),
  );
  expect(Buffer.concat(parts).equals(content)).toBe(true);
  const got = await ask(`${digits}/1?${at}`);
  expect(got.headers.get('content-type')).toBe('application/octet-stream');
  expect(got.headers.get('x-content-type-options')).toBe('nosniff');
  expect(got.headers.get('content-disposition')).toBe('attachment');

  expect(await route.sweep()).toBe(0);
  await hub.query({ delete: { ref: { collection: 'notes' }, id: '7' } });
  expect(await route.sweep()).toBe(0);
});

test('a file that no document has referred to for a day is removed', async () => {
  await note(file);
  const at = 'collection=notes&id=7';
  now -= 2 * DAY;
  await put(`${digits}?${at}`, JSON.stringify(manifest));
  expect(await route.sweep()).toBe(0);
  await hub.query({ delete: { ref: { collection: 'notes' }, id: '7' } });
  expect(await route.sweep()).toBe(1);
});

test.each([
  ['kept for a week after a restore', 1, 0],
  ['removed when a restore is more than a week ago', 7.1, 1],
])('a file to which no document refers is %s', async (_, days, removed) => {
  const storage = memoryStorage();
  const restored = new Date(Date.now() - days * DAY).toISOString();
  await storage.store.write(
    async (tx) => tx.apply({ puts: [rowOf(HUB_ROWS.restored, restored)], deletes: [] }),
    { durability: 'strict' },
  );
  // A file of a document that was created after the backup: a device may submit the document again.
  const blobs = createMemoryBlobs(() => Date.now() - 30 * DAY);
  await blobs.put(`0/1024/7/${digits}/manifest`, new Uint8Array(1));
  let files: FilesRoute | undefined;
  await openTestHub({
    storage,
    routes: (of) => [(files = createFilesRoute(of, blobs, { fileBytes: 1 }))],
  });
  expect(await files?.sweep()).toBe(removed);
  files?.close();
});

test.each([
  ['no secret', () => ask(`${digits}?collection=notes&id=7`, {}, ''), 401, 'needs_login'],
  ['a wrong secret', () => ask(`${digits}?collection=notes&id=7`, {}, 'x'), 401, 'needs_login'],
  [
    'a document that does not refer to the file',
    () => ask(`${digits}?collection=notes&id=8`),
    404,
    'file_not_found',
  ],
  ['an unknown collection', () => ask(`${digits}?collection=x&id=7`), 404, 'file_not_found'],
  ['no document', () => ask(digits), 400, 'bad_message'],
  ['an invalid id', () => ask(`${digits}?collection=notes&id=../7`), 400, 'bad_message'],
  ['a path to a folder above', () => ask(`..%2f..%2fetc%2fpasswd`), 404, 'not found'],
  ['an invalid name of a file', () => ask('abc?collection=notes&id=7'), 404, 'not found'],
  [
    'a manifest that is not JSON',
    () => put(`${digits}?collection=notes&id=7`, 'not JSON'),
    400,
    'bad_message',
  ],
  [
    'bytes of another file',
    async () => {
      await put(`${digits}?collection=notes&id=7`, JSON.stringify(manifest));
      return put(`${digits}/1?collection=notes&id=7`, 'other bytes');
    },
    400,
    'bad_message',
  ],
  [
    'a file that is too large',
    () => {
      const size = 5_000_000;
      const large = { size, chunks: Array.from({ length: 5 }, () => '0'.repeat(64)) };
      const name = fileNameOf(large, sha256).slice('file:'.length);
      return put(`${name}?collection=notes&id=7`, JSON.stringify(large));
    },
    413,
    'file_too_large',
  ],
])('a request with %s is refused', async (_, send, status, code) => {
  await note(file);
  const answer = await send();
  const body = (await answer.json()) as { code?: string; errors?: { code: string }[] };
  expect([answer.status, body.code ?? body.errors?.[0]?.code]).toEqual([status, code]);
});

test('a refusal by the hub itself has the form that devices read', async () => {
  const answer = await ask(`${digits}?collection=notes&id=7`, { method: 'DELETE' });
  expect([answer.status, await answer.json()]).toEqual([
    405,
    { code: 'method not allowed', description: expect.stringContaining('takes GET and PUT') },
  ]);
});

test('a hub that stores no files answers 501 `no_files`', async () => {
  const without = await openTestHub({
    routes: (opened) => [createFilesRoute(opened, undefined, { fileBytes: 1 })],
  });
  const answer = await fetch(`${without.url}/files/${digits}?collection=notes&id=7`, {
    headers: { authorization: `Bearer ${without.secret}` },
  });
  expect([answer.status, await answer.json()]).toMatchObject([501, { code: 'no_files' }]);
});

test('a page of another origin may upload files', async () => {
  const answer = await fetch(`${hub.url}/files/${digits}?collection=notes&id=7`, {
    method: 'OPTIONS',
    headers: { origin: 'https://app.example', 'access-control-request-method': 'PUT' },
  });
  expect(answer.status).toBe(200);
  expect(answer.headers.get('access-control-allow-methods')).toContain('PUT');
});
