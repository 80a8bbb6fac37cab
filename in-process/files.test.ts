/** Files of a page: stored, uploaded to a hub when the document is confirmed, fetched by another device, refused, removed. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { adopt } from '../src/adopt/adopt.ts';
import { q, type Database, type FileRef, type Ref, type Sync } from '../src/index.ts';
import type { Network } from '../worker/browser/network.ts';
import { openDatabase as openFolder } from './node.ts';
import type { SwitchedNetwork } from './test-network.ts';
import { createNetwork, openDatabase, openHub, type TestHub, type TestNetwork } from './testing.ts';
import { stallParts } from './testing/stall-parts.ts';

const CHUNK = 1024 * 1024;
const notes = q.Collection<{ photo: FileRef }>('notes');
const users = q.Collection('users');
const all = q.Documents(notes);

const closing: (() => Promise<unknown>)[] = [];
let hub: TestHub;
let network: TestNetwork;

beforeEach(async () => {
  hub = await openHub();
  closing.push(() => hub.close());
  await hub.client().query(q.CreateCollection({ name: 'notes' }));
  await hub.client().query(q.CreateCollection({ name: 'users' }));
  network = createNetwork();
});
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close();
});

const bytes = (size: number, seed = 1): Uint8Array<ArrayBuffer> =>
  Uint8Array.from({ length: size }, (_, i) => (i * 31 + seed) % 251);
const photoOf = (size: number, seed = 1): Blob =>
  new Blob([bytes(size, seed)], { type: 'image/jpeg' });
const isSame = async (blob: Blob, expected: Uint8Array): Promise<boolean> =>
  Buffer.from(await blob.arrayBuffer()).equals(Buffer.from(expected));

async function open(options: Parameters<typeof openDatabase>[1] = {}): Promise<Database> {
  const db = await openDatabase('notes', options);
  closing.push(() => db.close());
  return db;
}

async function device(
  options: Parameters<typeof openDatabase>[1] = { network },
  secret = hub.rootSecret,
): Promise<{ db: Database; sync: Sync }> {
  const db = await open(options);
  const sync = await db.sync({ url: hub.url, secret, sets: [all] });
  await sync.whenSynced();
  return { db, sync };
}

async function failure(work: Promise<unknown>): Promise<string> {
  try {
    await work;
  } catch (error) {
    return (error as { code?: string }).code ?? String(error);
  }
  return 'done';
}

/** A network that counts the requests for files. */
function countFileRequests(): { readonly network: TestNetwork; readonly requests: () => number } {
  const network = createNetwork() as TestNetwork & { until: (ended: AbortSignal) => Network };
  let requests = 0;
  const until = network.until.bind(network);
  network.until = (ended) => {
    const inner = until(ended);
    return {
      ...inner,
      fetch: (input, init) => {
        const url = input instanceof Request ? input.url : input.toString();
        if (url.includes('/files/')) requests += 1;
        return inner.fetch(input, init);
      },
    };
  };
  return { network, requests: () => requests };
}

