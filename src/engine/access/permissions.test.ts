import { expect, test } from 'vitest';
import { Ref } from '../../values/value.ts';
import type { IndexDefinition } from '../catalog/definitions.ts';
import { anyOf } from './permissions.ts';
import { EngineWorld, coll, create, doc, obj, type Query } from '../testing/engine-world.ts';

test('anyOf() checks each document, but only one of a collection whose documents are all readable', () => {
  const asked: string[] = [];
  const open = { readsAllBeside: ({ collection }: Ref) => collection === 1026 };
  const even = ({ id }: Ref) => id % 2n === 0n;
  const may = anyOf([
    { may: () => false },
    {
      ...open,
      may: (request) => {
        if (!('ref' in request)) return false;
        const { ref } = request;
        asked.push(`${request.action} ${ref.collection}/${ref.id}`);
        return open.readsAllBeside(ref) || even(ref);
      },
    },
  ]);
  const reads = (collection: number, id: bigint, database = 0) =>
    may.may({ action: 'read', ref: new Ref(database, collection, id) });
  expect([1n, 2n, 3n].map((id) => reads(1026, id))).toEqual([true, true, true]);
  expect(may.may({ action: 'read_entry', ref: new Ref(0, 1026, 4n), index: NO_INDEX })).toBe(true);
  expect(asked).toEqual(['read 1026/1']);
  expect([1n, 2n, 3n].map((id) => reads(1027, id))).toEqual([false, true, false]);
  expect(may.may({ action: 'delete', ref: new Ref(0, 1026, 1n) })).toBe(true);
  expect(reads(1026, 5n, 1)).toBe(true);
  expect(asked.slice(1)).toEqual([
    'read 1027/1',
    'read 1027/2',
    'read 1027/3',
    'delete 1026/1',
    'read 1026/5',
  ]);
});

const NO_INDEX = {} as IndexDefinition;

const DENIED = { code: 'permission denied', status: 403 };

async function world(): Promise<EngineWorld> {
  const w = new EngineWorld();
  await w.ask({ create_collection: obj({ name: 'users' }) });
  await w.ask({ create_collection: obj({ name: 'notes' }) });
  for (const id of [1, 2]) {
    await w.ask(create(doc('users', id), { n: id }, { credentials: obj({ password: 'p' }) }));
  }
  await w.ask(create(doc('notes', 1), { t: 'a' }));
  return w;
}

async function key(w: EngineWorld, role: string): Promise<{ readonly secret: string }> {
  return w.document({ create_key: obj({ role }) });
}

const login = (w: EngineWorld, id: number) =>
  w.document({ login: doc('users', id), params: obj({ password: 'p' }) });

const index = (name: string, source: Query, more: Record<string, unknown> = {}): Query => ({
  create_index: obj({ name, source, values: obj({ field: ['data', 't'] }), ...more }),
});

test('server keys can read and write everything but databases, keys, roles and access providers', async () => {
  const w = await world();
  const server = await key(w, 'server');
  await w.ask(create(coll('notes'), { t: 'b' }), server);
  await w.ask(index('by_t', coll('notes')), server);
  expect(await w.page({ paginate: { match: { index: 'by_t' } } }, server)).toEqual(['a', 'b']);
  expect(await w.page({ paginate: { tokens: null } }, server)).toEqual([]);
  for (const native of ['keys', 'databases', 'roles', 'access_providers']) {
    expect(await w.fault({ paginate: { [native]: null } }, server)).toMatchObject({
      ...DENIED,
      position: ['paginate'],
    });
  }
  expect(await w.fault({ create_role: obj({ name: 'r' }) }, server)).toMatchObject({
    ...DENIED,
    position: ['create_role'],
  });
  // A schema object may not contain a ref to something that its creator cannot read.
  expect(await w.fault(index('of_keys', { keys: null }), server)).toMatchObject({
    code: 'validation failed',
    position: [],
    failures: [{ field: ['source'], code: 'invalid reference' }],
  });
});

