/** Files of devices and a hub in memory: stored, sent for a document, fetched, refused, swept. */
import { beforeEach, expect, test } from 'vitest';
import { sha256 } from '../../../engine/testing/sha256.ts';
import { hexOfBytes } from '../../../codec/hex.ts';
import { coll, create, obj, ROOT } from '../../../engine/testing/engine-world.ts';
import { Refusal } from '../../../errors.ts';
import { SYNC_LIMITS } from '../../../limits.ts';
import { createMemoryStore } from '../../../store/memory.ts';
import type { Store, WriteTx } from '../../../store/port.ts';
import { createMemoryBlobs, type BlobStore } from '../../hub/files/blob-store.ts';
import { FileHub, type FileHubOptions } from '../../hub/files/file-hub.ts';
import { SyncRefused } from '../../protocol/refusals.ts';
import type { FileHome, FileName } from '../../protocol/files.ts';
import { HubWorld } from '../../testing/hub-world.ts';
import { lambda, may, role } from '../../testing/things.ts';
import type { HubAnswer } from '../syncer/transport.ts';
import { DamagedOnTheWay, fetchFile } from './fetch-file.ts';
import { createMemoryFiles, type FileStore } from './file-store.ts';
import type { FileTransport } from './file-transport.ts';
import { putFile } from './put-file.ts';
import { noteFilesOf, noteHome, sendFiles } from './send-files.ts';
import { sweepFiles } from './sweep-files.ts';

const CHUNK = SYNC_LIMITS.fileChunkBytes;
const GENEROUS = 8 * CHUNK;

let world: HubWorld;
let blobs: ReturnType<typeof createMemoryBlobs>;
let hub: FileHub;
let clock = 0;
let store: FileStore;

beforeEach(async () => {
  clock = 1000;
  world = await HubWorld.open();
  for (const name of ['users', 'notes']) await world.ask({ create_collection: obj({ name }) });
  blobs = createMemoryBlobs(() => clock);
  hub = openHub(blobs);
  store = createMemoryFiles();
});

const openHub = (files: BlobStore, engine: FileHubOptions['engine'] = world.engine): FileHub =>
  new FileHub({
    engine,
    blobs: files,
    fileBytes: GENEROUS,
    clock: () => world.now,
    random: (count) => new Uint8Array(count),
    sha256,
    rootSecret: ROOT,
  });

const bytes = (size: number, seed = 1): Blob =>
  new Blob([Uint8Array.from({ length: size }, (_, i) => (i * 31 + seed) % 251)]);

const host = (of: FileStore) => ({ store: of, sha256, nowMs: () => clock });

async function answered<T>(ask: Promise<T>): Promise<HubAnswer<T>> {
  try {
    return { ok: true, value: await ask };
  } catch (reason) {
    if (!(reason instanceof SyncRefused)) throw reason;
    return { ok: false, refusal: reason.refusal };
  }
}

const transportOf = (secret: string): FileTransport => ({
  begin: (place, parts) => answered(hub.begin(secret, place, parts)),
  write: (place, n, part) => answered(hub.write(secret, place, n, part).then(() => undefined)),
  manifest: (place) => answered(hub.manifest(secret, place)),
  read: (place, n) => answered(hub.read(secret, place, n)),
});

const ADMIN = ROOT;
const quiet = {
  sha256,
  epoch: 'a',
  onSent: () => undefined,
  isStopped: () => false,
  last: new Set<FileName>(),
};

async function note(id: string, file: string): Promise<FileHome> {
  await world.ask(create({ ref: coll('notes'), id }, { photo: obj({ file }) }));
  return ['notes', id];
}

/** A file on the device, and a note at the hub that refers to it. */
async function fileOfNote(size: number, { id = '1', seed = 1 } = {}) {
  const file = await putFile(bytes(size, seed), host(store));
  const home = await note(id, file);
  await noteHome(file, home, store);
  return { file, home };
}

/** Writes to the database of the device. */
const changing = (database: Store) => (changes: Parameters<WriteTx['apply']>[0]) =>
  database.write(async (tx) => tx.apply(changes), { durability: 'relaxed' });