describe('without a hub', () => {
  test('get() returns the bytes and the type of a stored file', async () => {
    const db = await open();
    const size = 2 * CHUNK + 7;
    const photo = await db.files.put(new File([bytes(size)], 'tree.jpg', { type: 'image/jpeg' }));
    expect(photo).toEqual({
      file: expect.stringMatching(/^file:[\da-f]{64}$/),
      size,
      type: 'image/jpeg',
      name: 'tree.jpg',
    });
    const blob = await db.files.get(photo);
    expect([blob.type, blob.size]).toEqual(['image/jpeg', size]);
    expect(await isSame(blob, bytes(size))).toBe(true);
    expect(await db.files.list()).toEqual([
      { file: photo.file, size, state: 'here', error: undefined },
    ]);
    expect(await db.files.put(photoOf(0))).toMatchObject({ size: 0, type: 'image/jpeg' });
    await db.files.remove(photo);
    expect(await failure(db.files.get(photo))).toBe('not found');
    await db.files.remove(photo);
  });

  test('values that are not files are refused', async () => {
    const db = await open();
    expect(await failure(db.files.put('text' as never))).toBe('invalid_usage');
    expect(await failure(db.files.get({} as never))).toBe('invalid_usage');
    expect(await failure(db.files.get(null as never))).toBe('invalid_usage');
    expect(await failure(db.files.get('file:abc'))).toBe('bad request');
    expect(await failure(db.files.get(`file:${'0'.repeat(64)}`, { of: users as never }))).toBe(
      'invalid_usage',
    );
    expect(await failure(db.files.remove('x'))).toBe('bad request');
    expect(await db.files.list()).toEqual([]);
  });

  test('send() requires a hub and a document', async () => {
    const db = await open();
    const photo = await db.files.put(photoOf(10));
    await db.client().query(q.CreateCollection({ name: 'notes' }));
    const { ref: of } = await db.client().query(q.Create(notes, { data: { photo } }));
    await expect(db.files.send(photo, { of })).rejects.toMatchObject({
      code: 'bad request',
      description: expect.stringContaining('db.sync('),
    });
    for (const wrong of [undefined, {}])
      await expect(db.files.send(photo, wrong as never)).rejects.toMatchObject({
        code: 'bad request',
        description: expect.stringContaining('{ of: ref }'),
      });
    expect(await db.files.list()).toMatchObject([{ state: 'here' }]);
    await db.files.whenSent();
  });

  test('fetchAll() finds files of documents with 64-bit integers', async () => {
    const db = await open();
    await db.client().query(q.CreateCollection({ name: 'notes' }));
    const photo = await db.files.put(photoOf(10));
    const data = { photo, n: 9007199254740993n };
    await db.client().query(q.Create(q.Collection('notes'), { data }));
    expect(await db.files.fetchAll(db.client(), all)).toMatchObject({ files: 1 });
  });

  test('an aborted call rejects with the reason of its signal', async () => {
    const db = await open();
    const photo = await db.files.put(photoOf(10));
    const stop = new AbortController();
    const { signal } = stop;
    stop.abort(new Error('the view was closed'));
    await expect(db.files.get(photo, { signal })).rejects.toThrow('the view was closed');
    await expect(db.files.fetch(photo, { signal })).rejects.toThrow('the view was closed');
    expect((await db.files.get(photo)).size).toBe(10);
  });

  test('a locked database refuses to read and to store files', async () => {
    const db = await open();
    const photo = await db.files.put(photoOf(10));
    await db.signOut();
    expect(await failure(db.files.get(photo))).toBe('locked');
    expect(await failure(db.files.put(photoOf(11)))).toBe('locked');
  });

  test('deleting a database deletes its files', async () => {
    const db = await openDatabase('gone');
    const photo = await db.files.put(photoOf(10));
    await db.destroy();
    expect(await failure(db.files.get(photo))).toBe('database_closed');
  });
});

