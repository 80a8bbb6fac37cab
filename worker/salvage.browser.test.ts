/** Damage in a packed database, and what can be salvaged from it. */
import { afterEach, expect, test } from 'vitest';
import {
  LocalDataLoss,
  NotFound,
  openDatabase,
  q,
  salvageDatabase,
  UnavailableError,
  type Database,
} from '../src/index.ts';
import { rawOpen } from './testing/raw-database.ts';
import { freshName } from './testing/store-kit.ts';

const DOCUMENTS = 3000;
const names: string[] = [];
const named = (): string => {
  const name = `salvage ${freshName()}`;
  names.push(name);
  return name;
};
afterEach(async () => {
  for (const name of names.splice(0)) indexedDB.deleteDatabase(name);
});

/** A database of which a part is in blocks, and a part only in the log. */
async function filled(name: string): Promise<void> {
  const db = await openDatabase(name, { durability: 'relaxed' });
  const client = db.client();
  await client.query(q.CreateCollection({ name: 'notes' }));
  await client.query(
    q.CreateIndex({
      name: 'notes_by_city',
      source: q.Collection('notes'),
      terms: [{ field: ['data', 'city'] }],
    }),
  );
  for (let from = 0; from < DOCUMENTS; from += 500) await create(db, from, 500);
  await create(db, DOCUMENTS, 10);
  await db.close();
}

async function create(db: Database, from: number, count: number): Promise<void> {
  const notes = Array.from({ length: count }, (_none, n) => {
    const at = from + n;
    const data = { at, city: `c${at % 7}`, text: `${at}.`.repeat(500) };
    return q.Create(q.Ref(q.Collection('notes'), at + 1), { data });
  });
  await db.client().query(q.Do(notes, true));
}

interface Stored {
  readonly i?: number;
  readonly n?: number;
  v?: Uint8Array<ArrayBuffer>;
}

/** Whether the stored bytes contain the definition of the collection. */
const hasCollection = ({ v }: Stored): boolean =>
  new TextDecoder('latin1').decode(v).includes('"name":"notes"');

/** Changes the values under some keys, which `pick` selects from all of them, as a broken disk would. */
async function damage(
  name: string,
  store: 'blocks' | 'commits',
  pick: (all: readonly Stored[]) => readonly Stored[],
): Promise<number> {
  const request = indexedDB.open(name);
  await new Promise((resolve) => request.addEventListener('success', resolve));
  const idb = request.result;
  const tx = idb.transaction(store, 'readwrite');
  const all = tx.objectStore(store).getAll(IDBKeyRange.lowerBound(1)) as IDBRequest<Stored[]>;
  let damaged = 0;
  all.addEventListener('success', () => {
    for (const stored of pick(all.result)) {
      const bytes = stored.v?.slice() ?? new Uint8Array();
      bytes.fill(0xa5, Math.floor(bytes.length / 2));
      tx.objectStore(store).put({ ...stored, v: bytes });
      damaged += 1;
    }
  });
  await new Promise((resolve, reject) => {
    tx.addEventListener('complete', resolve);
    tx.addEventListener('abort', () => reject(tx.error ?? new Error('aborted')));
  });
  idb.close();
  return damaged;
}

/** The numbers of the notes. Each note must be as it was written. */
async function notesOf(db: Database): Promise<readonly number[]> {
  const numbers: number[] = [];
  const pages = db.client().paginate(q.Documents(q.Collection('notes')), { size: 1000 });
  for await (const refs of pages) {
    const found = await db
      .client()
      .query(
        q.Map(refs, (ref) =>
          q.Select<{ at: number; city: string; text: string }>(['data'], q.Get(ref)),
        ),
      );
    for (const { at, city, text } of found as { at: number; city: string; text: string }[]) {
      expect(city).toBe(`c${at % 7}`);
      expect(text).toBe(`${at}.`.repeat(500));
      numbers.push(at);
    }
  }
  return numbers;
}

test('salvageDatabase() recovers all documents outside a damaged block, and names the block (F31)', async () => {
  const [name, into] = [named(), named()];
  await filled(name);
  const count = await damage(name, 'blocks', (all) =>
    all.filter((one) => (one.v?.length ?? 0) > 12 * 1024 && !hasCollection(one)).slice(5, 6),
  );
  expect(count).toBe(1);
  const { rows, damaged } = await salvageDatabase(name, { into });
  expect(damaged).toEqual([expect.stringMatching(/^block \d+$/)]);
  const rescued = await openDatabase(into);
  expect(rescued.loss).toBeUndefined();
  const numbers = await notesOf(rescued);
  expect(numbers.length).toBeGreaterThan(DOCUMENTS - 200);
  expect(new Set(numbers).size).toBe(numbers.length);
  expect(rows).toBeGreaterThanOrEqual(numbers.length);
  // The salvaged database is a normal one.
  expect(await rescued.verify()).toEqual([]);
  await create(rescued, 900_000, 1);
  const city = q.Match(q.Index('notes_by_city'), `c${900_000 % 7}`);
  expect(await rescued.client().query(q.Count(city))).toBeGreaterThan(100);
  await rescued.close();
});

