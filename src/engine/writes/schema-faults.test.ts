import { expect, test } from 'vitest';
import { EngineWorld, coll, create, doc, obj } from '../testing/engine-world.ts';

const body = { query: { lambda: 'x', expr: 1 } };

async function world(): Promise<EngineWorld> {
  const w = new EngineWorld();
  await w.ask({ create_collection: obj({ name: 'jars' }) });
  await w.ask({ create_collection: obj({ name: 'pots' }) });
  await w.ask({ create_index: obj({ name: 'all', source: coll('jars'), partitions: 1 }) });
  await w.ask({ create_function: obj({ name: 'f', body }) });
  await w.ask({ create_function: obj({ name: 'g', body }) });
  await w.ask({ create_role: obj({ name: 'reader' }) });
  await w.ask({ create_database: obj({ name: 'app' }) });
  return w;
}

/** What each kind refuses both in `update` and in `replace`, reported at the form. */
test.each([
  [
    'collection',
    coll('jars'),
    { history_days: -1 },
    ['history_days'],
    'non-negative value required',
  ],
  ['collection', coll('jars'), { history_days: 'x' }, ['history_days'], 'invalid type'],
  ['collection', coll('jars'), { ttl_days: 1.5 }, ['ttl_days'], 'invalid type'],
  ['collection', coll('jars'), { name: 'a b' }, ['name'], 'invalid characters'],
  ['collection', coll('jars'), { name: null }, ['name'], 'value required'],
  ['collection', coll('jars'), { data: 1 }, ['data'], 'invalid type'],
  ['index', { index: 'all' }, { name: '_' }, ['name'], 'reserved name'],
  [
    'index',
    { index: 'all' },
    { source: coll('jars'), partitions: 9 },
    ['partitions'],
    'bounds error',
  ],
  [
    'index',
    { index: 'all' },
    { source: coll('jars'), serialized: 1 },
    ['serialized'],
    'invalid type',
  ],
  ['index', { index: 'all' }, { source: coll('jars'), unique: 'x' }, ['unique'], 'invalid type'],
  ['index', { index: 'all' }, { source: null }, ['source'], 'value required'],
  ['function', { function: 'f' }, { body: null }, ['body'], 'value required'],
  ['function', { function: 'f' }, { body: 1 }, ['body'], 'invalid type'],
  ['function', { function: 'f' }, { role: 'nobody' }, ['role'], 'validation failure'],
  ['function', { function: 'f' }, { role: coll('jars') }, ['role'], 'invalid type'],
  ['role', { role: 'reader' }, { name: 'self' }, ['name'], 'reserved name'],
  ['role', { role: 'reader' }, { privileges: 1 }, ['privileges'], 'invalid type'],
  [
    'role',
    { role: 'reader' },
    { privileges: obj({ actions: obj({ read: true }) }) },
    ['privileges', 'resource'],
    'value required',
  ],
  [
    'role',
    { role: 'reader' },
    { membership: [obj({ resource: { index: 'all' } })] },
    ['membership', '0', 'resource'],
    'invalid type',
  ],
  ['database', { database: 'app' }, { name: 5 }, ['name'], 'invalid type'],
  ['database', { database: 'app' }, { priority: 501 }, ['priority'], 'invalid type'],
  ['database', { database: 'app' }, { protected: 1 }, ['protected'], 'invalid type'],
])('update and replace of a %s %j refuse %j', async (_, target, params, field, code) => {
  const w = await world();
  for (const mode of ['update', 'replace']) {
    const fault = await w.fault({ [mode]: target, params: obj(params) });
    expect(fault).toMatchObject({ status: 400, code: 'validation failed', position: [] });
    expect(fault.failures).toContainEqual(expect.objectContaining({ field, code }));
  }
  expect(await w.engine.verify()).toEqual([]);
});

test('update and replace refuse a name that another object of the same kind has, but not one of another kind', async () => {
  const w = await world();
  const taken = { status: 400, code: 'instance already exists', position: [] };
  for (const mode of ['update', 'replace']) {
    const named = (target: unknown, name: string, more: Record<string, unknown> = {}) => ({
      [mode]: target,
      params: obj({ name, ...more }),
    });
    expect(await w.fault(named(coll('jars'), 'pots'))).toMatchObject(taken);
    expect(await w.fault(named({ function: 'f' }, 'g', { body }))).toMatchObject(taken);
    await w.ask(named({ role: 'reader' }, 'jars'));
    await w.ask(named({ role: 'jars' }, 'reader'));
    // An object may keep its own name.
    await w.ask(named(coll('jars'), 'jars'));
  }
});

