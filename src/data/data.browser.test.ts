import { expect, test } from 'vitest';
import { openDatabase, q, type Database } from '../index.ts';
import { importDatabase } from './import.ts';
import { storageUse } from './storage.ts';
import { blobOf, fill, linesOfExport, packed } from './testing/kit.ts';

async function using(work: (open: () => Promise<Database>) => Promise<void>): Promise<void> {
  const opened: Database[] = [];
  try {
    await work(async () => {
      const name = `data ${crypto.randomUUID()}`;
      const database = await openDatabase(name, { persist: false });
      opened.push(database);
      return database;
    });
  } finally {
    for (const each of opened) await each.destroy();
  }
}

const perSecond = (count: number, since: number): number =>
  Math.round((count / (performance.now() - since)) * 1000);

test('an export from one database in a page imports into another with the same answers', () =>
  using(async (open) => {
    const [from, to] = [await open(), await open()];
    await fill(from, { documents: 5000 });
    const began = performance.now();
    const file = await packed(from, { history: false });
    console.log(`exported ${perSecond(5002, began)} documents a second, ${file.size} bytes`);
    const importing = performance.now();
    expect(await importDatabase(to, file)).toMatchObject({ imported: 5002 });
    console.log(`imported ${perSecond(5002, importing)} documents a second`);
    expect(await linesOfExport(to)).toEqual(await linesOfExport(from));
    const counted = q.Count(q.Match(q.Index('notes_by_size')));
    expect(await to.client().query(counted)).toBe(await from.client().query(counted));
    expect(await to.verify()).toEqual([]);
  }));

test('JSON lines and CSV are imported in a page', () =>
  using(async (open) => {
    const db = await open();
    await db.client().query(q.CreateCollection({ name: 'notes' }));
    const common = { collection: 'notes', id: 'no' } as const;
    await importDatabase(db, blobOf('{"no":1,"title":"a heron"}'), { ...common, format: 'jsonl' });
    await importDatabase(db, blobOf('no:int,title', '2,"two, or three, frogs"'), {
      ...common,
      format: 'csv',
    });
    const titles = await db
      .client()
      .query(
        q.Map([1, 2], (id) => q.Select(['data', 'title'], q.Get(q.Ref(q.Collection('notes'), id)))),
      );
    expect(titles).toEqual(['a heron', 'two, or three, frogs']);
  }));

test('storageUse() returns the browser’s values for this site', async () => {
  const use = await storageUse();
  expect(use?.quotaBytes).toBeGreaterThan(1024 * 1024);
  expect(use?.usageBytes).toBeLessThan(use?.quotaBytes ?? 0);
  expect(typeof use?.isPersistent).toBe('boolean');
});
