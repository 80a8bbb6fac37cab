/** Devices learn that the file of a document has come to the hub: by a hint, and by the next pull. */
import { beforeEach, expect, test } from 'vitest';
import { sha256 } from '../../../engine/testing/sha256.ts';
import { filesIn } from '../../../codec/file-names.ts';
import { coll, create, obj, ROOT } from '../../../engine/testing/engine-world.ts';
import { SYNC_LIMITS } from '../../../limits.ts';
import { createMemoryFiles } from '../../device/files/file-store.ts';
import { putFile } from '../../device/files/put-file.ts';
import type { FileName, FilePlace, Manifest } from '../../protocol/files.ts';
import { isSyncRefusal } from '../../protocol/refusals.ts';
import { HubWorld, type Device } from '../../testing/hub-world.ts';
import { lambda, reads, role } from '../../testing/things.ts';
import { createMemoryBlobs, type BlobStore } from './blob-store.ts';
import { FileHub, type FileHubOptions } from './file-hub.ts';

const CHUNK = SYNC_LIMITS.fileChunkBytes;
const NOTES = { documents: coll('notes') };

let world: HubWorld;
let blobs: BlobStore & { listed: number };
let hub: FileHub;

function openFileHub(options: Partial<FileHubOptions> = {}): FileHub {
  return new FileHub({
    engine: world.engine,
    blobs,
    fileBytes: 8 * CHUNK,
    clock: () => world.now,
    random: (count) => new Uint8Array(count),
    sha256,
    rootSecret: ROOT,
    ...options,
  });
}

beforeEach(async () => {
  world = await HubWorld.open();
  for (const name of ['users', 'notes']) await world.ask({ create_collection: obj({ name }) });
  const memory = createMemoryBlobs(() => world.now / 1000);
  blobs = Object.assign(memory, {
    listed: 0,
    list: ((list) => (prefix: string) => {
      blobs.listed += 1;
      return list(prefix);
    })(memory.list.bind(memory)),
  });
  hub = openFileHub();
});

interface Photo {
  readonly file: FileName;
  readonly manifest: Manifest;
  readonly chunks: readonly Uint8Array[];
}

async function photo(chunks: number, seed = 1): Promise<Photo> {
  const bytes = new Uint8Array((chunks - 1) * CHUNK + 10).fill(seed);
  const store = createMemoryFiles();
  const file = await putFile(new Blob([bytes]), { store, sha256, nowMs: () => 0 });
  const record = await store.record(file);
  if (!record) throw new Error('The file was not put.');
  const parts = record.manifest.chunks.map((_, n) => bytes.subarray(n * CHUNK, (n + 1) * CHUNK));
  return { file, manifest: record.manifest, chunks: parts };
}

async function note(id: string, file: string, data: object = {}): Promise<void> {
  await world.ask(create({ ref: coll('notes'), id }, { photo: file, ...data }));
}

/** A photo to which the first note refers. */
async function notedPhoto(chunks: number): Promise<Photo> {
  const made = await photo(chunks);
  await note('1', made.file);
  return made;
}

const placeOf = ({ file }: Photo, id: string): FilePlace => ({ file, home: ['notes', id] });

async function upload(of: Photo, id: string, at: FileHub = hub): Promise<void> {
  const { missing } = await at.begin(ROOT, placeOf(of, id), of.manifest);
  for (const n of missing) await at.write(ROOT, placeOf(of, id), n, chunkOf(of, n));
}

const chunkOf = ({ chunks }: Photo, n: number): Uint8Array => chunks[n] ?? new Uint8Array();

/** A device that keeps a set, and the heads in the hints that it gets. */
async function listening(set: unknown, secret = ROOT) {
  const device = (await world.device(secret)).watch(set);
  await device.pull();
  const hints: number[] = [];
  const opened = await world.sync.subscribe(device.secret, device.id, ({ head }) =>
    hints.push(head),
  );
  if (isSyncRefusal(opened)) throw new Error(opened.description);
  return { device, hints };
}

/** The files of the documents in the answer to the next pull. */
const pulled = async (device: Device): Promise<readonly string[]> =>
  (await device.pullOnce()).puts.flatMap(([, , stored]) => filesIn(stored));

async function commitsDuring(work: () => Promise<unknown>): Promise<number> {
  let commits = 0;
  const stop = world.engine.onCommit(() => (commits += 1));
  await work();
  stop();
  return commits;
}

const index = {
  name: 'notes_by_kind',
  source: coll('notes'),
  terms: [obj({ field: ['data', 'kind'] })],
};