test('salvageDatabase() recovers the documents of a collection that has lost its name, under its number', async () => {
  const [name, into] = [named(), named()];
  await filled(name);
  // The definition is in a block, in the log or in both, depending on when the memtable was flushed.
  const inBlocks = await damage(name, 'blocks', (all) => all.filter(hasCollection));
  const inLog = await damage(name, 'commits', (all) => all.filter(hasCollection));
  expect(inBlocks + inLog).toBeGreaterThan(0);
  expect((await salvageDatabase(name, { into })).renamed).toEqual(['salvaged_1024']);
  const rescued = await openDatabase(into);
  const client = rescued.client();
  await client.query(q.Update(q.Collection('salvaged_1024'), { name: 'notes' }));
  expect((await notesOf(rescued)).length).toBeGreaterThan(DOCUMENTS - 200);
  expect(await rescued.verify()).toEqual([]);
  await rescued.close();
});

test('salvageDatabase() recovers a database from its blocks when a damaged log prevents opening', async () => {
  const [name, into] = [named(), named()];
  await filled(name);
  await damage(name, 'commits', (all) => all);
  await expect(openDatabase(name)).rejects.toBeInstanceOf(LocalDataLoss);
  const { damaged } = await salvageDatabase(name, { into });
  expect(damaged.every((what) => /^log record \d+$/.test(what))).toBe(true);
  expect(damaged.length).toBeGreaterThan(0);
  const rescued = await openDatabase(into);
  expect((await notesOf(rescued)).length).toBeGreaterThan(0);
  await rescued.close();
});

test('a database of which another script has emptied a part says at opening how to salvage it', async () => {
  const [name, into] = [named(), named()];
  const db = await openDatabase(name);
  await db.client().query(q.CreateCollection({ name: 'notes' }));
  await create(db, 0, 20);
  await db.close();
  const idb = await rawOpen(name);
  const tx = idb.transaction('meta', 'readwrite');
  tx.objectStore('meta').clear();
  await new Promise((resolve) => tx.addEventListener('complete', resolve));
  idb.close();
  await expect(openDatabase(name)).rejects.toMatchObject({
    code: 'local_data_loss',
    description: expect.stringContaining('salvageDatabase()') as string,
  });
  await salvageDatabase(name, { into });
  const rescued = await openDatabase(into);
  expect(await notesOf(rescued)).toHaveLength(20);
  await rescued.close();
});

test('salvageDatabase() recovers an undamaged database completely, with its history and passwords', async () => {
  const [name, into] = [named(), named()];
  const db = await openDatabase(name, { durability: 'relaxed' });
  const client = db.client();
  await client.query(q.CreateCollection({ name: 'users' }));
  const ref = q.Ref(q.Collection('users'), '1');
  await client.query(q.Create(ref, { data: { n: 1 }, credentials: { password: 'a password' } }));
  await client.query(q.Update(ref, { data: { n: 2 } }));
  const events = q.Count(q.Select(['data'], q.Paginate(q.Events(ref))));
  const before = await client.query(events);
  await db.close();
  expect((await salvageDatabase(name, { into })).damaged).toEqual([]);
  const rescued = await openDatabase(into);
  expect(await rescued.client().query(events)).toBe(before);
  const login = await rescued.client().query(q.Login(ref, { password: 'a password' }));
  expect(login).toMatchObject({ secret: expect.any(String) as unknown });
  await rescued.close();
});

test('salvageDatabase() of a database whose user has signed out makes a locked one', async () => {
  const [name, into] = [named(), named()];
  await filled(name);
  const db = await openDatabase(name);
  await db.signOut();
  await db.close();
  await salvageDatabase(name, { into });
  const rescued = await openDatabase(into);
  expect(rescued.isLocked).toBe(true);
  await rescued.close();
});

test('salvageDatabase() refuses a source that does not exist, and a target that exists', async () => {
  const [name, into] = [named(), named()];
  const db = await openDatabase(into);
  await db.client().query(q.CreateCollection({ name: 'kept' }));
  await db.close();
  await expect(salvageDatabase(name, { into: named() })).rejects.toBeInstanceOf(NotFound);
  const stored = (await indexedDB.databases()).map((each) => each.name);
  expect(stored).not.toContain(name);
  await filled(name);
  await expect(salvageDatabase(name, { into })).rejects.toBeInstanceOf(UnavailableError);
  const again = await openDatabase(into);
  expect(await again.client().query(q.Exists(q.Collection('kept')))).toBe(true);
  await again.close();
});