/** Sets the file of the first note. */
const photo = (file: FileName | null) =>
  world.ask({
    update: { ref: coll('notes'), id: '1' },
    params: obj({ data: obj({ photo: file }) }),
  });

const sendAll = () => sendFiles(store, transportOf(ADMIN), quiet);

const readBack = async (of: FileStore, file: FileName): Promise<Uint8Array> => {
  const record = await of.record(file);
  const parts: Uint8Array[] = [];
  for (const n of record?.manifest.chunks.keys() ?? [])
    parts.push((await of.chunk(file, n)) ?? new Uint8Array());
  return new Uint8Array(await new Blob(parts as BlobPart[]).arrayBuffer());
};

test.each([0, 1, CHUNK - 1, CHUNK, CHUNK + 1, 3 * CHUNK])(
  'a file of %i bytes arrives on another device unchanged',
  async (size) => {
    const blob = bytes(size);
    const file = await putFile(blob, host(store));
    await noteHome(file, await note('1', file), store);
    await sendAll();
    expect(await store.record(file)).toMatchObject({ sent: [['notes', '1']], unsent: [] });
    const other = createMemoryFiles();
    await fetchFile({ file, home: ['notes', '1'] }, transportOf(ADMIN), host(other));
    const expected = new Uint8Array(await blob.arrayBuffer());
    expect(hexOfBytes(sha256(await readBack(other, file)))).toBe(hexOfBytes(sha256(expected)));
    expect(await other.record(file)).toMatchObject({ isWhole: true });
  },
);

test('putFile() names a file by its bytes', async () => {
  const first = await putFile(bytes(10), host(store));
  expect(await putFile(bytes(10), host(store))).toBe(first);
  expect(await putFile(bytes(10, 2), host(store))).not.toBe(first);
  expect(await store.records()).toHaveLength(2);
});

test('a verdict lists the documents with files that the write has written', async () => {
  const device = await world.device();
  const file = await putFile(bytes(5), host(store));
  const [verdict] = (
    await device.push(
      device.item({
        query: create({ ref: coll('notes'), id: '7' }, { photo: obj({ file }), text: 'x' }),
      }),
    )
  ).verdicts;
  expect(verdict?.files).toEqual([[expect.any(Number), '7', [file]]]);
  expect(await noteFilesOf(verdict ?? { ts: 0 }, store)).toBe(true);
  // The same verdict again, as after a crash, adds nothing.
  expect(await noteFilesOf(verdict ?? { ts: 0 }, store)).toBe(false);
  await sendAll();
  expect(await hub.manifest(ADMIN, { file, home: ['notes', '7'] })).toMatchObject({ size: 5 });
  const plain = await device.push(
    device.item({ query: create({ ref: coll('notes'), id: '8' }, { text: 'y' }) }),
  );
  expect(plain.verdicts[0]).not.toHaveProperty('files');
});

test('a broken upload or download continues with the missing chunk', async () => {
  const { file } = await fileOfNote(3 * CHUNK);
  const working = transportOf(ADMIN);
  let written: number[] = [];
  let isBroken = true;
  const breaking: FileTransport = {
    ...working,
    write: async (place, n, part) => {
      written.push(n);
      // The hub stores the chunk, but the answer is lost.
      const answer = await working.write(place, n, part);
      if (isBroken && n === 1) throw new TypeError('lost');
      return answer;
    },
  };
  await expect(sendFiles(store, breaking, quiet)).rejects.toThrow('lost');
  expect(await store.record(file)).toMatchObject({ sent: [] });
  await expect(hub.manifest(ADMIN, { file, home: ['notes', '1'] })).rejects.toMatchObject({
    refusal: { code: 'file_not_uploaded' },
  });
  isBroken = false;
  written = [];
  await sendFiles(store, breaking, quiet);
  expect(written).toEqual([2]);

  const other = createMemoryFiles();
  let read: number[] = [];
  const failing: FileTransport = {
    ...working,
    read: (place, n) => {
      read.push(n);
      return n === 2 && read.length === 3
        ? Promise.reject(new TypeError('lost'))
        : working.read(place, n);
    },
  };
  const place = { file, home: ['notes', '1'] } as const;
  await expect(fetchFile(place, failing, host(other))).rejects.toThrow('lost');
  expect(await other.record(file)).toMatchObject({ isWhole: false });
  read = [];
  await fetchFile(place, failing, host(other));
  expect(read).toEqual([2]);
});