test('an index of keys made by an admin shows no entries to a server key', async () => {
  const w = await world();
  const server = await key(w, 'server');
  await w.ask({ create_index: obj({ name: 'k', source: { keys: null } }) });
  expect(await w.page({ paginate: { match: { index: 'k' } } })).toHaveLength(1);
  expect(await w.page({ paginate: { match: { index: 'k' } } }, server)).toEqual([]);
});

test('server-readonly keys can read but not write; client keys can do neither', async () => {
  const w = await world();
  const reader = await key(w, 'server-readonly');
  const client = await key(w, 'client');
  expect(await w.ask({ get: doc('notes', 1) }, reader)).toMatchObject({ data: { t: 'a' } });
  expect(await w.fault(create(coll('notes')), reader)).toMatchObject({ position: ['create'] });
  expect(await w.fault({ update: doc('notes', 1) }, reader)).toMatchObject({
    ...DENIED,
    position: [],
  });
  expect(await w.fault({ get: doc('notes', 1) }, client)).toMatchObject({
    ...DENIED,
    position: [],
  });
  expect(await w.fault({ get: doc('notes', 9) }, client)).toMatchObject(DENIED);
  expect(await w.ask({ exists: doc('notes', 1) }, client)).toBe(false);
  expect(await w.page({ paginate: { documents: coll('notes') } }, client)).toEqual([]);
  // To a caller who may not read a document, a denied write looks like a missing document.
  for (const caller of [client, reader])
    expect(await w.fault({ update: doc('notes', 9) }, caller)).toMatchObject({ status: 404 });
  expect(await w.fault({ delete: doc('notes', 1) }, client)).toMatchObject({ status: 404 });
  expect(await w.fault({ delete: doc('notes', 1) }, reader)).toMatchObject(DENIED);
});

test('a token can read the tokens and credentials of its identity, and delete these tokens', async () => {
  const w = await world();
  const [one, other] = [await login(w, 1), await login(w, 2)];
  const more = await login(w, 1);
  expect(await w.page({ paginate: { documents: { tokens: null } } }, one)).toHaveLength(2);
  expect(await w.ask({ exists: other.ref }, one)).toBe(false);
  expect(await w.fault({ get: doc('users', 2) }, one)).toMatchObject(DENIED);
  expect(await w.page({ paginate: { documents: { credentials: null } } }, one)).toHaveLength(1);
  expect(await w.fault({ delete: other.ref }, one)).toMatchObject({ status: 404 });
  await w.ask({ delete: more.ref }, one);
  expect(await w.fault({ update: one.ref }, one)).toMatchObject(DENIED);
});

test('permissions of a collection admit everybody, one document, or all documents of a collection', async () => {
  const w = await world();
  const client = await key(w, 'client');
  const one = await login(w, 1);
  const two = await login(w, 2);
  await w.ask({
    update: coll('notes'),
    params: obj({
      permissions: obj({ read: 'public', create: coll('users'), write: doc('users', 1), other: 1 }),
    }),
  });
  expect(await w.ask({ get: doc('notes', 1) }, client)).toMatchObject({ data: { t: 'a' } });
  expect(await w.page({ paginate: { documents: coll('notes') } }, client)).toHaveLength(1);
  expect(await w.fault(create(coll('notes')), client)).toMatchObject(DENIED);
  await w.ask(create(coll('notes')), two);
  expect(await w.fault({ update: doc('notes', 1) }, two)).toMatchObject(DENIED);
  await w.ask({ update: doc('notes', 1) }, one);
  await w.ask({ delete: doc('notes', 1) }, one);
  expect(
    await w.ask({ select: ['permissions', 'other'], from: { get: coll('notes') }, default: 0 }),
  ).toBe(0);
});

