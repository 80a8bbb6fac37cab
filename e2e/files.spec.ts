/** A photo of 8 MB is sent over an unreliable connection from a browser that is killed, to another browser with such a connection. */
import { expect, type Page } from '@playwright/test';
import { print } from './support/app-test.ts';
import type { FileRef } from '../src/index.ts';
import { ALICE, test } from './support/sync-test.ts';
import type { Fault, Passed } from './support/faulty-proxy.ts';

const BYTES = 8 * 1024 * 1024 + 12_345;
const CHUNKS = 9;

interface Place {
  readonly url: string;
  readonly secret?: string;
}

const open = (page: Page, { url, secret }: Place): Promise<void> =>
  page.evaluate(
    async ({ url, secret }) => {
      const { q } = burrow;
      globalThis.db = await burrow.openDatabase('photos');
      globalThis.sync = await db.sync({
        url,
        ...(secret !== undefined && { secret }),
        sets: [q.Documents(q.Collection('notes'))],
      });
    },
    { url, ...(secret !== undefined && { secret }) },
  );

/** Creates a photo and a note that refers to it. @returns the hash of the photo's bytes */
const takePhoto = (page: Page, size: number): Promise<string> =>
  page.evaluate(async (size) => {
    const { q } = burrow;
    const bytes = Uint8Array.from({ length: size }, (_, i) => (i * 2_654_435_761) >>> 24);
    const photo = await db.files.put(new File([bytes], 'heron.jpg', { type: 'image/jpeg' }));
    await sync.client.submit(q.Create(q.Collection('notes'), { data: { photo } }));
    const hash = await crypto.subtle.digest('SHA-256', bytes);
    return [...new Uint8Array(hash)].join(' ');
  }, size);

const states = (page: Page): Promise<readonly string[]> =>
  page.evaluate(async () => (await db.files.list()).map(({ state }) => state));

/** Gets the photo of the only note. */
const getPhoto = (page: Page) =>
  page.evaluate(async () => {
    const { q } = burrow;
    await sync.whenSynced();
    const notes = q.Collection<{ photo: FileRef }>('notes');
    const page = q.Map(q.Paginate(q.Documents(notes)), (ref) => q.Get(ref));
    const [note] = (await sync.client.query(page)).data;
    if (!note) throw new Error('There is no note.');
    const { photo } = note.data;
    try {
      const blob = await db.files.get(photo, { of: note.ref });
      const hash = await crypto.subtle.digest('SHA-256', await blob.arrayBuffer());
      return { type: blob.type, name: photo.name, hash: [...new Uint8Array(hash)].join(' ') };
    } catch (error) {
      return { code: (error as { code: string }).code };
    }
  });

const isChunk = ({ path }: Passed): boolean => /^\/files\/\w+\/\d+\?/.test(path);

/** Cuts off every third request for a chunk, in three ways. */
function breaking(): (passed: Passed) => Fault {
  const faults: readonly Fault[] = ['drop', { cutRequestAt: 300_000 }, { cutAnswerAt: 0 }];
  let seen = 0;
  return (passed) => {
    if (!isChunk(passed)) return 'none';
    seen += 1;
    return seen % 3 === 0 ? (faults[(seen / 3) % faults.length] ?? 'none') : 'none';
  };
}

test('an 8 MB photo taken offline arrives complete, over a connection that breaks, and no chunk is sent twice', async ({
  profile,
  hub,
  other,
}) => {
  test.setTimeout(120_000);
  const secret = await hub.token(ALICE);
  let page = await profile.openTab();
  await open(page, { url: hub.url, secret });
  await page.evaluate(() => sync.whenSynced());

  hub.proxy.set('down');
  const hash = await takePhoto(page, BYTES);
  expect(await states(page)).toEqual(['here']);
  await profile.kill();

  // After the kill, what was put and submitted offline is still stored, and is sent. Another kill interrupts that.
  const brought = () => hub.proxy.of('/files/').filter(isChunk).length;
  const inner = breaking();
  let passed = 0;
  hub.proxy.judge = (request) => (isChunk(request) && ++passed > 4 ? 'drop' : inner(request));
  hub.proxy.set('up');
  page = await profile.openTab();
  await open(page, { url: hub.url });
  await expect.poll(brought).toBeGreaterThan(4);
  await profile.kill();
  const before = brought();

  await open(other, { url: hub.url, secret });
  expect(await getPhoto(other)).toEqual({ code: 'file_not_uploaded' });

  hub.proxy.judge = breaking();
  page = await profile.openTab();
  await open(page, { url: hub.url });
  await expect.poll(() => states(page), { timeout: 30_000 }).toEqual(['sent']);
  const puts = hub.proxy.of('/files/').filter((each) => isChunk(each) && each.method === 'PUT');
  // Chunks that had arrived before the kill were not sent again.
  expect(puts.length).toBeLessThan(before + CHUNKS + 5);

  const got = { type: 'image/jpeg', name: 'heron.jpg', hash };
  let tries = 0;
  await expect
    .poll(
      () => {
        tries += 1;
        return getPhoto(other);
      },
      { timeout: 30_000 },
    )
    .toEqual(got);
  // The photo is stored here now: it can be read while the hub is out of reach.
  hub.proxy.set('down');
  expect(await getPhotoHere(other)).toBe(hash);
  const gets = hub.proxy.of('/files/').filter((each) => isChunk(each) && each.method === 'GET');
  expect(gets.length).toBeLessThan(CHUNKS + 6);
  print('a photo of 8 MB', { chunks: CHUNKS, puts: puts.length, gets: gets.length, tries });
});

const getPhotoHere = (page: Page): Promise<string> =>
  page.evaluate(async () => {
    const [stored] = await db.files.list();
    if (!stored) throw new Error('There is no file.');
    const bytes = await (await db.files.get(stored.file)).arrayBuffer();
    return [...new Uint8Array(await crypto.subtle.digest('SHA-256', bytes))].join(' ');
  });

test('a photo taken in one tab is sent by another; both see progress', async ({ profile, hub }) => {
  const secret = await hub.token(ALICE);
  const leading = await profile.openTab();
  await open(leading, { url: hub.url, secret });
  const taking = await profile.openTab();
  await open(taking, { url: hub.url });
  const heard = (page: Page) =>
    page.evaluate(
      () =>
        new Promise<number>((resolve) => {
          db.files.addEventListener('progress', ({ detail }) => {
            if (detail.done === detail.size) resolve(detail.size);
          });
        }),
    );
  const both = Promise.all([heard(leading), heard(taking)]);
  await takePhoto(taking, 100_000);
  expect(await both).toEqual([100_000, 100_000]);
  expect(await states(leading)).toEqual(['sent']);
});

test('`signOut({ forget })` deletes the photos of the database (P4)', async ({ profile, hub }) => {
  const page = await profile.openTab();
  await open(page, { url: hub.url, secret: await hub.token(ALICE) });
  await takePhoto(page, 100_000);
  await page.evaluate(async () => {
    await sync.whenSettled();
    await db.files.whenSent();
    await db.signOut({ forget: true });
  });
  const left = await page.evaluate(async () =>
    (await indexedDB.databases()).map(({ name }) => name),
  );
  expect(left.filter((name) => name?.startsWith('photos'))).toEqual([]);
});