test('a file is not available to users who may not read its document, nor over another document', async () => {
  const token = await world.user(1);
  const open = { select: ['data', 'open'], from: { get: { var: 'ref' } }, default: false };
  await world.ask(role(may({ create: true, read: lambda(open) }, coll('notes'))));
  const file = await putFile(bytes(5), host(store));
  const secret = await note('1', file);
  await world.ask(create({ ref: coll('notes'), id: '2' }, { photo: obj({ file }), open: true }));
  await noteHome(file, secret, store);
  await sendAll();
  const refused = { refusal: { code: 'file_not_found' } };
  await expect(hub.manifest(token, { file, home: secret })).rejects.toMatchObject(refused);
  await expect(hub.read(token, { file, home: secret }, 0)).rejects.toMatchObject(refused);
  await expect(hub.read(token, { file, home: ['notes', '9'] }, 0)).rejects.toMatchObject(refused);
  await expect(hub.read(token, { file, home: ['nothing', '1'] }, 0)).rejects.toMatchObject(refused);
  // The user knows the name, and has a document with it. That does not give access to the file of the other document.
  await expect(hub.read(token, { file, home: ['notes', '2'] }, 0)).rejects.toMatchObject({
    refusal: { code: 'file_not_uploaded' },
  });
  await expect(hub.read('no such secret', { file, home: secret }, 0)).rejects.toMatchObject({
    refusal: { code: 'needs_login' },
  });
  // Documents of native collections have no files.
  await expect(hub.read(ADMIN, { file, home: [1, '1'] }, 0)).rejects.toMatchObject(refused);
});

test('the hub checks manifests, chunks, names and documents that a device sends', async () => {
  const file = await putFile(bytes(CHUNK + 5), host(store));
  const place = { file, home: await note('1', file) };
  const { manifest } = (await store.record(file)) ?? {};
  const bad = { refusal: { code: 'bad_message' } };
  await expect(hub.write(ADMIN, place, 0, new Uint8Array(CHUNK))).rejects.toMatchObject({
    refusal: { code: 'file_not_uploaded' },
  });
  await expect(hub.begin(ADMIN, place, { ...manifest, size: 7 })).rejects.toMatchObject(bad);
  await expect(
    hub.begin(ADMIN, place, { ...manifest, chunks: ['00'.repeat(32), '00'.repeat(32)] }),
  ).rejects.toMatchObject(bad);
  for (const file of ['x', 'file:../../etc', undefined])
    await expect(hub.begin(ADMIN, { ...place, file }, manifest)).rejects.toMatchObject(bad);
  for (const home of [['notes', '../1'], ['notes', '-1'], [-1, '1'], 'notes/1', undefined])
    await expect(hub.begin(ADMIN, { ...place, home }, manifest)).rejects.toMatchObject(bad);
  expect(await hub.begin(ADMIN, place, manifest)).toEqual({ missing: [0, 1] });
  await expect(hub.write(ADMIN, place, 0, new Uint8Array(CHUNK))).rejects.toMatchObject(bad);
  for (const n of [-1, 0.5, 2, Number.NaN])
    await expect(hub.write(ADMIN, place, n, new Uint8Array(5))).rejects.toMatchObject(bad);
});

test('a file that is too large or whose document is gone is not sent again, and its record says why', async () => {
  const large = await putFile(bytes(GENEROUS + 1), host(store));
  await noteHome(large, await note('1', large), store);
  const gone = await putFile(bytes(4), host(store));
  await noteHome(gone, ['notes', '2'], store);
  await sendAll();
  expect((await store.record(large))?.failed).toContain('this hub accepts');
  expect((await store.record(gone))?.failed).toContain('no such document');
  for (const file of [large, gone])
    expect(await store.record(file)).toMatchObject({ unsent: [], sent: [], isWhole: true });
});

