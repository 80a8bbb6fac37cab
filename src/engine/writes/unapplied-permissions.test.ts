import { expect, test } from 'vitest';
import { coll, EngineWorld, obj, type Query } from '../testing/engine-world.ts';

const role = (name: string, ...resources: readonly Query[]): Query => ({
  create_role: obj({
    name,
    privileges: resources.map((resource) => obj({ resource, actions: obj({ read: true }) })),
  }),
});

async function world(): Promise<EngineWorld> {
  const w = new EngineWorld();
  await w.ask({ create_collection: obj({ name: 'users' }) });
  const permissions = obj({ read: 'public' });
  await w.ask({ create_collection: obj({ name: 'notes', permissions }) });
  await w.ask({
    create_index: obj({ name: 'users_by_email', source: coll('users'), permissions }),
  });
  return w;
}

test('create_role returns a notice of the permissions that no longer apply', async () => {
  const w = await world();
  const { status, notices } = await w.answer(role('readers', coll('notes'), coll('users')));
  expect(status).toBe(201);
  expect(notices).toEqual([
    'Because of role readers, the permissions of notes no longer give access: give it by roles.',
    expect.stringContaining('pages of users_by_email'),
  ]);
});

test('an index over a collection that the role names still serves logins, and the notice says so', async () => {
  const w = await world();
  const { notices } = await w.answer(role('readers', coll('users')));
  expect(notices).toEqual([
    'Because of role readers, pages of users_by_email have only documents that the caller may read. Logins with it still work.',
  ]);
});

test('updating a role with a new resource returns the notice too', async () => {
  const w = await world();
  await w.ask(role('readers', coll('notes')));
  const index = { index: 'users_by_email' };
  const privileges = [coll('notes'), index].map((resource) => obj({ resource }));
  const { notices } = await w.answer({
    update: { role: 'readers' },
    params: obj({ privileges }),
  });
  expect(notices).toEqual([expect.stringContaining('permissions of users_by_email no longer')]);
});

test.each([
  ['a resource that another role names', [role('first', coll('notes'))], coll('notes')],
  [
    'a collection whose index another role names',
    [role('first', { index: 'users_by_email' })],
    coll('users'),
  ],
  ['a resource without permissions', [{ create_collection: obj({ name: 'bare' }) }], coll('bare')],
])('a role that names %s causes no notice', async (_, before, resource) => {
  const w = await world();
  for (const query of before) await w.ask(query);
  expect(await w.answer(role('second', resource))).not.toHaveProperty('notices');
});

test('a role that is refused causes no notice', async () => {
  const w = await world();
  expect(await w.answer(role('events', coll('notes')))).not.toHaveProperty('notices');
});
