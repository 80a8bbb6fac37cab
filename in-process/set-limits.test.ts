/** The limits of the length and the number of sets. */
import { afterEach, beforeEach, expect, test } from 'vitest';
import { q, queryText, type Database } from '../src/index.ts';
import { openDatabase, openHub, type TestHub } from './testing.ts';

const NAMES = Array.from({ length: 12 }, (_, n) => `notes${n}`);
const documents = (name: string) => q.Documents(q.Collection(name));
/** A set whose text is longer than its id in messages. */
const [first = documents(''), ...others] = NAMES.map(documents);
const all = q.Union(first, ...others);

let hub: TestHub;
let db: Database;

beforeEach(async () => {
  hub = await openHub();
  for (const name of NAMES) {
    await hub.client().query(q.CreateCollection({ name }));
    await hub.client().query(q.Create(q.Collection(name), { data: {} }));
  }
  db = await openDatabase('notes');
});
afterEach(async () => {
  await db.close();
  await hub.close();
});

const sync = (sets: Parameters<Database['sync']>[0]['sets']) =>
  db.sync({ url: hub.url, secret: hub.rootSecret, sets });

test('a set with a long query is kept, reported in progress, and can be waited for', async () => {
  const copy = await sync([all]);
  const told = new Set<string>();
  copy.addEventListener('progress', ({ detail }) => {
    for (const { set } of detail.sets) told.add(set);
  });
  await copy.whenSynced(all);
  expect(await copy.client.query(q.Count(all))).toBe(NAMES.length);
  await hub.client().query(q.Create(q.Collection('notes0'), { data: {} }));
  await expect.poll(() => copy.client.query(q.Count(all))).toBe(NAMES.length + 1);
  await expect.poll(() => [...told]).toEqual([queryText(all)]);
});

test('a set that is given twice is kept once', async () => {
  const copy = await sync([first, first]);
  await copy.whenSynced();
  expect(await copy.client.query(q.Count(first))).toBe(1);
});

test.each([
  [
    'more sets than a copy may have',
    NAMES.flatMap((name) => Array.from({ length: 9 }, (_, n) => q.Match(q.Index(name), n))),
  ],
  ['a set that is too long', [q.Match(q.Index('by_text'), 'x'.repeat(64 * 1024))]],
])('%s are refused', async (_what, sets) => {
  await expect(sync(sets)).rejects.toMatchObject({
    code: 'limit_exceeded',
    message: expect.stringContaining('100 sets, each of up to 65536 characters') as string,
  });
});