describe('with a hub', () => {
  test('a photo taken offline reaches another device once its document is confirmed', async () => {
    const { db, sync } = await device();
    network.offline();
    const photo = await db.files.put(photoOf(3 * CHUNK + 1));
    const { value, settled } = await sync.client.submit(q.Create(notes, { data: { photo } }));
    expect((await db.files.list())[0]?.state).toBe('here');
    const seen: number[] = [];
    db.files.addEventListener('progress', ({ detail }) => seen.push(detail.done));
    network.online();
    await settled;
    await db.files.whenSent();
    expect(await db.files.list()).toMatchObject([{ state: 'sent' }]);
    expect(seen).toEqual([CHUNK, 2 * CHUNK, 3 * CHUNK, 3 * CHUNK + 1]);

    const other = await device({});
    const [note] = (await other.sync.client.query(q.Map(q.Paginate(all), (ref) => q.Get(ref))))
      .data;
    expect(note?.data.photo).toEqual(photo);
    expect(await failure(other.db.files.get(photo))).toBe('not found');
    const blob = await other.db.files.get(photo, { of: note?.ref as never });
    expect(await isSame(blob, bytes(3 * CHUNK + 1))).toBe(true);
    // The file is stored here now, so no network is needed.
    expect(await other.db.files.list()).toMatchObject([{ state: 'sent', size: 3 * CHUNK + 1 }]);
    await other.sync.stop();
    expect((await other.db.files.get(photo)).size).toBe(3 * CHUNK + 1);
    expect(value?.ref.id).toBe(note?.ref.id);
  });

  test('files of a write that a function makes at the hub are sent even if no set is kept', async () => {
    await hub.client().query(
      q.CreateFunction({
        name: 'report',
        role: 'admin',
        body: q.Query((photo) => q.Create(notes, { data: { photo } })),
      }),
    );
    const db = await open({ network });
    const sync = await db.sync({ url: hub.url, secret: hub.rootSecret, sets: [] });
    const photo = await db.files.put(photoOf(9));
    const { settled } = await sync.client.submit(
      q.Call(q.Function('report'), photo as never) as never,
    );
    expect((await settled).state).not.toBe('refused');
    await db.files.whenSent();
    expect(await db.files.list()).toMatchObject([{ state: 'sent' }]);
  });

  test('a file of a refused write stays on the device, and is sent when a retry is confirmed', async () => {
    await hub.client().query(q.Create(q.Ref(users, '1'), { credentials: { password: 'secret' } }));
    const { secret: key } = await hub.client().query(q.CreateKey({ role: 'client' }));
    const role = (create: boolean) => ({
      name: 'people',
      membership: [{ resource: users }],
      privileges: [{ resource: notes, actions: { read: true, create } }],
    });
    await hub.client().query(q.CreateRole(role(true)));
    const db = await open({ network });
    const login = { user: q.Ref(users, '1'), password: 'secret', key };
    const sync = await db.sync({ url: hub.url, login, sets: [all] });
    await sync.whenSynced();
    network.offline();
    const photo = await db.files.put(photoOf(9));
    const { id, settled } = await sync.client.submit(q.Create(notes, { data: { photo } }));
    await hub.client().query(q.Update(q.Role('people'), role(false)));
    network.online();
    expect((await settled).state).toBe('refused');
    expect(await db.files.list()).toMatchObject([{ state: 'here' }]);
    await hub.client().query(q.Update(q.Role('people'), role(true)));
    const again = await sync.writes.resolve(id, { retry: true });
    expect((await again?.settled)?.state).toBe('confirmed');
    await db.files.whenSent();
    expect(await db.files.list()).toMatchObject([{ state: 'sent' }]);
  });

  test('get() has its own error code for offline, not uploaded, and a deleted document', async () => {
    const { db, sync } = await device();
    network.offline();
    const photo = await db.files.put(photoOf(9));
    const made = await sync.client.submit(q.Create(notes, { data: { photo } }));
    const ref = made.value?.ref as never;
    expect(await failure(db.files.get(`file:${'0'.repeat(64)}`, { of: ref }))).toBe(
      'connection_needed',
    );
    network.online();
    await made.settled;
    await db.files.whenSent();
    const copyOfRef = await hub.client().query(q.Create(notes, { data: { photo } }));
    const other = await device({});
    expect(await failure(other.db.files.get(photo, { of: copyOfRef.ref }))).toBe(
      'file_not_uploaded',
    );
    await hub.client().query(q.Delete(ref));
    expect(await failure(other.db.files.get(photo, { of: ref }))).toBe('not found');
    // Any device that has the file may upload it.
    await db.files.send(photo, { of: copyOfRef.ref });
    await db.files.whenSent();
    expect((await other.db.files.get(photo, { of: copyOfRef.ref })).size).toBe(9);
  });

  test('fetchAll() fetches the files of a set and lists those that are not uploaded', async () => {
    const { db, sync } = await device();
    const photos: FileRef[] = [];
    for (const seed of [1, 2, 3]) {
      const photo = await db.files.put(photoOf(CHUNK + seed, seed));
      photos.push(photo);
      await sync.client.query(q.Create(notes, { data: { photo } }));
    }
    await sync.client.query(q.Create('notes', { data: { text: 'without' } }));
    await sync.whenSettled();
    await db.files.whenSent();
    const missing = { ...(photos[0] as FileRef), file: `file:${'0'.repeat(64)}` };
    await hub.client().query(q.Create(notes, { data: { photo: missing } }));
    const other = await device({});
    const fetched = await other.db.files.fetchAll(other.sync.client, all);
    expect(fetched).toEqual({ files: 4, notUploaded: [missing.file] });
    expect((await other.db.files.list()).map(({ state }) => state)).toEqual(Array(3).fill('sent'));
    await other.sync.stop();
    for (const photo of photos) expect((await other.db.files.get(photo)).size).toBe(photo.size);
  });

  test('a file of several documents is fetched for the document for which it was uploaded', async () => {
    const { db } = await device();
    const photo = await db.files.put(photoOf(9));
    await hub.client().query(q.Create(notes, { data: { photo } }));
    const { ref: of } = await hub.client().query(q.Create(notes, { data: { photo } }));
    await db.files.send(photo, { of });
    await db.files.whenSent();
    const other = await device({});
    const fetched = await other.db.files.fetchAll(other.sync.client, all);
    expect(fetched).toEqual({ files: 1, notUploaded: [] });
    expect((await other.db.files.get(photo)).size).toBe(9);
  });

  test('fetchAll() fetches the other files if one document was deleted at the hub', async () => {
    const { db } = await device();
    const photos: FileRef[] = [];
    const refs: Ref[] = [];
    for (const seed of [1, 2]) {
      const photo = await db.files.put(photoOf(9, seed));
      const { ref: of } = await hub.client().query(q.Create(notes, { data: { photo } }));
      await db.files.send(photo, { of });
      photos.push(photo);
      refs.push(of);
    }
    await db.files.whenSent();
    const other = await device({});
    await other.sync.stop();
    await hub.client().query(q.Delete(refs[0] as Ref));
    const fetched = await other.db.files.fetchAll(other.sync.client, all);
    expect(fetched).toEqual({ files: 2, notUploaded: [photos[0]?.file] });
    expect((await other.db.files.get(photos[1] as FileRef)).size).toBe(9);
  });

  test.each(['close', 'destroy'] as const)(
    '%s() does not wait for a file that is being fetched',
    async (how) => {
      const { db } = await device();
      const photo = await db.files.put(photoOf(9));
      const { ref: of } = await hub.client().query(q.Create(notes, { data: { photo } }));
      await db.files.send(photo, { of });
      await db.files.whenSent();
      const slow = createNetwork();
      const parts = stallParts(slow as SwitchedNetwork);
      const other = await device({ network: slow });
      const got = failure(other.db.files.get(photo, { of }));
      await expect.poll(parts).toBe(1);
      await other.db[how]();
      expect(await got).toMatch(/storage_unavailable|database_closed/);
    },
  );

  describe('a photo that is not uploaded yet', () => {
    /** A note whose photo is on a device that is offline, and a device that keeps the notes. */
    async function noteBefore(photoSeed = 1) {
      const taking = await device({ network });
      const photo = await taking.db.files.put(photoOf(CHUNK + 5, photoSeed));
      const { ref } = await hub.client().query(q.Create(notes, { data: { photo } }));
      const send = () => taking.db.files.send(photo, { of: ref });
      return { taking, photo, ref, send };
    }

    test('another device gets it after the upload, without polling', async () => {
      const { photo, ref, send } = await noteBefore();
      const counted = countFileRequests();
      const other = await device({ network: counted.network });
      const got = other.db.files.get(photo, { of: ref, wait: true });
      await expect.poll(counted.requests).toBe(1);
      // Other writes cause no request for the file.
      await hub.client().query(q.Create('notes', { data: { text: 'another' } }));
      await other.sync.whenSynced();
      expect(counted.requests()).toBe(1);
      await send();
      expect(await isSame(await got, bytes(CHUNK + 5))).toBe(true);
      // The manifest again, and two chunks.
      expect(counted.requests()).toBe(4);
    });

    test('a device that was offline gets it when it is online again', async () => {
      const { photo, ref, send, taking } = await noteBefore();
      const away = createNetwork();
      const other = await device({ network: away });
      const waiting = other.db.files.fetch(photo, { of: ref, wait: true });
      away.offline();
      const offline = other.db.files.get(photo, { of: ref, wait: true });
      await send();
      await taking.db.files.whenSent();
      expect(await other.db.files.list()).toEqual([]);
      away.online();
      await waiting;
      expect((await offline).size).toBe(photo.size);
    });

    test('an aborted wait rejects with the reason of its signal and sends no more requests', async () => {
      const { photo, ref, send, taking } = await noteBefore();
      const counted = countFileRequests();
      const other = await device({ network: counted.network });
      const stop = new AbortController();
      const { signal } = stop;
      const got = other.db.files.get(photo, { of: ref, wait: true, signal });
      await expect.poll(counted.requests).toBe(1);
      stop.abort(new Error('the view was closed'));
      await expect(got).rejects.toThrow('the view was closed');
      await send();
      await taking.db.files.whenSent();
      await other.sync.whenSynced();
      expect(counted.requests()).toBe(1);
      expect(await failure(other.db.files.fetch(photo, { of: ref }))).toBe('done');
    });

    test('waiting ends when sync is stopped, the database is closed, or the document is gone', async () => {
      const { photo, ref } = await noteBefore();
      const other = await device({});
      const waiting = () => failure(other.db.files.get(photo, { of: ref, wait: true }));
      const stopped = waiting();
      await other.sync.stop();
      expect(await stopped).toBe('connection_needed');
      expect(await waiting()).toBe('file_not_uploaded');
      const third = await device({});
      await hub.client().query(q.Delete(ref));
      expect(await failure(third.db.files.get(photo, { of: ref, wait: true }))).toBe('not found');
      const { ref: next } = await hub.client().query(q.Create(notes, { data: { photo } }));
      const closed = failure(third.db.files.get(photo, { of: next, wait: true }));
      await third.db.close();
      expect(await closed).toMatch(/storage_unavailable|database_closed/);
    });

    test('a database without a hub does not wait', async () => {
      const db = await open();
      const photo = { file: `file:${'0'.repeat(64)}`, size: 1, type: '' };
      const of = (await hub.client().query(q.Create('notes', { data: {} }))).ref;
      await expect(db.files.get(photo, { of, wait: true })).rejects.toMatchObject({
        code: 'connection_needed',
        description: expect.stringContaining('there is no connection to a hub'),
      });
      expect(await failure(db.files.get(photo, { wait: true }))).toBe('not found');
    });

    test('a user who may not read the note gets `not found` at once', async () => {
      await hub
        .client()
        .query(q.Create(q.Ref(users, '1'), { credentials: { password: 'secret' } }));
      const open = q.Query((ref) => q.Select(['data', 'open'], q.Get(ref as never), false));
      await hub.client().query(
        q.CreateRole({
          name: 'people',
          membership: [{ resource: users }],
          privileges: [{ resource: notes, actions: { read: open } }],
        }),
      );
      const login = q.Login(q.Ref(users, '1'), { password: 'secret' });
      const { secret } = (await hub.client().query(login)) as { secret: string };
      const { photo, ref, send, taking } = await noteBefore();
      const other = await device({}, secret);
      expect(await failure(other.db.files.get(photo, { of: ref, wait: true }))).toBe('not found');
      const mine = await hub
        .client()
        .query(q.Create(notes, { data: { photo, open: true } as never }));
      const waiting = other.db.files.get(photo, { of: mine.ref, wait: true });
      // A file that was uploaded for the other note is not available for this one.
      await send();
      await taking.db.files.whenSent();
      await other.sync.whenSynced();
      expect(await other.db.files.list()).toEqual([]);
      await taking.db.files.send(photo, { of: mine.ref });
      expect((await waiting).size).toBe(photo.size);
    });
  });

  test('remove() and signOut({ forget: true }) are refused while a file is unsent', async () => {
    const { db, sync } = await device();
    const photo = await db.files.put(photoOf(9));
    const made = await hub.client().query(q.Create(notes, { data: { photo } }));
    await sync.whenSynced();
    network.offline();
    await db.files.send(photo, { of: made.ref });
    expect(await db.files.list()).toMatchObject([{ state: 'unsent' }]);
    expect(await failure(db.files.remove(photo))).toBe('unsent_writes');
    expect(await failure(db.signOut({ forget: true }))).toBe('unsent_writes');
    await db.signOut({ forget: true, discardUnsent: true });
  });

  test('adopting a local database uploads its files', async () => {
    const alone = await openDatabase('alone');
    await alone.client().query(q.CreateCollection({ name: 'notes' }));
    const photo = await alone.files.put(photoOf(CHUNK + 3));
    await alone.client().query(q.Create(notes, { data: { photo } }));
    await alone
      .client()
      .query(q.Create(notes, { data: { photo: { ...photo, file: `file:${'0'.repeat(64)}` } } }));
    const { db, sync } = await device();
    const { settled, failed } = await adopt(alone, sync);
    expect([failed, (await settled).refused]).toEqual([[], []]);
    await db.files.whenSent();
    expect(await db.files.list()).toMatchObject([{ file: photo.file, state: 'sent' }]);
    await alone.destroy();
  });
});

test('a database in a folder keeps its files after it is reopened', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'burrow-folder-'));
  closing.push(() => rm(folder, { recursive: true, force: true }));
  const first = await openFolder(folder);
  const photo = await first.files.put(photoOf(CHUNK + 1));
  await first.close();
  const second = await openFolder(folder);
  closing.push(() => second.close());
  expect(await isSame(await second.files.get(photo), bytes(CHUNK + 1))).toBe(true);
  expect(await second.files.list()).toMatchObject([{ state: 'here', size: CHUNK + 1 }]);
  await second.files.remove(photo);
  expect(await second.files.list()).toEqual([]);
});
