/** A device at one hub is told over its WebSocket about a file that was uploaded to another hub on the same PostgreSQL. */
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { afterEach, expect, test } from 'vitest';
import { WebSocket } from 'ws';
import { sha256 } from '../../src/engine/testing/sha256.ts';
import { filesIn } from '../../src/codec/file-names.ts';
import { createMemoryBlobs } from '../../src/sync/hub/files/blob-store.ts';
import { fileNameOf } from '../../src/sync/protocol/files.ts';
import type { ChangeHint, SocketReply } from '../../src/sync/protocol/hints.ts';
import { createSyncRoute } from '../sync/sync-route.ts';
import { freshTenant, openOnPostgres, sharedPostgres } from '../testing/hub-stores.ts';
import { DEVICE, HELLO } from '../testing/sync-test-hub.ts';
import { memoryStorage, openTestHub, type TestHub } from '../testing/test-hub.ts';
import { createFilesRoute } from './files-route.ts';

const postgres = sharedPostgres();
const closing: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close();
});

const content = Buffer.from('a heron');
const manifest = {
  size: content.length,
  chunks: [createHash('sha256').update(content).digest('hex')],
};
const file = fileNameOf(manifest, sha256);

async function openHubs(storages: readonly Parameters<typeof openTestHub>[0][]) {
  const blobs = createMemoryBlobs(() => Date.now());
  const hubs: TestHub[] = [];
  for (const options of storages) {
    const hub = await openTestHub({
      ...options,
      routes: (opened) => {
        const files = createFilesRoute(opened, blobs, { fileBytes: 1000 });
        closing.push(() => files.close());
        return [createSyncRoute(opened), files];
      },
    });
    hubs.push(hub);
  }
  return hubs;
}

const send = (hub: TestHub, path: string, method: string, body: unknown): Promise<Response> =>
  fetch(`${hub.url}/${path}`, {
    method,
    headers: { authorization: `Bearer ${hub.secret}` },
    body: Buffer.isBuffer(body) ? new Uint8Array(body) : JSON.stringify(body),
  });

/** A device that loads all notes, and the hints that its WebSocket receives. */
async function listeningDevice(hub: TestHub): Promise<readonly ChangeHint[]> {
  const { epoch } = (await (await send(hub, 'sync/hello', 'POST', HELLO)).json()) as {
    epoch: string;
  };
  const query = '{"documents":{"collection":"notes"}}';
  const sets = [{ id: 'a', query, loaded: 'nothing' }];
  const pull = { device: DEVICE, epoch, sets, refetch: [], settled: 0, maxBytes: 1e6 };
  const pulled = await send(hub, 'sync/pull', 'POST', pull);
  expect(filesIn(await pulled.text())).toEqual([file]);
  const socket = new WebSocket(`${hub.url.replace('http', 'ws')}/sync/line`);
  closing.push(() => socket.close());
  const hints: ChangeHint[] = [];
  const opened = new Promise<void>((resolve) => {
    socket.on('message', (data: Buffer) => {
      const reply = JSON.parse(data.toString()) as SocketReply;
      if ('opened' in reply) resolve();
      if ('poke' in reply) hints.push(reply.poke);
    });
  });
  await once(socket, 'open');
  socket.send(JSON.stringify({ open: { token: hub.secret, device: DEVICE } }));
  await opened;
  return hints;
}

test.each([
  ['one hub', async () => [{ storage: memoryStorage() }]],
  [
    'two hubs over one PostgreSQL',
    async () => {
      const tenant = freshTenant();
      const open = async () => ({ storage: await openOnPostgres(await postgres(), tenant) });
      return [await open(), await open()];
    },
  ],
])('%s: a device is sent the document again when its file is uploaded', async (_, storages) => {
  const hubs = await openHubs(await storages());
  const [first, last] = [hubs[0], hubs.at(-1)] as [TestHub, TestHub];
  await first.query({ create_collection: { object: { name: 'notes' } } });
  await first.query({
    create: { ref: { collection: 'notes' }, id: '7' },
    params: { object: { data: { object: { photo: file } } } },
  });
  const hints = await listeningDevice(last);
  const path = `files/${file.slice('file:'.length)}`;
  const of = 'collection=notes&id=7';
  await send(first, `${path}?${of}`, 'PUT', manifest);
  expect(await (await send(first, `${path}/0?${of}`, 'PUT', content)).text()).toBe('');
  await expect.poll(() => hints.length, { timeout: 30_000 }).toBeGreaterThan(0);
  const got = await fetch(`${last.url}/${path}/0?${of}`, {
    headers: { authorization: `Bearer ${last.secret}` },
  });
  expect(await got.text()).toBe(content.toString());
});
