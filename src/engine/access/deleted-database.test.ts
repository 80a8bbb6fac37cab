/** Secrets of a deleted database are no longer valid, not even for another database with the same name. Spec: auth 1.2, 2.3. */
import { expect, test } from 'vitest';
import { EngineWorld, coll, obj, type Query } from '../testing/engine-world.ts';

/** A database `app` that contains a database `part`, and secrets of all kinds for both. */
async function openedDatabases(w: EngineWorld): Promise<Record<string, string>> {
  const secretOf = async (query: Query, secret?: string): Promise<string> =>
    (await w.document(query, secret === undefined ? {} : { secret })).secret;
  const key = (more: Record<string, Query> = {}) => ({
    create_key: obj({ role: 'admin', ...more }),
  });
  await w.ask({ create_database: obj({ name: 'app' }) });
  const fromAbove = await secretOf(key({ database: { database: 'app' } }));
  const asAdmin = { secret: fromAbove };
  await w.ask({ create_database: obj({ name: 'part' }) }, asAdmin);
  await w.ask({ create_collection: obj({ name: 'users' }) }, asAdmin);
  const user = {
    create: coll('users'),
    params: obj({ credentials: obj({ password: 'correct horse' }) }),
  };
  const { ref } = await w.document(user, asAdmin);
  const login = { login: ref, params: obj({ password: 'correct horse' }) };
  return {
    fromAbove,
    own: await secretOf(key(), fromAbove),
    scoped: `${fromAbove}:part:server`,
    ofPart: await secretOf(key({ database: { database: 'part' } }), fromAbove),
    token: await secretOf(login, fromAbove),
  };
}

const statuses = async (w: EngineWorld, secrets: Record<string, string>): Promise<number[]> => {
  const all: number[] = [];
  for (const secret of Object.values(secrets)) all.push((await w.answer(1, { secret })).status);
  return all;
};

test('keys and tokens of a deleted database open neither it nor a new database of the same name', async () => {
  const w = new EngineWorld();
  const secrets = await openedDatabases(w);
  expect(await statuses(w, secrets)).toEqual([200, 200, 200, 200, 200]);
  await w.ask({ delete: { database: 'app' } });
  expect(await statuses(w, secrets)).toEqual([401, 401, 401, 401, 401]);
  const others = await openedDatabases(w);
  expect(await statuses(w, secrets)).toEqual([401, 401, 401, 401, 401]);
  await w.engine.collectExpiredData();
  expect(await statuses(w, secrets)).toEqual([401, 401, 401, 401, 401]);
  expect(await statuses(w, others)).toEqual([200, 200, 200, 200, 200]);
});

test('a key of a deleted database shows no database, and an update does not bind it to another', async () => {
  const w = new EngineWorld();
  const secrets = await openedDatabases(w);
  await w.ask({ delete: { database: 'app' } });
  await w.ask({ create_database: obj({ name: 'app' }) });
  const [ref] = await w.page({ paginate: { keys: null } });
  expect(await w.document({ get: ref })).not.toHaveProperty('database');
  await w.ask({ update: ref, params: obj({ data: obj({ n: 1 }) }) });
  expect(await statuses(w, secrets)).toEqual([401, 401, 401, 401, 401]);
});