test.each([
  ['a collection', NOTES],
  ['an index', { match: { index: 'notes_by_kind' }, terms: 'bird' }],
  ['a document', { ref: coll('notes'), id: '1' }],
])(
  'a device that keeps %s gets a hint and the document when its file is complete',
  async (_, set) => {
    await world.ask({ create_index: obj(index) });
    const heron = await photo(2);
    await note('1', heron.file, { kind: 'bird' });
    const { device, hints } = await listening(set);
    await hub.begin(ROOT, placeOf(heron, '1'), heron.manifest);
    await hub.write(ROOT, placeOf(heron, '1'), 0, chunkOf(heron, 0));
    expect([hints, await pulled(device)]).toEqual([[], []]);
    await hub.write(ROOT, placeOf(heron, '1'), 1, chunkOf(heron, 1));
    await expect.poll(() => hints).toHaveLength(1);
    const [first] = device.documents.values();
    expect(await pulled(device)).toEqual([heron.file]);
    // No document has changed.
    expect([...device.documents.values()]).toEqual([first]);
    expect(await pulled(device)).toEqual([]);
  },
);

test('a device that may not read the document learns nothing of its file', async () => {
  const open = { select: ['data', 'open'], from: { get: { var: 'ref' } }, default: false };
  const token = await world.user(1);
  await world.ask(role(reads(coll('notes'), lambda(open))));
  const [heron, owl] = [await photo(1, 1), await photo(1, 2)];
  await note('1', heron.file);
  await note('2', owl.file, { open: true });
  const { device } = await listening(NOTES, token);
  await upload(heron, '1');
  const answer = await device.pullOnce();
  expect([answer.puts, answer.leaves]).toEqual([[], []]);
  // The device need not compare its sets either.
  expect(answer.check).toBe(false);
  await upload(owl, '2');
  expect(await pulled(device)).toEqual([owl.file]);
  expect([...device.heardOf].map((name) => name.split('/')[1])).toEqual(['2']);
});

test('a file is announced by one commit, however large it is and however often it is uploaded', async () => {
  const large = await photo(6);
  await note('1', large.file);
  expect(await commitsDuring(() => upload(large, '1'))).toBe(1);
  // The folder is listed when the upload begins, and after the last chunk.
  expect(blobs.listed).toBe(2);
  const again = async () => {
    for (let i = 0; i < 20; i++) await upload(large, '1');
    for (const n of large.chunks.keys())
      await hub.write(ROOT, placeOf(large, '1'), n, chunkOf(large, n));
  };
  expect(await commitsDuring(again)).toBe(0);
});

test('a file uploaded over two hubs is announced by the hub that gets its last chunk', async () => {
  const heron = await photo(4);
  const other = openFileHub();
  for (const [id, hubs] of [
    ['1', [hub, other, hub, other]],
    ['2', [other, other, other, other]],
    ['3', [hub, other, other, hub]],
  ] as const) {
    await note(id, heron.file);
    const place = placeOf(heron, id);
    await hub.begin(ROOT, place, heron.manifest);
    for (const [n, at] of hubs.entries()) {
      const isLast = n === hubs.length - 1;
      const write = () => at.write(ROOT, place, n, chunkOf(heron, n));
      expect(await commitsDuring(write)).toBe(isLast ? 1 : 0);
    }
  }
});

test('a file is announced when all chunks have come, in any order', async () => {
  const heron = await photo(4);
  for (const [id, order] of [
    ['1', [3, 2, 1, 0]],
    ['2', [2, 3, 0, 1]],
  ] as const) {
    await note(id, heron.file);
    await hub.begin(ROOT, placeOf(heron, id), heron.manifest);
    const commits: number[] = [];
    for (const n of order)
      commits.push(
        await commitsDuring(() => hub.write(ROOT, placeOf(heron, id), n, chunkOf(heron, n))),
      );
    expect(commits).toEqual([0, 0, 0, 1]);
  }
});

test('a file that a hub did not announce before it stopped is announced when the upload begins again', async () => {
  const heron = await notedPhoto(1);
  const { transactions } = world.engine;
  const stopping = openFileHub({
    engine: {
      transactions: {
        ...transactions,
        read: (...read) => transactions.read(...read),
        write: () => Promise.reject(new Error('stopped')),
      },
    },
  });
  await expect(upload(heron, '1', stopping)).rejects.toThrow('stopped');
  expect(await commitsDuring(() => upload(heron, '1'))).toBe(1);
});