test('a renamed collection keeps its files', async () => {
  const { file } = await fileOfNote(4);
  await sendAll();
  await world.ask({ update: coll('notes'), params: obj({ name: 'memos' }) });
  expect(await hub.manifest(ADMIN, { file, home: ['memos', '1'] })).toMatchObject({ size: 4 });
  expect(await hub.sweep(Infinity)).toBe(0);
});

test('the hub removes unreferenced files after a while', async () => {
  const homes: FileHome[] = [];
  const files: FileName[] = [];
  for (const id of ['1', '2', '3']) {
    const file = await putFile(bytes(3, Number(id)), host(store));
    files.push(file);
    homes.push(await note(id, file));
    await noteHome(file, homes.at(-1) as FileHome, store);
  }
  await sendAll();
  await world.ask({ delete: { ref: coll('notes'), id: '1' } });
  await world.ask({
    update: { ref: coll('notes'), id: '2' },
    params: obj({ data: obj({ photo: null }) }),
  });
  expect(await hub.sweep(clock)).toBe(0);
  clock += 1;
  await blobs.put('somebody/elses', new Uint8Array(1));
  expect(await hub.sweep(clock)).toBe(2);
  expect(await hub.manifest(ADMIN, { file: files[2], home: homes[2] })).toMatchObject({ size: 3 });
  expect(blobs.size).toBe(4);
});

test('a device removes files to which no document and no pending write refers', async () => {
  const database = createMemoryStore();
  const [kept, waiting, orphan, unsent, young] = await Promise.all(
    [1, 2, 3, 4, 5].map((seed) => putFile(bytes(3, seed), host(store))),
  );
  await noteHome(unsent as FileName, ['notes', '1'], store);
  const row = (key: string, value: string) => ({ key: key as never, entries: [], value });
  await database.write(
    async (tx) =>
      tx.apply({
        puts: [
          { space: 'documents', row: row('a', `head\n{"photo":{"file":"${kept}"}}`) },
          { space: 'sync', row: row('b', JSON.stringify({ q: `{"x":"${waiting}"}` })) },
        ],
        deletes: [],
      }),
    { durability: 'relaxed' },
  );
  clock += 10;
  await store.update(young as FileName, (before) => before && { ...before, usedMs: clock });
  const pause = () => Promise.resolve();
  const sweep = () => sweepFiles(clock, { database, store, pause, nowMs: () => clock });
  // The first sweep removes nothing, because a user who has deleted the document may restore it.
  expect(await sweep()).toBe(0);
  expect(await store.record(kept as FileName)).toMatchObject({ usedMs: clock });
  expect(await sweep()).toBe(0);
  clock += 10;
  await store.update(young as FileName, (before) => before && { ...before, usedMs: clock });
  expect(await sweep()).toBe(1);
  expect(await store.record(orphan as FileName)).toBeUndefined();
  const left = (await store.records()).map(({ file }) => file);
  expect(new Set(left)).toEqual(new Set([kept, waiting, unsent, young]));
});

test('after a restore of the hub, the device sends the chunks that the hub lacks', async () => {
  const { file, home } = await fileOfNote(2 * CHUNK);
  await sendAll();
  const keys: string[] = [];
  for await (const { key } of blobs.list('')) keys.push(key);
  await blobs.delete(keys.filter((key) => key.endsWith('/1')));
  await sendAll();
  await expect(hub.manifest(ADMIN, { file, home })).rejects.toMatchObject({
    refusal: { code: 'file_not_uploaded' },
  });
  await sendFiles(store, transportOf(ADMIN), { ...quiet, epoch: 'b' });
  expect(await hub.manifest(ADMIN, { file, home })).toMatchObject({ size: 2 * CHUNK });
  expect(await store.record(file)).toMatchObject({ sent: [home], unsent: [], epoch: 'b' });
});

