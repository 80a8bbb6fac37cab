import { expect, test } from 'vitest';
import { EngineWorld, coll, create, obj } from '../testing/engine-world.ts';

const db = (name: string, scope?: unknown) => ({ database: name, ...(scope ? { scope } : {}) });
const at = (path: string) => ({ secret: `root-secret:${path}:admin` });
const move = (from: unknown, to: unknown) => ({ move_database: from, to });

async function world(): Promise<EngineWorld> {
  const w = new EngineWorld();
  for (const name of ['a', 'b']) await w.ask({ create_database: obj({ name }) });
  await w.ask({ create_database: obj({ name: 'inner' }) }, at('a'));
  await w.ask({ create_collection: obj({ name: 'notes' }) }, at('a/inner'));
  await w.ask(create(coll('notes'), { n: 1 }), at('a/inner'));
  return w;
}

test('move_database() refuses a move into itself or a descendant, or to a name that is already in use', async () => {
  const w = await world();
  await w.ask({ create_database: obj({ name: 'a' }) }, at('b'));
  for (const [from, to] of [
    [db('a'), db('a')],
    [db('a'), db('inner', db('a'))],
    [db('a'), db('b')],
  ]) {
    expect(await w.fault(move(from, to))).toMatchObject({
      status: 400,
      code: 'move database error',
      position: [],
    });
  }
  expect(await w.ask({ count: { documents: coll('notes') } }, at('a/inner'))).toBe(1);
});

test('move_database() requires two existing databases and the right to delete', async () => {
  const w = await world();
  expect(await w.fault(move(db('nope'), db('b')))).toMatchObject({
    code: 'invalid ref',
    position: ['move_database'],
  });
  expect(await w.fault(move(db('a'), db('nope')))).toMatchObject({
    code: 'invalid ref',
    position: ['to'],
  });
  expect(await w.fault(move(coll('notes'), db('a')))).toMatchObject({
    position: ['move_database'],
  });
  expect(await w.fault(move(1, db('a')))).toMatchObject({
    code: 'invalid argument',
    position: ['move_database'],
  });
  const { secret } = await w.document({ create_key: obj({ role: 'server' }) });
  expect(await w.fault(move(db('a'), db('b')), { secret })).toMatchObject({
    status: 403,
    code: 'permission denied',
    position: [],
  });
});

test('a role that can delete databases can move only direct children of its own database', async () => {
  const w = await world();
  await w.ask({
    create_role: obj({
      name: 'keeper',
      privileges: obj({ resource: { databases: null }, actions: obj({ delete: true }) }),
    }),
  });
  const { secret } = await w.document({ create_key: obj({ role: { role: 'keeper' } }) });
  const inner = db('inner', db('a'));
  for (const [from, to] of [
    [inner, db('b')],
    [db('b'), inner],
  ])
    expect(await w.fault(move(from, to), { secret })).toMatchObject({
      status: 403,
      code: 'permission denied',
    });
  expect((await w.answer(move(db('b'), db('a')), { secret })).status).toBe(200);
  expect((await w.answer(move(inner, db('b', db('a'))))).status).toBe(200);
});

test('a moved database keeps its data, keys and children, and its old name can be used again', async () => {
  const w = await world();
  const key = await w.document({ create_key: obj({ role: 'admin' }) }, at('a/inner'));
  await w.ask(move(db('a'), db('b')));
  const inner = await w.answer({ count: { documents: coll('notes') } }, key);
  expect([inner.body, inner.database]).toEqual(['{"resource":1}', ['b', 'a', 'inner']]);
  await w.ask({ create_database: obj({ name: 'a' }) });
  expect(await w.ask({ exists: db('inner') }, at('a'))).toBe(false);
  // The collector of expired data does not take its rows for those of a deleted database.
  await w.engine.collectExpiredData();
  expect(await w.ask({ count: { documents: coll('notes') } }, key)).toBe(1);
  await w.ask(move(db('inner', db('a', db('b'))), db('a')));
  expect((await w.answer(1, key)).database).toEqual(['a', 'inner']);
  expect(await w.engine.verify()).toEqual([]);
});