test('a file of which the hub lost a chunk is announced again when it is complete', async () => {
  const heron = await notedPhoto(2);
  await upload(heron, '1');
  const keys: string[] = [];
  for await (const { key } of blobs.list('')) keys.push(key);
  await blobs.delete(keys.filter((key) => key.endsWith('/1')));
  expect(await commitsDuring(() => upload(heron, '1'))).toBe(1);
});

/** Replaces stored bytes by others. */
async function spoil(name: string, bytes: Uint8Array): Promise<void> {
  for await (const { key } of blobs.list(''))
    if (key.endsWith(`/${name}`)) await blobs.put(key, bytes);
}

test('a chunk damaged at the hub is reported once, counts as missing, and is replaced by the next upload', async () => {
  const reported: string[] = [];
  hub = openFileHub({ report: (reason) => reported.push(String(reason)) });
  const heron = await notedPhoto(3);
  await upload(heron, '1');
  const place = placeOf(heron, '1');
  await spoil('1', new Uint8Array(CHUNK).fill(9));
  expect(await hub.read(ROOT, place, 0)).toEqual(chunkOf(heron, 0));
  for (let i = 0; i < 2; i++)
    await expect(hub.read(ROOT, place, 1)).rejects.toMatchObject({
      refusal: { code: 'file_not_uploaded' },
    });
  expect(reported).toEqual([expect.stringContaining(`Chunk 1 of ${heron.file}`)]);
  // A device that requests the file waits for it, and gets a hint when it has come.
  const notYet = { refusal: { code: 'file_not_uploaded' } };
  await expect(hub.manifest(ROOT, place)).rejects.toMatchObject(notYet);
  expect(await commitsDuring(() => upload(heron, '1'))).toBe(1);
  expect(await hub.manifest(ROOT, place)).toEqual(heron.manifest);
  expect(await hub.read(ROOT, place, 1)).toEqual(chunkOf(heron, 1));
  expect(await hub.begin(ROOT, place, heron.manifest)).toEqual({ missing: [] });
});

test('a chunk that was damaged only in transfer from the bucket is read again', async () => {
  let reads = 0;
  const reported: unknown[] = [];
  const get = blobs.get.bind(blobs);
  hub = openFileHub({
    report: (reason) => reported.push(reason),
    blobs: Object.assign(Object.create(blobs) as BlobStore, {
      get: async (key: string) =>
        key.endsWith('/0') && (reads += 1) === 1 ? new Uint8Array(3) : get(key),
    }),
  });
  const heron = await notedPhoto(1);
  await upload(heron, '1');
  expect(await hub.read(ROOT, placeOf(heron, '1'), 0)).toEqual(chunkOf(heron, 0));
  expect(reported).toEqual([]);
});

test.each([
  ['is no JSON', 'x'],
  ['is of another file', JSON.stringify({ size: 0, chunks: [] })],
])('a manifest that %s is replaced by the next upload of the file', async (_, text) => {
  const reported: string[] = [];
  hub = openFileHub({ report: (reason) => reported.push(String(reason)) });
  const heron = await notedPhoto(1);
  await upload(heron, '1');
  const place = placeOf(heron, '1');
  await spoil('manifest', new TextEncoder().encode(text));
  await expect(hub.manifest(ROOT, place)).rejects.toMatchObject({
    refusal: { code: 'file_not_uploaded' },
  });
  expect(reported).toEqual([expect.stringContaining(`manifest of ${heron.file}`)]);
  await upload(heron, '1');
  expect(await hub.manifest(ROOT, place)).toEqual(heron.manifest);
});

test('a file is announced once if its last chunk is written many times at once', async () => {
  const heron = await notedPhoto(1);
  const place = placeOf(heron, '1');
  await hub.begin(ROOT, place, heron.manifest);
  const write = () => hub.write(ROOT, place, 0, chunkOf(heron, 0));
  expect(await commitsDuring(() => Promise.all(Array.from({ length: 30 }, write)))).toBe(1);
});

test('a file is not announced for a document that no longer refers to it', async () => {
  const heron = await notedPhoto(1);
  const { device } = await listening(NOTES);
  const changing = openFileHub({
    blobs: {
      ...blobs,
      list: (prefix) => blobs.list(prefix),
      async get(key) {
        if (key.endsWith('/announced'))
          await world.ask({
            update: { ref: coll('notes'), id: '1' },
            params: obj({ data: obj({ photo: null }) }),
          });
        return blobs.get(key);
      },
    },
  });
  await upload(heron, '1', changing);
  expect(await pulled(device)).toEqual([]);
});
