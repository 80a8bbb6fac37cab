/** Runs the code of docs/start.md, tanstack.md and query-log.md as in a page, with databases in memory. */
import { createCollection, createLiveQueryCollection, eq, type Collection } from '@tanstack/db';
import { Window } from 'happy-dom';
import { afterEach, expect, test } from 'vitest';
import {
  createNetwork,
  openDatabase,
  openHub,
  type TestDatabaseOptions,
} from '../../in-process/testing.ts';
import { burrowCollectionOptions, newId } from '../hooks/tanstack.ts';
import { q, type Client } from '../index.ts';
import { piecesOf, runPiece } from './testing/pieces.ts';

const opened: { close: () => Promise<void> }[] = [];
const closedLater = <Opened extends { close: () => Promise<void> }>(each: Opened): Opened => {
  opened.push(each);
  return each;
};
afterEach(async () => {
  for (const each of opened.splice(0).toReversed()) await each.close();
});

test('docs/start.md: the page shows notes written by its form and by others', async () => {
  const pieces = piecesOf('start.md');
  expect(pieces).toHaveLength(1);
  const { document, Event } = new Window();
  const open = async (name: string) => closedLater(await openDatabase(name));
  const { declared } = await runPiece(pieces[0] ?? '', { q, document, openDatabase: open });
  const shown = () => [...document.querySelectorAll('li')].map(({ textContent }) => textContent);
  const input = document.querySelector('input');
  if (input !== null) input.value = 'a heron';
  document.querySelector('form')?.dispatchEvent(new Event('submit', { cancelable: true }));
  await expect.poll(shown).toEqual(['a heron']);
  await (declared['client'] as Client).query(q.Create('notes', { data: { text: 'an owl' } }));
  await expect.poll(shown).toEqual(['a heron', 'an owl']);
});

const tanstack = { createCollection, createLiveQueryCollection, eq };
const given = { ...tanstack, burrowCollectionOptions, newId, q };

test('docs/tanstack.md: two collections are joined, and changes are stored', async () => {
  const admin = closedLater(await openDatabase()).client();
  for (const name of ['todos', 'lists']) await admin.query(q.CreateCollection({ name }));
  await admin.query(q.Create('lists', { data: { name: 'birds' } }));
  const [piece = ''] = piecesOf('tanstack.md');
  const { declared } = await runPiece(piece, { ...given, admin });
  expect(declared['list']).toMatch(/^\d+$/);
  await expect.poll(() => admin.query(q.Count(q.Documents(q.Collection('todos'))))).toBe(0);
  // The document was added and deleted.
  const events = q.Select('data', q.Paginate(q.Events(q.Documents(q.Collection('todos')))));
  expect(await admin.query(q.Count(events))).toBe(2);
});

test('docs/tanstack.md: a refused write is logged with its label and discarded', async () => {
  const hub = closedLater(await openHub());
  const admin = hub.client();
  await admin.query(
    q.Do(q.CreateCollection({ name: 'notes' }), q.CreateCollection({ name: 'users' })),
  );
  const user = q.Ref(q.Collection('users'), '1');
  await admin.query(q.Create(user, { credentials: { password: 'secret' } }));
  await admin.query(q.Create('notes', { data: { title: 'a heron' } }));
  const privileges = (write: boolean) => [
    { resource: q.Collection('notes'), actions: { read: true, write } },
  ];
  const membership = { resource: q.Collection('users') };
  await admin.query(q.CreateRole({ name: 'member', membership, privileges: privileges(true) }));
  const { secret: key } = await admin.query(q.CreateKey({ role: 'client' }));
  const network = createNetwork();
  const db = closedLater(await openDatabase('notes', { network }));
  const options = { url: hub.url, sets: [q.Documents(q.Collection('notes'))] };
  const login = { user, password: 'secret', key };
  const sync = await db.sync({ ...options, login });
  await sync.whenSynced();
  const [, piece = ''] = piecesOf('tanstack.md');
  const amid = piece.replace('await collection.preload()\n', '$&await between(collection)\n');
  type Notes = Collection<{ id: string; title: string }>;
  const between = async (notes: Notes) => {
    network.offline();
    const change = notes.update(notes.toArray[0]?.id ?? '', (note) => {
      note.title = 'an owl';
    });
    await change.isPersisted.promise;
    await admin.query(q.Update(q.Role('member'), { privileges: privileges(false) }));
    network.online();
    await expect.poll(() => sync.writes.list({ states: ['refused'] })).toHaveLength(1);
  };
  const { logged } = await runPiece(amid, { ...given, db, hub: hub.url, between });
  expect(logged).toEqual([expect.stringMatching(/^update “an owl” ./)]);
  expect(await sync.writes.list({ states: ['refused'] })).toEqual([]);
});

test('docs/query-log.md: the export contains the query', async () => {
  const pieces = piecesOf('query-log.md');
  expect(pieces).toHaveLength(1);
  const open = async (name: string, options: TestDatabaseOptions) =>
    closedLater(await openDatabase(name, options));
  const { declared } = await runPiece(pieces[0] ?? '', { q, openDatabase: open });
  expect(declared['state']).toBe('Complete');
  const file = await (await fetch(String(declared['presigned_url']))).blob();
  const text = await new Response(
    file.stream().pipeThrough(new DecompressionStream('gzip')),
  ).text();
  expect(JSON.parse(text)).toMatchObject({ QUERY: '{"now":null}', TAGS: { job: 'nightly' } });
});
