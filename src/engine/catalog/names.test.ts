import { expect, test } from 'vitest';
import type { ApiVersion } from '../../query/session.ts';
import { EngineWorld, coll, create, doc, obj } from '../testing/engine-world.ts';

async function refsAt(apiVersion: ApiVersion): Promise<unknown> {
  const w = new EngineWorld();
  await w.ask({ create_collection: obj({ name: 'jars' }) });
  await w.ask({ create_database: obj({ name: 'inner' }) });
  return w.ask(
    [
      doc('jars', 5),
      coll('jars'),
      { collections: null },
      { index: 'none' },
      { keys: { database: 'inner' } },
      { ref: { tokens: null }, id: '7' },
      doc('none', 9),
    ],
    { apiVersion },
  );
}

test('refs are rendered in the format of the request’s API version', async () => {
  const jars = { '@ref': { id: 'jars', collection: { '@ref': { id: 'collections' } } } };
  const inner = { '@ref': { id: 'inner', collection: { '@ref': { id: 'databases' } } } };
  expect(await refsAt('4')).toEqual([
    { '@ref': { id: '5', collection: jars } },
    jars,
    { '@ref': { id: 'collections' } },
    { '@ref': { id: 'none', collection: { '@ref': { id: 'indexes' } } } },
    { '@ref': { id: 'keys', database: inner } },
    { '@ref': { id: '7', collection: { '@ref': { id: 'tokens' } } } },
    { '@ref': { id: '9', collection: { '@ref': { ...jars['@ref'], id: 'none' } } } },
  ]);
  const old = { '@ref': { id: 'jars', class: { '@ref': { id: 'classes' } } } };
  expect(await refsAt('2.1')).toEqual([
    { '@ref': { id: '5', class: old } },
    old,
    { '@ref': { id: 'classes' } },
    { '@ref': { id: 'none', class: { '@ref': { id: 'indexes' } } } },
    {
      '@ref': {
        id: 'keys',
        database: { '@ref': { id: 'inner', class: { '@ref': { id: 'databases' } } } },
      },
    },
    { '@ref': { id: '7', class: { '@ref': { id: 'tokens' } } } },
    { '@ref': { id: '9', class: { '@ref': { ...old['@ref'], id: 'none' } } } },
  ]);
  expect(await refsAt('2.0')).toMatchObject([
    { '@ref': 'classes/jars/5' },
    { '@ref': 'classes/jars' },
    { '@ref': 'classes' },
    { '@ref': 'indexes/none' },
    {},
    { '@ref': 'tokens/7' },
    { '@ref': 'classes/none/9' },
  ]);
});

test('a stored ref whose collection was deleted is left out of the document', async () => {
  const w = new EngineWorld();
  for (const name of ['jars', 'pots']) await w.ask({ create_collection: obj({ name }) });
  await w.ask(create(doc('pots', 1), { gone: doc('jars', 1), list: [coll('jars'), 1], kept: 1 }));
  await w.ask({ delete: coll('jars') });
  expect((await w.document({ get: doc('pots', 1) })).data).toEqual({ list: [1], kept: 1 });
  expect(await w.ask({ select: ['data', 'gone'], from: { get: doc('pots', 1) } })).toBe(null);
});

test('lambdas hold null in place of refs and sets of a deleted collection', async () => {
  const w = new EngineWorld();
  for (const name of ['jars', 'kept']) await w.ask({ create_collection: obj({ name }) });
  await w.ask({ create_index: obj({ name: 'all', source: coll('jars') }) });
  await w.ask({ create_index: obj({ name: 'kept_all', source: coll('kept') }) });
  const documents = { documents: coll('jars') };
  const held = {
    ref: doc('jars', 1),
    documents,
    match: { match: { index: 'all' } },
    term: { match: { index: 'kept_all' }, terms: [doc('jars', 1)] },
    union: { union: [documents, { documents: coll('kept') }] },
    kept: { documents: coll('kept') },
  };
  await w.ask(create(doc('kept', 1), held));
  await w.ask({ delete: coll('jars') });
  const names = Object.keys(held);
  const lambdas = names.map((name) => ({
    let: [{ held: { select: ['data', name], from: { get: doc('kept', 1) } } }],
    in: { query: { lambda: '_', expr: { var: 'held' } } },
  }));
  for (const [n, body] of lambdas.entries()) {
    await w.ask(create(doc('kept', 10 + n), { body }));
    await w.ask({ create_function: obj({ name: names[n], body }) });
  }
  const answers = await w.ask(names.map((name) => ({ call: name })));
  expect(answers).toEqual([null, null, null, null, null, expect.anything()]);
  for (const n of names.keys()) await w.ask({ get: doc('kept', 10 + n) });
  expect(await w.engine.verify()).toEqual([]);
});

test('a ref in a nested database names every database below the one that is queried', async () => {
  const w = new EngineWorld();
  await w.ask({ create_database: obj({ name: 'a' }) });
  await w.ask({ create_database: obj({ name: 'b' }) }, { secret: 'root-secret:a:admin' });
  await w.ask({ create_collection: obj({ name: 'c' }) }, { secret: 'root-secret:a/b:admin' });
  const scope = { database: 'b', scope: { database: 'a' } };
  const a = { '@ref': { id: 'a', collection: { '@ref': { id: 'databases' } } } };
  const b = { '@ref': { id: 'b', collection: { '@ref': { id: 'databases' } }, database: a } };
  expect(await w.ask({ collection: 'c', scope })).toEqual({
    '@ref': { id: 'c', collection: { '@ref': { id: 'collections' } }, database: b },
  });
});

test('before version 2.7, the source of an index shows `class` instead of `collection`', async () => {
  const w = new EngineWorld();
  await w.ask({ create_collection: obj({ name: 'jars' }) });
  const source = obj({ class: coll('jars') });
  expect(await w.ask({ create_index: obj({ name: 'i', source }) })).toMatchObject({
    source: { collection: { '@ref': { id: 'jars' } } },
  });
  const get = { select: 'source', from: { get: { index: 'i' } } };
  expect(await w.ask(get, { apiVersion: '2.1' })).toMatchObject({
    class: { '@ref': { id: 'jars' } },
  });
});

test('a name as text stands for the object as the query has changed it, as a ref does', async () => {
  const w = new EngineWorld();
  await w.ask({ create_collection: obj({ name: 'jars' }) });
  await w.ask(create(doc('jars', 1)));
  const body = (expr: unknown) => ({ query: { lambda: 'x', expr } });
  await w.ask({ create_function: obj({ name: 'size', body: body(1) }) });
  const change = (params: Record<string, unknown>) => ({
    update: { function: 'size' },
    params: obj(params),
  });
  const call = { call: 'size' };
  expect(await w.ask({ do: [change({ body: body(2) }), call] })).toBe(2);
  const counting = body({ count: { documents: coll('jars') } });
  const asClient = change({ body: counting, role: 'client' });
  expect(await w.ask({ do: [asClient, call] })).toBe(0);
  expect(await w.ask({ do: [change({ name: 'volume' }), call] })).toBe(0);
  const undefinedName = (name: string) => ({
    code: 'invalid ref',
    description: `Ref refers to undefined ${name}`,
  });
  expect(
    await w.fault({ do: [{ delete: { function: 'volume' } }, { call: 'volume' }] }),
  ).toMatchObject({
    ...undefinedName("function 'volume'"),
    position: ['do', 1, 'call'],
  });
  expect(await w.fault({ do: [{ delete: coll('jars') }, create('jars')] })).toMatchObject({
    ...undefinedName("collection 'jars'"),
    position: ['do', 1, 'create'],
  });
});
