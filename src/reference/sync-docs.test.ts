/**
 * Runs the code of docs/sync.md, scripts.md and errors.md against a listening hub, and checks what the pages say about
 * it.
 */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { createFilesRoute, type FilesRoute } from '../../hub/files/files-route.ts';
import { createLiveRoute } from '../../hub/live/live-route.ts';
import { DEFAULT_SETTINGS } from '../../hub/settings/settings.ts';
import { createSyncRoute } from '../../hub/sync/sync-route.ts';
import { prepareFolder } from '../../hub/testing/prepared-pglite.ts';
import { openTestHub, type TestHub } from '../../hub/testing/test-hub.ts';
import { openDatabase as openFolder } from '../../in-process/node.ts';
import { connect } from '../../in-process/remote.ts';
import { openDatabase } from '../../in-process/testing.ts';
import * as adopting from '../adopt/adopt.ts';
import {
  ContendedTransaction,
  q,
  QueryError,
  queryText,
  type Database,
  type Sync,
} from '../index.ts';
import { createMemoryBlobs } from '../sync/hub/files/blob-store.ts';
import { piecesOf, runPiece } from './testing/pieces.ts';

const HUB = 'https://hub.example';

let hub: TestHub;
let files: FilesRoute;
let folder: string;
const opened: Pick<Database, 'close'>[] = [];

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'burrow-docs-'));
  hub = await openTestHub({
    routes: (of) => {
      files = createFilesRoute(of, createMemoryBlobs(Date.now), DEFAULT_SETTINGS);
      return [files, createSyncRoute(of, {}), createLiveRoute(of, DEFAULT_SETTINGS)];
    },
  });
});
afterEach(async () => {
  for (const each of opened.splice(0)) await each.close();
  files.close();
  await rm(folder, { recursive: true, force: true });
});

/** The code with the address and the folders of this test. */
const here = (code: string): string =>
  code.replaceAll(`'${HUB}'`, JSON.stringify(hub.url)).replaceAll("'./", `'${folder}/`);

/** Prepares the hub as docs/sync.md does. Returns the variables for its other pieces. */
async function prepared() {
  const remote = await connect({ url: hub.url, secret: hub.secret });
  opened.push(remote);
  const [preparation = ''] = piecesOf('sync.md');
  const given = { q, admin: remote.client(), email: 'ada@example.org', password: 'secret' };
  const { declared } = await runPiece(preparation, given);
  return { ...given, key: undefined as unknown, ...declared };
}

test('docs/sync.md: preparation of a hub, sign-up, sync, adoption, concurrent edits and pictures', async () => {
  const pieces = piecesOf('sync.md');
  // in-process/computed-sets.test.ts runs the piece about computed sets. e2e/background.spec.ts runs the last piece in
  // a browser.
  expect(pieces).toHaveLength(9);
  expect(pieces[3]).toContain('setSets([meters])');
  const given = await prepared();
  const ben = { ...given, email: 'ben@example.org', hub: `${hub.url}/` };
  const signedUp = await runPiece(pieces[1] ?? '', { ...ben, queryText });
  expect(signedUp.declared).toMatchObject({ isNew: true });
  const db = await openDatabase('notes');
  opened.push(db);
  const { declared } = await runPiece(here(pieces[2] ?? ''), { ...ben, db });
  const sync = declared['sync'] as Awaited<ReturnType<Database['sync']>>;
  const { client } = sync;
  const { value } = await client.submit(
    q.Create('notes', { data: { title: 'a heron', count: 1 } }),
  );
  const ref = (value as { readonly ref: unknown }).ref;
  const partial = await runPiece(pieces[4] ?? '', { ...ben, ...declared });
  expect(partial.logged).toEqual(['1 notes']);
  const actions = { read: true, create: true, create_with_id: true, write: true, delete: true };
  const privileges = [{ resource: q.Collection('notes'), actions }];
  await given.admin.query(q.Update(q.Role('people'), { privileges }));
  // The copy has to receive the changed role first, because it checks writes by its own copy of the role.
  await sync.whenSynced();
  const alone = await openDatabase('alone');
  await alone.client().query(q.CreateCollection({ name: 'notes' }));
  await alone.client().query(q.Create('notes', { data: { title: 'an owl' } }));
  const openAlone = () => Promise.resolve(alone);
  const adoption = { ...ben, ...declared, ...adopting, openDatabase: openAlone };
  const adopted = await runPiece(pieces[5] ?? '', adoption);
  expect(adopted.declared).toMatchObject({ clashes: [], failed: [], refused: [] });
  expect(await given.admin.query(q.Count(q.Documents(q.Collection('notes'))))).toBe(2);
  const edit = (pieces[6] ?? '').replaceAll(
    /^q\./gm,
    'edits.at(edits.push(null) - 1); edits[edits.length - 1] = q.',
  );
  const edits: Parameters<typeof client.submit>[0][] = [];
  await runPiece(edit, { ...ben, ref, seen: 'a heron', title: 'two herons', edits });
  for (const each of edits) {
    const { settled } = await client.submit(each);
    expect(await settled).toMatchObject({ state: 'confirmed' });
  }
  const stored = q.Select('data', q.Get(ref as Parameters<typeof q.Get>[0]));
  expect(await given.admin.query(stored)).toEqual({ title: 'two herons', count: 2 });

  const pictures = await runPiece(pieces[7] ?? '', { ...ben, ...declared, db });
  expect(pictures.logged).toEqual([expect.stringMatching(/^blob:/)]);
  await (declared['sync'] as Sync).whenSettled();
  await db.files.whenSent();
  expect(await db.files.list()).toMatchObject([{ state: 'sent' }]);
});

test('docs/scripts.md: seed, report, live query, log export, folder and syncing robot', async () => {
  const pieces = piecesOf('scripts.md');
  expect(pieces).toHaveLength(7);
  const { admin, key } = await prepared();
  const robot = { email: 'robot@example.org' };
  await admin.query(q.Create('users', { data: robot, credentials: { password: 'secret' } }));
  const given = { q, connect, key: hub.secret };
  const run = (at: number, more: object = {}) =>
    runPiece(here(pieces[at] ?? ''), { ...given, ...more });
  await run(0);
  expect((await run(1)).logged).toEqual(['2 notes']);
  const live = await run(2);
  await expect.poll(() => live.logged).toEqual(['2 notes']);
  (live.declared['stop'] as () => void)();
  await (live.declared['remote'] as Awaited<ReturnType<typeof connect>>).close();
  const { declared } = await run(3);
  const database = await (declared['database'] as () => Promise<Database>)();
  expect(await database.client().query(q.Add(1, 2))).toBe(3);
  await database.close();
  expect((await run(4)).logged[0]).toMatch(/^Complete http/);
  for (const name of ['field-notes', 'robot']) await prepareFolder(join(folder, name));
  const folderNotes = await run(5, { openDatabase: openFolder });
  expect(folderNotes.declared).toHaveProperty('db');
  await run(6, { openDatabase: openFolder, password: 'secret', key });
  expect(await admin.query(q.Count(q.Documents(q.Collection('notes'))))).toBe(3);
});

test('docs/errors.md: the errors that a program catches', async () => {
  const [piece = '', ...others] = piecesOf('errors.md');
  expect(others).toEqual([]);
  const open = async (name: string): Promise<Database> => {
    const db = await openDatabase(name);
    opened.push(db);
    return db;
  };
  const { logged } = await runPiece(piece, {
    openDatabase: open,
    q,
    ContendedTransaction,
    QueryError,
  });
  expect(logged).toEqual(['invalid ref do,1,get']);
});
