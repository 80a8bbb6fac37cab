import { afterEach, beforeEach, expect, test } from 'vitest';
import {
  createNetwork,
  openDatabase,
  openHub,
  type TestHub,
  type TestNetwork,
} from '../../in-process/testing.ts';
import { forgetDatabase, openDatabase as openStored, q, type Database } from '../../src/index.ts';
import type { NoteCopy } from './note-copy.ts';
import { notesAlone } from './notes-alone.ts';

const DATABASE = 'burrow-notes-alone';
const NOTES = q.Collection('notes');
const user = q.Ref(q.Collection('people'), '1');
const password = 'heron at dawn';

let hub: TestHub;
let network: TestNetwork;
let copy: NoteCopy;
/** The same database, opened as if by another window. */
let other: Database;
let ending: AbortController;
let node: HTMLElement;

const shown = (name: string): HTMLElement => {
  const found = node.querySelector<HTMLElement>(`[data-testid=${name}]`);
  if (!found) throw new Error(`Nothing is shown as ${name}.`);
  return found;
};
const titles = () =>
  [...shown('alone-notes').querySelectorAll('li')].map((each) => each.textContent);

async function openCopy(): Promise<NoteCopy> {
  const admin = hub.client();
  for (const name of ['people', 'notes']) await admin.query(q.CreateCollection({ name }));
  await admin.query(q.Create(user, { credentials: { password }, data: { name: 'Ada' } }));
  await admin.query(
    q.CreateRole({
      name: 'note_keeper',
      membership: { resource: q.Collection('people') },
      privileges: [
        { resource: NOTES, actions: { read: true, create: true, create_with_id: true } },
        { resource: q.Collection('people'), actions: { read: true } },
      ],
    }),
  );
  const { secret: key } = await admin.query(q.CreateKey({ role: 'client' }));
  const db = await openDatabase('copy', { network });
  const sets = [q.Documents(NOTES), q.Documents(q.Collection('people'))];
  const sync = await db.sync({ url: hub.url, login: { user, password, key }, sets });
  await sync.whenSynced();
  return { person: { id: '1', name: 'Ada', password, secretTitle: '' }, db, sync };
}

beforeEach(async () => {
  hub = await openHub();
  network = createNetwork();
  copy = await openCopy();
  other = await openStored(DATABASE);
  ending = new AbortController();
  node = notesAlone(copy, ending.signal, () => undefined);
  document.body.append(node);
});
afterEach(async () => {
  ending.abort();
  document.body.replaceChildren();
  await copy.db.close();
  await hub.close();
  await other.close();
  await forgetDatabase(DATABASE);
});

async function addHere(title: string): Promise<void> {
  (shown('alone-title') as HTMLInputElement).value = title;
  shown('alone-add').click();
  await expect.poll(titles).toContain(title);
}

test('a note that another window adds during an adoption stays in the local database', async () => {
  await addHere('A stork');
  network.offline();
  shown('adopt').click();
  await expect.poll(() => shown('adopt-state').textContent).toContain('1 note');
  await other.client().query(q.Create(NOTES, { data: { title: 'An egret' } }));
  network.online();
  await expect.poll(() => shown('adopt-state').textContent).toContain('The hub has them all');
  await expect.poll(titles).toEqual(['An egret']);
  expect(await hub.client().query(q.Count(q.Documents(NOTES)))).toBe(1);
  expect(await other.client().query(q.Count(q.Documents(NOTES)))).toBe(1);
});

test('notes that another window adds or removes update the list and the button that adopts', async () => {
  const isDisabled = () => (shown('adopt') as HTMLButtonElement).disabled;
  const client = other.client();
  await expect.poll(() => client.query(q.Exists(NOTES))).toBe(true);
  const { ref } = await client.query(q.Create(NOTES, { data: { title: 'An egret' } }));
  await expect.poll(titles).toEqual(['An egret']);
  expect(isDisabled()).toBe(false);
  await client.query(q.Delete(ref));
  await expect.poll(titles).toEqual([]);
  expect(isDisabled()).toBe(true);
});
