/**
 * Runs the code of docs/data.md, each piece with its own database, and checks what the page says about it.
 * scripts/snippets.test.mjs checks that the code compiles.
 */
import { afterEach, expect, test, vi } from 'vitest';
import { connect } from '../../in-process/remote.ts';
import { openDatabase, openHub } from '../../in-process/testing.ts';
import { exportDatabase, importDatabase, storageUse, watchStorage } from '../data/data.ts';
import { q, type Client, type Database } from '../index.ts';
import { piecesOf, runPiece, type Ran } from './testing/pieces.ts';

const snippets = piecesOf('data.md');

afterEach(() => void vi.unstubAllGlobals());

const MODULES = { connect, exportDatabase, importDatabase, storageUse, watchStorage };
const NOTES = q.Collection('notes');
const USERS = q.Collection('users');

/** Runs the only piece of code that contains the text. */
async function run(holds: string, given: Readonly<Record<string, unknown>>): Promise<Ran> {
  const found = snippets.filter((code) => code.includes(holds));
  expect(found, holds).toHaveLength(1);
  return runPiece(found[0] ?? '', { ...MODULES, ...given });
}

async function using(work: (db: Database, admin: Client) => Promise<void>): Promise<void> {
  const db = await openDatabase();
  try {
    await db
      .client()
      .query(q.Do(q.CreateCollection({ name: 'notes' }), q.CreateCollection({ name: 'users' })));
    await work(db, db.client());
  } finally {
    await db.close();
  }
}

const addNotes = (admin: Client, count: number) =>
  admin.query(
    q.Foreach(
      Array.from({ length: count }, (_, n) => n + 1),
      (n) => q.Create(q.Ref(NOTES, n), { data: { n } }),
    ),
  );

const dataOf = (admin: Client, id: number) =>
  admin.query(q.Select('data', q.Get(q.Ref(NOTES, id))));

test('docs/data.md has only the six pieces of code that are run here', () => {
  expect(snippets).toHaveLength(6);
});

test('docs/data.md: export to a file and import of the file', () =>
  using(async (from, admin) => {
    await addNotes(admin, 3);
    const out = await run('const file = ', { db: from });
    expect(out.logged.at(-1)).toBe('3 documents');
    await using(async (to, other) => {
      /** What a user chose in the `<input>`. */
      const chosen = function File() {
        return out.declared['file'];
      };
      const { logged } = await run('const chosen = ', { db: to, File: chosen });
      expect(logged.at(-1)).toBe('3 imported, 0 were there');
      expect(logged.at(-2)).toBe('importing: 3, 0 to go');
      expect(await dataOf(other, 3)).toEqual({ n: 3 });
    });
  }));

test('docs/data.md: import of JSON lines and of CSV', async () => {
  await using(async (db, admin) => {
    await run("format: 'jsonl'", { db });
    expect(await dataOf(admin, 2)).toEqual({ title: 'two frogs' });
  });
  await using(async (db, admin) => {
    await run("format: 'csv'", { db });
    const wanted = { title: 'a heron, grey', seen: q.Date('2026-05-01'), by: q.Ref(USERS, 7) };
    const stored = q.Select('data', q.Get(q.Ref(NOTES, 3)));
    expect(await admin.query(q.Equals(stored, wanted))).toBe(true);
    expect(await dataOf(admin, 4)).toEqual({ title: 'three frogs' });
  });
});

test('docs/data.md: copy from a browser to a hub', () =>
  using(async (db, admin) => {
    await addNotes(admin, 3);
    const hub = await openHub();
    const hosts = new Set<string>();
    vi.stubGlobal('fetch', (url: string, init: Parameters<typeof hub.fetch>[1]) => {
      hosts.add(new URL(url).host);
      return hub.fetch(url, init);
    });
    await run("'https://hub.example'", { db, key: hub.rootSecret });
    expect([...hosts]).toEqual(['hub.example']);
    expect(await hub.client().query(q.Count(q.Documents(NOTES)))).toBe(3);
    await hub.close();
  }));

test('docs/data.md: warning about little room on the device', async () => {
  const storage = {
    estimate: () => Promise.resolve({ usage: 85_000_000, quota: 100_000_000 }),
    persisted: () => Promise.resolve(true),
  };
  vi.stubGlobal('navigator', { storage });
  const { logged, declared } = await run('watchStorage({', {});
  await vi.waitFor(() => expect(logged).toHaveLength(2));
  expect(logged.toSorted()).toEqual(['Only 15 MB left: make room.', 'kept 85000000']);
  (declared as { readonly stop: () => void }).stop();
});