test('permissions of a document add to those of its collection', async () => {
  const w = await world();
  const client = await key(w, 'client');
  const one = await login(w, 1);
  const more = { permissions: obj({ read: 'public', write: doc('users', 1) }) };
  expect(await w.ask(create(doc('notes', 5), { t: 'x' }, more))).toMatchObject({
    permissions: { read: 'public' },
  });
  expect(await w.page({ paginate: { documents: coll('notes') } }, client)).toHaveLength(1);
  expect(await w.fault({ update: doc('notes', 5) }, client)).toMatchObject(DENIED);
  await w.ask({ update: doc('notes', 5), params: obj({ data: obj({ t: 'y' }) }) }, one);
  expect(await w.fault({ update: doc('notes', 1), params: obj({ permissions: 1 }) })).toMatchObject(
    {
      failures: [{ field: ['permissions'], code: 'invalid type' }],
    },
  );
});

test('a public index shows its entries, but not the documents behind them', async () => {
  const w = await world();
  const client = await key(w, 'client');
  await w.ask(index('open', coll('notes'), { permissions: obj({ read: 'public' }) }));
  await w.ask(index('shut', coll('notes')));
  expect(await w.page({ paginate: { match: { index: 'open' } } }, client)).toEqual(['a']);
  expect(await w.fault({ paginate: { match: { index: 'shut' } } }, client)).toMatchObject({
    ...DENIED,
    position: ['paginate'],
  });
  expect(await w.fault({ get: { match: { index: 'open' } } }, client)).toMatchObject(DENIED);
});

test('once a role names a collection, only roles give access to it, also through a public index', async () => {
  const w = await world();
  const client = await key(w, 'client');
  await w.ask(index('open', coll('notes'), { permissions: obj({ read: 'public' }) }));
  await w.ask({ update: coll('notes'), params: obj({ permissions: obj({ read: 'public' }) }) });
  const privileges = obj({ resource: coll('notes'), actions: obj({ read: true }) });
  await w.ask({ create_role: obj({ name: 'r', privileges }) });
  expect(await w.fault({ get: doc('notes', 1) }, client)).toMatchObject(DENIED);
  expect(await w.page({ paginate: { match: { index: 'open' } } }, client)).toEqual([]);
});

test('a function can be public, and runs with its own role', async () => {
  const w = await world();
  const client = await key(w, 'client');
  const body = { query: { lambda: 'x', expr: { get: doc('notes', 1) } } };
  await w.ask({ create_function: obj({ name: 'shut', body }) });
  const permissions = obj({ call: 'public' });
  await w.ask({ create_function: obj({ name: 'weak', body, permissions }) });
  await w.ask({ create_function: obj({ name: 'strong', body, permissions, role: 'server' }) });
  expect(await w.fault({ call: 'shut' }, client)).toMatchObject({ ...DENIED, position: [] });
  expect(await w.fault({ call: 'weak' }, client)).toMatchObject({ code: 'call error' });
  expect(await w.ask({ call: 'strong' }, client)).toMatchObject({ data: { t: 'a' } });
  expect(await w.fault([{ call: 'strong' }, { get: doc('notes', 1) }], client)).toMatchObject(
    DENIED,
  );
});

test('an admin can read child databases; an admin of a child database cannot see its parent', async () => {
  const w = await world();
  await w.ask({ create_database: obj({ name: 'inner' }) });
  const inner = { secret: 'root-secret:inner:admin' };
  await w.ask({ create_collection: obj({ name: 'deep' }) }, inner);
  await w.ask(create(doc('deep', 1), { x: 1 }), inner);
  const scoped = { ref: { collection: 'deep', scope: { database: 'inner' } }, id: '1' };
  expect(await w.ask({ get: scoped })).toMatchObject({
    data: { x: 1 },
    ref: { '@ref': { collection: { '@ref': { database: { '@ref': { id: 'inner' } } } } } },
  });
  expect(await w.ask({ exists: { database: 'inner' } }, inner)).toBe(false);
});