test('chunks damaged in transfer are sent again; a file damaged on the device is not sent', async () => {
  const { file, home } = await fileOfNote(5);
  const working = transportOf(ADMIN);
  let isLying = true;
  const lying: FileTransport = {
    ...working,
    write: (place, n, part) => working.write(place, n, isLying ? Uint8Array.of(1, 2) : part),
    read: async (place, n) => {
      const answer = await working.read(place, n);
      return isLying && answer.ok
        ? { ok: true, value: answer.value.map((byte) => byte + 1) }
        : answer;
    },
  };
  await expect(sendFiles(store, lying, quiet)).rejects.toThrow('not chunk 0');
  const why = expect.stringContaining('not chunk 0') as string;
  expect(await store.record(file)).toMatchObject({ unsent: [home], failed: why });
  isLying = false;
  await sendFiles(store, lying, quiet);
  expect(await store.record(file)).toMatchObject({ unsent: [], failed: undefined });
  isLying = true;
  const other = createMemoryFiles();
  await expect(fetchFile({ file, home }, lying, host(other))).rejects.toThrow(DamagedOnTheWay);
  expect(await other.record(file)).toMatchObject({ isWhole: false });
  isLying = false;
  await fetchFile({ file, home }, lying, host(other));

  await store.putChunk(file, 0, Uint8Array.of(9, 9, 9, 9, 9));
  await noteHome(file, await note('2', file), store);
  await sendFiles(store, lying, quiet);
  expect((await store.record(file))?.failed).toContain('lost or damaged');
  // The file is stored again from its bytes.
  await putFile(bytes(5), host(store));
  expect(await store.record(file)).toMatchObject({ isWhole: true });
});

/** A file store that runs `act` once, before a chunk with this number is stored. */
function before(n: number, act: (file: FileName) => Promise<unknown>): FileStore {
  let isDone = false;
  return {
    ...store,
    async putChunk(file, at, part) {
      if (at === n && !isDone) {
        isDone = true;
        await act(file);
      }
      return store.putChunk(file, at, part);
    },
  };
}

test('a file removed while it is put or fetched is complete in the end', async () => {
  const blob = bytes(2 * CHUNK + 5);
  const sum = hexOfBytes(sha256(new Uint8Array(await blob.arrayBuffer())));
  const removing = (): FileStore => before(1, (file) => store.remove(file, () => true));
  const file = await putFile(blob, host(removing()));
  expect(await store.record(file)).toMatchObject({ isWhole: true });
  expect(hexOfBytes(sha256(await readBack(store, file)))).toBe(sum);

  const home = await note('1', file);
  await noteHome(file, home, store);
  await sendAll();
  await store.remove(file, () => true);
  await fetchFile({ file, home }, transportOf(ADMIN), host(removing()));
  expect(await store.record(file)).toMatchObject({ isWhole: true });
  expect(hexOfBytes(sha256(await readBack(store, file)))).toBe(sum);
});

test('a file that was damaged on the device is sent when it is put again', async () => {
  const { file, home } = await fileOfNote(5);
  await store.putChunk(file, 0, Uint8Array.of(9, 9, 9, 9, 9));
  await sendAll();
  const isDamaged = { isWhole: false, sent: [], failed: expect.stringContaining('damaged') };
  expect(await store.record(file)).toMatchObject(isDamaged);
  // In the meantime, another write that refers to the file is confirmed.
  await note('2', file);
  const another = [1024, '2'] as const;
  await noteFilesOf({ files: [[...another, [file]]], ts: 9 }, store);
  expect(await store.record(file)).toMatchObject(isDamaged);
  await putFile(bytes(5), host(store));
  expect(await store.record(file)).toMatchObject({ isWhole: true, failed: undefined });
  await sendAll();
  expect(await store.record(file)).toMatchObject({
    unsent: [],
    sent: expect.arrayContaining([home]),
  });
  expect(await hub.manifest(ADMIN, { file, home })).toMatchObject({ size: 5 });
});

test('a chunk that was damaged on the device is fetched again', async () => {
  const { file, home } = await fileOfNote(5);
  await sendAll();
  await store.putChunk(file, 0, Uint8Array.of(9, 9, 9, 9, 9));
  await noteHome(file, await note('2', file), store);
  await sendAll();
  expect(await store.record(file)).toMatchObject({ isWhole: false });
  await fetchFile({ file, home }, transportOf(ADMIN), host(store));
  expect(await readBack(store, file)).toEqual(new Uint8Array(await bytes(5).arrayBuffer()));
});

