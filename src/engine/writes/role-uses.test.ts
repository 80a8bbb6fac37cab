import { expect, test } from 'vitest';
import { EngineWorld, coll, obj } from '../testing/engine-world.ts';

const role = { role: 'reader' };
const body = { query: { lambda: '_', expr: 1 } };
const provider = (roles: unknown) =>
  obj({ name: 'idp', issuer: 'https://idp.example', jwks_uri: 'https://idp.example/keys', roles });

/** A child database with a role. Child databases may have access providers. */
async function world() {
  const w = new EngineWorld();
  await w.ask({ create_database: obj({ name: 'app' }) });
  const key = { role: 'admin', database: { database: 'app' } };
  const { secret } = await w.document({ create_key: obj(key) });
  const as = { secret };
  await w.ask({ create_collection: obj({ name: 'notes' }) }, as);
  const privileges = obj({ resource: coll('notes'), actions: obj({ read: true }) });
  await w.ask({ create_role: obj({ name: 'reader', privileges }) }, as);
  return { w, as };
}

test.each([
  ['a function', { create_function: obj({ name: 'f', body, role }) }],
  ['a function, by name', { create_function: obj({ name: 'f', body, role: 'reader' }) }],
  ['a key', { create_key: obj({ role }) }],
  ['a key, by name', { create_key: obj({ role: 'reader' }) }],
  ['a key with several roles', { create_key: obj({ role: [role, role] }) }],
  ['an access provider', { create_access_provider: provider(role) }],
  [
    'an access provider, with a predicate',
    { create_access_provider: provider([obj({ role, predicate: body })]) },
  ],
])('a role that is used by %s can be deleted only after it', async (_, creation) => {
  const { w, as } = await world();
  const { ref } = await w.document(creation, as);
  expect(await w.fault({ delete: role }, as)).toMatchObject({
    status: 400,
    code: 'validation failed',
    position: [],
    failures: [{ field: ['name'], code: 'invalid reference' }],
  });
  await w.ask({ delete: JSON.parse(JSON.stringify(ref)) as unknown }, as);
  await w.ask({ delete: role }, as);
  expect(await w.ask({ exists: role }, as)).toBe(false);
});

test('one query can delete a role together with everything that uses it', async () => {
  const { w, as } = await world();
  await w.ask({ create_function: obj({ name: 'f', body, role }) }, as);
  const { ref } = await w.document({ create_key: obj({ role }) }, as);
  const key = { delete: JSON.parse(JSON.stringify(ref)) as unknown };
  const gone = [{ delete: role }, { delete: { function: 'f' } }];
  // The key still uses the role.
  expect(await w.fault({ do: gone }, as)).toMatchObject({
    code: 'validation failed',
    position: ['do', 0],
    failures: [
      { field: ['name'], description: expect.stringMatching(/^Role 'reader' is used by Key/) },
    ],
  });
  await w.ask({ do: [...gone, key] }, as);
  expect(await w.ask({ exists: role }, as)).toBe(false);
});

test('a role that a function names by text can be deleted if the query creates a new one of that name', async () => {
  const { w, as } = await world();
  await w.ask({ create_function: obj({ name: 'f', body, role: 'reader' }) }, as);
  const again = { create_role: obj({ name: 'reader' }) };
  await w.ask({ do: [{ delete: role }, again] }, as);
  expect(await w.ask({ exists: role }, as)).toBe(true);
});

test('memberships, other roles and keys of other databases do not prevent the deletion of a role', async () => {
  const { w, as } = await world();
  const membership = obj({ resource: coll('notes') });
  await w.ask({ create_role: obj({ name: 'member', membership }) }, as);
  await w.ask({ create_role: obj({ name: 'reader' }) });
  await w.ask({ create_key: obj({ role: 'reader' }) });
  for (const name of ['member', 'reader']) await w.ask({ delete: { role: name } }, as);
  expect(await w.ask({ exists: { role: 'reader' } })).toBe(true);
});

test('a new role with the name of a deleted one has none of its rights', async () => {
  const { w, as } = await world();
  const { ref, secret } = await w.document({ create_key: obj({ role }) }, as);
  const key = JSON.parse(JSON.stringify(ref)) as unknown;
  await w.ask({ create_role: obj({ name: 'none' }) }, as);
  await w.ask({ update: key, params: obj({ role: { role: 'none' } }) }, as);
  await w.ask({ delete: role }, as);
  await w.ask({ create_role: obj({ name: 'reader' }) }, as);
  const note = { ref: coll('notes'), id: '1' };
  expect(await w.fault({ get: note }, { secret })).toMatchObject({ code: 'permission denied' });
  await w.ask({ update: key, params: obj({ role }) }, as);
  expect(await w.fault({ get: note }, { secret })).toMatchObject({ code: 'permission denied' });
});
