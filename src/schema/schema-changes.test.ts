/** A schema is changed three times while an old tab is open and a device is offline: nothing is lost. */
import { expect, test } from 'vitest';
import { createNetwork, openDatabase, openHub } from '../../in-process/testing.ts';
import { q } from '../index.ts';
import { defineSchema } from './define-schema.ts';
import { migrate, type SchemaTarget } from './migrate.ts';
import type { MigrateOptions } from './migrate-options.ts';

const notes = q.Collection('notes');
const collections = { notes: {}, users: {} };
const member = (extra: object) => ({
  member: {
    membership: { users: true as const },
    privileges: {
      collections: { notes: { read: true, create: true, write: true } },
      ...extra,
    },
  },
});

const v1 = defineSchema({ collections, roles: member({}) });
const v2 = defineSchema({
  collections,
  indexes: { by_kind: { source: 'notes', terms: [{ field: ['data', 'kind'] }] } },
  roles: member({ indexes: { by_kind: { read: true } } }),
});
const v3 = defineSchema({
  collections,
  indexes: {
    by_kind: {
      source: 'notes',
      terms: [{ field: ['data', 'kind'] }],
      values: [{ field: ['data', 'title'] }],
    },
  },
  roles: member({ indexes: { by_kind: { read: true } } }),
});
const v4 = defineSchema({
  collections: { ...collections, kinds: {} },
  indexes: { by_kind: { source: 'notes', terms: [{ field: ['data', 'kind'] }] } },
  roles: member({ indexes: { by_kind: { read: true } } }),
});

const set = (members: object) =>
  v1.each('notes', (document) => q.Update(q.Select('ref', document), { data: members }), {
    size: 2,
  });
const steps = {
  2: set({ kind: 'bird' }),
  3: set({ checked: true }),
  4: q.CreateCollection({ name: 'made_by_step' }),
};
const upTo = (version: number): MigrateOptions => ({
  version,
  steps: Object.fromEntries(Object.entries(steps).filter(([at]) => Number(at) <= version)),
});

/** @returns the contents of each note after each of three changes */
async function changeThrice(
  target: SchemaTarget,
  look: () => Promise<unknown>,
): Promise<unknown[]> {
  const seen: unknown[] = [];
  for (const [at, schema] of [v2, v3, v4].entries()) {
    await migrate(target, schema, upTo(at + 2));
    seen.push(await look());
  }
  return seen;
}

test('three schema changes on a device while an old program reads and writes lose nothing', async () => {
  const db = await openDatabase();
  const old = db.client();
  await migrate(db, v1, { version: 1 });
  const write = (title: string) => old.query(q.Create(notes, { data: { title } }));
  for (const title of ['heron', 'wren', 'owl']) await write(title);
  const seen = await changeThrice(db, async () => {
    const all = await old.query(
      q.Select(
        'data',
        q.Map(q.Paginate(q.Documents(notes)), (ref) => q.Select('data', q.Get(ref))),
      ),
    );
    // The old program does not know about the change: it works, and cannot undo it.
    await expect(migrate(db, v1, { version: 1 })).rejects.toMatchObject({ code: 'newer_schema' });
    await write('robin');
    return all;
  });
  expect(seen).toEqual([
    [
      { title: 'heron', kind: 'bird' },
      { title: 'wren', kind: 'bird' },
      { title: 'owl', kind: 'bird' },
    ],
    [
      { title: 'heron', kind: 'bird', checked: true },
      { title: 'wren', kind: 'bird', checked: true },
      { title: 'owl', kind: 'bird', checked: true },
      { title: 'robin', checked: true },
    ],
    [
      { title: 'heron', kind: 'bird', checked: true },
      { title: 'wren', kind: 'bird', checked: true },
      { title: 'owl', kind: 'bird', checked: true },
      { title: 'robin', checked: true },
      { title: 'robin' },
    ],
  ]);
  expect(await old.query(q.Exists(q.Collection('made_by_step')))).toBe(true);
  await db.close();
});

test('three schema changes at the hub while a device with unsent writes is offline lose nothing', async () => {
  const hub = await openHub();
  const admin = hub.client();
  await migrate(hub, v1, { version: 1 });
  const user = q.Ref(q.Collection('users'), '1');
  const password = 'secret';
  await admin.query(q.Create(user, { credentials: { password } }));
  const heron = q.Ref(notes, '1');
  await admin.query(q.Create(heron, { data: { title: 'heron' } }));
  const { secret: key } = await admin.query(q.CreateKey({ role: 'client' }));

  const network = createNetwork();
  const db = await openDatabase('notes', { network });
  const sync = await db.sync({
    url: hub.url,
    login: { user, password, key },
    sets: [q.Documents(notes)],
  });
  await sync.whenSynced();
  network.offline();
  const made = await sync.client.submit(q.Create(notes, { data: { title: 'wren' } }));
  const changed = await sync.client.submit(q.Update(heron, { data: { title: 'grey heron' } }));

  const dataOfHeron = () => admin.query(q.Select('data', q.Get(heron)));
  expect(await changeThrice(hub, dataOfHeron)).toEqual([
    { title: 'heron', kind: 'bird' },
    { title: 'heron', kind: 'bird', checked: true },
    { title: 'heron', kind: 'bird', checked: true },
  ]);
  expect(await sync.client.query(q.Select('data', q.Get(heron)))).toEqual({ title: 'grey heron' });

  network.online();
  expect(await made.settled).toMatchObject({ state: 'confirmed' });
  // The hub's note has more members by then, so its answer differs from the one on the device, but the write is kept.
  expect((await changed.settled).state).toMatch(/^(confirmed|amended)$/);
  await sync.whenSynced();
  const both = [{ title: 'grey heron', kind: 'bird', checked: true }, { title: 'wren' }];
  const all = q.Select(
    'data',
    q.Map(q.Paginate(q.Documents(notes)), (ref) => q.Select('data', q.Get(ref))),
  );
  expect(await admin.query(all)).toEqual(both);
  expect(await sync.client.query(all)).toEqual(both);
  await db.close();
  await hub.close();
});