test('an unreferenced damaged file is removed although it is still to be sent', async () => {
  const { file } = await fileOfNote(5);
  await noteHome(file, await note('2', file), store);
  await store.putChunk(file, 0, Uint8Array.of(9, 9, 9, 9, 9));
  await sendAll();
  const swept = { database: createMemoryStore(), store, pause: () => Promise.resolve() };
  const sweep = () => sweepFiles(clock + 1, { ...swept, nowMs: () => clock });
  expect([await sweep(), await sweep()]).toEqual([0, 1]);
});

test('a sweep keeps the file of a write that becomes a document during the sweep', async () => {
  const database = createMemoryStore();
  const file = await putFile(bytes(3), host(store));
  const row = (key: string, value: string) => ({ key: key as never, entries: [], value });
  const waiting = { space: 'sync', row: row('b', JSON.stringify({ q: file })) } as const;
  const change = changing(database);
  await change({ puts: [waiting], deletes: [] });
  let isDone = false;
  const pause = async (): Promise<void> => {
    if (isDone) return;
    isDone = true;
    await change({
      puts: [{ space: 'documents', row: row('a', `head\n{"photo":"${file}"}`) }],
      deletes: [{ space: 'sync', key: 'b' as never }],
    });
  };
  const sweep = () => sweepFiles(clock + 1, { database, store, pause, nowMs: () => clock });
  for (let times = 0; times < 3; times++) expect(await sweep()).toBe(0);
});

test('a file is uploaded again if its document refers to it again while the hub removes it', async () => {
  const { file, home } = await fileOfNote(5);
  let sending: Promise<void> | undefined;
  hub = openHub({
    ...blobs,
    list: (prefix) => blobs.list(prefix),
    async delete(keys) {
      // A single key is a mark, which is deleted when the upload begins.
      if (keys.length === 1) return blobs.delete(keys);
      await photo(file);
      sending = sendAll();
      // Lets the upload run as far as it can.
      for (let i = 0; i < 3; i++) await photo(file);
      await blobs.delete(keys);
    },
  });
  await sendAll();
  await photo(null);
  await noteHome(file, home, store);
  expect(await hub.sweep(Infinity)).toBe(1);
  await sending;
  expect(await store.record(file)).toMatchObject({ sent: [home], unsent: [] });
  expect(await hub.manifest(ADMIN, { file, home })).toMatchObject({ size: 5 });
});

test('putFile() that fails removes the chunks it has stored', async () => {
  const kept = await putFile(bytes(3), host(store));
  const full = before(2, () => Promise.reject(new Refusal('quota_exceeded', 'Full.')));
  const chunks: number[] = [];
  const counted: FileStore = {
    ...full,
    async putChunk(file, n, part) {
      await full.putChunk(file, n, part);
      chunks.push(n);
    },
  };
  await expect(putFile(bytes(3 * CHUNK), host(counted))).rejects.toMatchObject({
    code: 'quota_exceeded',
  });
  expect(chunks).toEqual([0, 1]);
  expect((await store.records()).map(({ file }) => file)).toEqual([kept]);
});

test('putFile() refuses a file that cannot be read', async () => {
  const unreadable = { size: 5, slice: () => ({ arrayBuffer: () => Promise.reject(gone) }) };
  const gone = new DOMException('It has changed since it was chosen.', 'NotReadableError');
  await expect(putFile(unreadable, host(store))).rejects.toMatchObject({ code: 'bad request' });
});

test('a file named by two verdicts at the same time is noted for the documents of both', async () => {
  const [heron, owl] = [
    await putFile(bytes(3, 1), host(store)),
    await putFile(bytes(3, 2), host(store)),
  ];
  const home = (id: string): FileHome => [1024, id];
  await Promise.all([
    noteFilesOf({ ts: 10, files: [[1024, '1', [heron, owl]]] }, store),
    noteFilesOf({ ts: 11, files: [[1024, '2', [owl]]] }, store),
  ]);
  expect(await store.record(heron)).toMatchObject({ unsent: [home('1')], linkedTs: 10 });
  expect(await store.record(owl)).toMatchObject({ unsent: [home('1'), home('2')], linkedTs: 11 });
});