test('replace keeps the required fields of a schema object, and drops the rest', async () => {
  const w = await world();
  const replaced = async (target: unknown, params: Record<string, unknown> = {}) =>
    Object.keys((await w.ask({ replace: target, params: obj(params) })) as object);
  await w.ask({ update: coll('jars'), params: obj({ ttl_days: 3, data: obj({ a: 1 }) }) });
  expect(await replaced(coll('jars'))).toEqual(['ref', 'ts', 'history_days', 'name']);
  await w.ask({ update: { function: 'f' }, params: obj({ role: 'server', data: obj({ a: 1 }) }) });
  expect(await replaced({ function: 'f' })).toEqual(['ref', 'ts', 'name', 'body']);
  await w.ask({ update: { role: 'reader' }, params: obj({ data: obj({ a: 1 }) }) });
  expect(await replaced({ role: 'reader' })).toEqual(['ref', 'ts', 'name']);
  expect(await replaced({ database: 'app' })).toEqual(['ref', 'ts', 'name', 'global_id']);
});

test('delete frees the name of a schema object at once, and cannot be repeated', async () => {
  const w = await world();
  for (const [target, creation] of [
    [coll('jars'), { create_collection: obj({ name: 'jars' }) }],
    [{ function: 'f' }, { create_function: obj({ name: 'f', body }) }],
    [{ role: 'reader' }, { create_role: obj({ name: 'reader' }) }],
    [{ database: 'app' }, { create_database: obj({ name: 'app' }) }],
  ]) {
    const { ref } = await w.document({ get: target });
    await w.ask({ delete: target });
    expect(await w.fault({ delete: target })).toMatchObject({
      code: 'invalid ref',
      position: ['delete'],
    });
    expect(await w.ask({ exists: target })).toBe(false);
    const made = await w.document(creation);
    expect(made.ref).toEqual(ref);
    expect(await w.ask({ exists: target })).toBe(true);
  }
  // Within one query, ids refer to the present schema, and names to the schema before the query.
  const twice = { do: [{ delete: coll('pots') }, { create_collection: obj({ name: 'pots' }) }] };
  expect(await w.ask(twice)).toMatchObject({ name: 'pots' });
  expect(await w.fault({ delete: { collections: null } })).toMatchObject({
    code: 'invalid argument',
    position: ['delete'],
  });
});

test('an error about a schema object deleted in the same query shows its name, not its id', async () => {
  const after = async (deleted: unknown, use: unknown) =>
    (await (await world()).fault({ do: [{ delete: deleted }, use] })).description;
  expect(await after(coll('jars'), { create: coll('jars') })).toBe(
    "Ref refers to undefined collection 'jars'",
  );
  const event = { ts: { time: '2026-01-01T00:00:00Z' }, action: 'create' };
  expect(await after(coll('jars'), { insert: doc('jars', 1), ...event, params: obj({}) })).toBe(
    "Ref refers to undefined collection 'jars'",
  );
  expect(await after(coll('jars'), { remove: doc('jars', 1), ...event })).toBe(
    "Ref refers to undefined collection 'jars'",
  );
  expect(await after({ index: 'all' }, { paginate: { match: { index: 'all' } } })).toBe(
    "Ref refers to undefined index 'all'",
  );
  expect(await after({ function: 'f' }, { call: { function: 'f' } })).toBe(
    "Ref refers to undefined function 'f'",
  );
});

test('an error about a stored ref to a deleted schema object shows no name', async () => {
  const w = await world();
  const kept = {
    collection: coll('jars'),
    document: doc('jars', 1),
    index: { index: 'all' },
    set: { match: { index: 'all' } },
    function: { function: 'f' },
  };
  await w.ask(create(doc('pots', 1), kept));
  await w.ask({
    do: [{ delete: { index: 'all' } }, { delete: coll('jars') }, { delete: { function: 'f' } }],
  });
  const stored = (name: keyof typeof kept) => ({
    select: ['data', name],
    from: { get: doc('pots', 1) },
  });
  const of = async (query: unknown) => (await w.fault(query)).description;
  const event = { ts: { time: '2026-01-01T00:00:00Z' }, action: 'create' };
  for (const use of [
    { create: stored('collection') },
    { create: stored('document') },
    { insert: stored('document'), ...event, params: obj({}) },
    { remove: stored('document'), ...event },
  ]) {
    expect(await of(use)).toBe('Ref refers to undefined collection');
  }
  expect(await of({ match: stored('index') })).toBe('Ref refers to undefined index');
  expect(await of({ paginate: stored('set') })).toBe('Ref refers to undefined index');
  expect(await of({ call: stored('function') })).toBe('Ref refers to undefined function');
});