test('fetching a file for one document does not forget that it was sent for others', async () => {
  const file = await putFile(bytes(5), host(store));
  const [first, second] = [await note('1', file), await note('2', file)];
  await noteHome(file, first, store);
  await sendAll();
  const other = createMemoryFiles();
  await putFile(bytes(5), host(other));
  await noteHome(file, second, other);
  await sendFiles(other, transportOf(ADMIN), quiet);
  await store.update(file, (before) => before && { ...before, isWhole: false });
  await fetchFile({ file, home: second }, transportOf(ADMIN), host(store), { epoch: 'a' });
  expect((await store.record(file))?.sent).toEqual([first, second]);

  await store.update(file, (before) => before && { ...before, isWhole: false });
  await fetchFile({ file, home: second }, transportOf(ADMIN), host(store), { epoch: 'b' });
  expect(await store.record(file)).toMatchObject({ unsent: [first], sent: [second], epoch: 'b' });
});

test('a verdict is noted for a file that is incomplete on the device', async () => {
  const file = await putFile(bytes(5), host(store));
  await store.update(file, (before) => before && { ...before, isWhole: false });
  expect(await noteFilesOf({ ts: 10, files: [[1024, '1', [file]]] }, store)).toBe(true);
  expect(await store.record(file)).toMatchObject({ unsent: [[1024, '1']], linkedTs: 10 });
});

test('a sweep keeps a file if its reference moves to a document that the sweep has already read', async () => {
  const database = createMemoryStore();
  const file = await putFile(bytes(3), host(store));
  const row = (n: number, value: string) => ({
    space: 'documents' as const,
    row: { key: String(n).padStart(4, '0') as never, entries: [], value },
  });
  const change = (...puts: ReturnType<typeof row>[]) =>
    database.write(async (tx) => tx.apply({ puts, deletes: [] }), { durability: 'relaxed' });
  // More rows than one page has.
  await change(...Array.from({ length: 600 }, (_, n) => row(n, n === 599 ? file : 'none')));
  let pauses = 0;
  const pause = async (): Promise<void> => {
    pauses += 1;
    // After the pages of the outbox and of the first documents.
    if (pauses === 3) await change(row(599, 'none'), row(0, file));
  };
  const sweep = () => sweepFiles(clock + 1, { database, store, pause, nowMs: () => clock });
  for (let times = 0; times < 3; times++) expect(await sweep()).toBe(0);
  await change(row(0, 'none'));
  expect([await sweep(), await sweep()]).toEqual([0, 1]);
});

test('a device keeps the file of a deleted document for a day', async () => {
  const database = createMemoryStore();
  const file = await putFile(bytes(3), host(store));
  const key = 'a' as never;
  const row = { space: 'documents', row: { key, entries: [], value: file } } as const;
  const change = changing(database);
  await change({ puts: [row], deletes: [] });
  const DAY = 86_400_000;
  // The app was closed for a week, so there was no sweep.
  clock += 7 * DAY;
  await change({ puts: [], deletes: [{ space: 'documents', key }] });
  const pause = () => Promise.resolve();
  const sweep = () => sweepFiles(clock - DAY, { database, store, pause, nowMs: () => clock });
  expect(await sweep()).toBe(0);
  await change({ puts: [row], deletes: [] });
  clock += 2 * DAY;
  expect(await sweep()).toBe(0);
  await change({ puts: [], deletes: [{ space: 'documents', key }] });
  clock += 2 * DAY;
  expect(await sweep()).toBe(0);
  clock += 2 * DAY;
  expect(await sweep()).toBe(1);
});

test('a file is uploaded again if its document refers to it again while another hub removes it', async () => {
  const { file, home } = await fileOfNote(5);
  let refused: unknown;
  const removing = openHub({
    ...blobs,
    list: (prefix) => blobs.list(prefix),
    async delete(keys) {
      if (keys.length > 1) {
        await photo(file);
        refused = await sendAll().catch((reason: unknown) => reason);
      }
      await blobs.delete(keys);
    },
  });
  await sendAll();
  await photo(null);
  await noteHome(file, home, store);
  expect(await removing.sweep(Infinity)).toBe(1);
  await sendAll();
  expect(await store.record(file)).toMatchObject({ sent: [home], unsent: [] });
  expect(await hub.manifest(ADMIN, { file, home })).toMatchObject({ size: 5 });
  expect(refused).toMatchObject({ refusal: { code: 'file_not_uploaded' } });
});

test('if a hub stops while it removes a file, uploads of the file are refused for minutes only', async () => {
  const file = await putFile(bytes(5), host(store));
  const home = await note('1', file);
  const stopping = openHub({
    ...blobs,
    list: (prefix) => blobs.list(prefix),
    delete: () => Promise.reject(new Error('stopped')),
  });
  await noteHome(file, home, store);
  await sendAll();
  await photo(null);
  await expect(stopping.sweep(Infinity)).rejects.toThrow('stopped');
  await photo(file);
  await noteHome(file, home, store);
  const send = () => sendAll();
  await expect(send()).rejects.toMatchObject({ refusal: { code: 'file_not_uploaded' } });
  world.now += 600_000_000;
  await send();
  expect(await hub.manifest(ADMIN, { file, home })).toMatchObject({ size: 5 });
});

test('a hub that was suspended while it removed a file does not delete a later upload', async () => {
  const file = await putFile(bytes(5), host(store));
  const home = await note('1', file);
  const { transactions } = world.engine;
  let looked = 0;
  /** Uploads the file between the hub's last check of the document and the removal, later than other hubs respect its mark. */
  const read: typeof transactions.read = async (body) => {
    const found = await transactions.read(body);
    looked += 1;
    if (looked !== 2) return found;
    world.now += 600_000_000;
    await photo(file);
    await noteHome(file, home, store);
    await sendAll();
    return found;
  };
  const frozen = openHub(blobs, { transactions: { ...transactions, read } });
  await noteHome(file, home, store);
  await sendAll();
  await photo(null);
  expect(await frozen.sweep(Infinity)).toBe(0);
  expect(await store.record(file)).toMatchObject({ sent: [home], unsent: [] });
  expect(await hub.manifest(ADMIN, { file, home })).toMatchObject({ size: 5 });
  // A file without references is removed by the next sweep.
  await photo(null);
  expect(await frozen.sweep(Infinity)).toBe(1);
});

test('files whose upload failed are sent last and do not block others', async () => {
  const files: FileName[] = [];
  for (const seed of [1, 2, 3, 4]) {
    files.push((await fileOfNote(5, { id: String(seed), seed })).file);
  }
  const [first, second, ...others] = files;
  const working = transportOf(ADMIN);
  const proxy: FileTransport = {
    ...working,
    write: (place, n, part) =>
      place.file === first || place.file === second
        ? Promise.reject(new Error('The hub responded with status 413.'))
        : working.write(place, n, part),
  };
  const send = () => sendFiles(store, proxy, { ...quiet, last });
  const last = new Set<FileName>();
  for (let times = 0; times < 3; times++) await expect(send()).rejects.toThrow('413');
  for (const file of others) expect(await store.record(file)).toMatchObject({ unsent: [] });
  expect(last).toEqual(new Set([first, second]));
});

test('a file whose upload failed once is not blocked by one that always fails', async () => {
  const files: FileName[] = [];
  for (const seed of [1, 2]) {
    files.push((await fileOfNote(5, { id: String(seed), seed })).file);
  }
  const [never, later] = files as [FileName, FileName];
  const working = transportOf(ADMIN);
  let isOffline = true;
  const proxy: FileTransport = {
    ...working,
    write: (place, n, part) =>
      isOffline || place.file === never
        ? Promise.reject(new TypeError('Failed to fetch'))
        : working.write(place, n, part),
  };
  const last = new Set<FileName>();
  const send = () => sendFiles(store, proxy, { ...quiet, last });
  for (let times = 0; times < 2; times++) await expect(send()).rejects.toThrow('Failed');
  isOffline = false;
  for (let times = 0; times < 2; times++) await expect(send()).rejects.toThrow('Failed');
  expect(await store.record(later)).toMatchObject({ unsent: [], sent: [['notes', '2']] });
});
