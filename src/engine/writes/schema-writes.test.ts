import { expect, test } from 'vitest';
import { EngineWorld, coll, create, doc, obj, type Query } from '../testing/engine-world.ts';

const failuresOf = async (w: EngineWorld, query: Query) =>
  (await w.fault(query)).failures?.map(({ field, code }) => [field.join('.'), code]);

const index = (fields: Record<string, unknown>): Query => ({ create_index: obj(fields) });
const field = (...path: unknown[]): Query => obj({ field: path });
const lambda = (pattern: unknown, expr: unknown): Query => ({ query: { lambda: pattern, expr } });

async function world(): Promise<EngineWorld> {
  const made = new EngineWorld();
  await made.ask({ create_collection: obj({ name: 'jars' }) });
  await made.ask({ create_collection: obj({ name: 'pots' }) });
  return made;
}

test('create_collection returns the fields in order; replace keeps only given fields', async () => {
  const w = new EngineWorld();
  const made = await w.document({
    create_collection: obj({ name: 'a', data: obj({ x: 1 }), ttl_days: 3, nonsense: 1 }),
  });
  expect(Object.keys(made)).toEqual(['ref', 'ts', 'history_days', 'name', 'ttl_days', 'data']);
  expect(made).toMatchObject({ history_days: 30, ttl_days: 3 });
  const kept = await w.document({ replace: coll('a'), params: obj({ history_days: null }) });
  expect(Object.keys(kept)).toEqual(['ref', 'ts', 'name']);
});

test('names of collections are validated, and a name is taken at once within a query', async () => {
  const w = await world();
  const named = (name: unknown) => ({ create_collection: obj({ name }) });
  expect(await failuresOf(w, named('a b'))).toEqual([['name', 'invalid characters']]);
  expect(await failuresOf(w, named(''))).toEqual([['name', 'invalid characters']]);
  expect(await failuresOf(w, named('_'))).toEqual([['name', 'reserved name']]);
  expect(await failuresOf(w, named(5))).toEqual([['name', 'invalid type']]);
  expect(await failuresOf(w, { create_collection: obj({}) })).toEqual([['name', 'value required']]);
  expect(await w.document(named('Größe_β;@+$-.!~%'))).toMatchObject({ name: 'Größe_β;@+$-.!~%' });
  expect(await w.fault({ do: [named('twice'), named('twice')] })).toMatchObject({
    code: 'instance already exists',
    description: 'Collection already exists.',
    position: ['do', 1, 'create_collection'],
  });
});

test('a renamed collection is found only by its new name, and refs to it show that name', async () => {
  const w = await world();
  await w.ask(create(doc('pots', 1), { of: coll('jars') }));
  await w.ask({ update: coll('jars'), params: obj({ name: 'cans' }) });
  expect(await w.ask({ exists: coll('jars') })).toBe(false);
  expect(await w.ask({ select: ['data', 'of'], from: { get: doc('pots', 1) } })).toMatchObject({
    '@ref': { id: 'cans' },
  });
  expect(await w.fault({ update: coll('pots'), params: obj({ name: 'cans' }) })).toMatchObject({
    code: 'instance already exists',
    position: [],
  });
});

test('deleting a collection deletes its own indexes, and a new collection of its name is empty', async () => {
  const w = await world();
  await w.ask(index({ name: 'own', source: coll('jars') }));
  await w.ask(index({ name: 'shared', source: [coll('jars'), coll('pots')], active: true }));
  await w.ask(create(doc('jars', 1), { a: 1 }));
  await w.ask(create(doc('pots', 1), { of: doc('jars', 1) }));
  await w.ask({ delete: coll('jars') });
  expect(await w.ask({ exists: { index: 'own' } })).toBe(false);
  expect(await w.page({ paginate: { match: { index: 'shared' } } })).toHaveLength(1);
  expect(await w.ask({ get: doc('pots', 1) })).toMatchObject({ data: {} });
  await w.ask({ create_collection: obj({ name: 'jars' }) });
  expect(await w.page({ paginate: { documents: coll('jars') } })).toEqual([]);
  expect(await w.ask({ exists: doc('jars', 1) })).toBe(false);
});

test('delete returns the deleted object with its ref', async () => {
  const w = await world();
  await w.ask(index({ name: 'i', source: [coll('jars'), coll('pots')] }));
  await w.ask({ create_function: obj({ name: 'f', body: lambda('x', 1) }) });
  await w.ask({ create_role: obj({ name: 'r' }) });
  await w.ask({ create_database: obj({ name: 'below' }) });
  await w.ask(create(doc('jars', 1), { a: 1 }));
  const named = { index: 'i', function: 'f', role: 'r', database: 'below', collection: 'jars' };
  for (const [kind, name] of Object.entries(named)) {
    const ref = await w.ask({ [kind]: name });
    expect(await w.ask({ delete: { [kind]: name } })).toMatchObject({ ref, name });
    expect(await w.ask({ exists: { [kind]: name } })).toBe(false);
  }
  const deletions = [{ get: doc('pots', 1) }, { delete: coll('pots') }];
  await w.ask(create(doc('pots', 1), { a: 1 }));
  expect(await w.ask(deletions)).toMatchObject([
    { ref: { '@ref': { id: '1', collection: { '@ref': { id: 'pots' } } } } },
    { ref: { '@ref': { id: 'pots' } } },
  ]);
});

test('a schema object that names a deleted one can be updated, but cannot name it again', async () => {
  const w = await world();
  const privileges = (names: readonly string[]) =>
    names.map((name) => obj({ resource: coll(name), actions: obj({ read: true }) }));
  await w.ask({ create_database: obj({ name: 'below' }) });
  const key = await w.document({
    create_key: obj({ role: 'server', database: { database: 'below' } }),
  });
  await w.ask(index({ name: 'i', source: [coll('jars'), coll('pots')] }));
  const membership = [obj({ resource: coll('jars') })];
  await w.ask({
    create_role: obj({ name: 'r', privileges: privileges(['jars', 'pots']), membership }),
  });
  await w.ask({ delete: coll('jars') });
  await w.ask({ delete: { database: 'below' } });
  const change = (target: unknown, params: Record<string, unknown>) =>
    w.ask({ update: target, params: obj(params) });
  expect(await change({ index: 'i' }, { name: 'j' })).toMatchObject({ name: 'j' });
  expect(await change({ role: 'r' }, { name: 's' })).toMatchObject({ name: 's' });
  const ref = { ref: { keys: null }, id: key.ref['@ref'].id };
  expect(await change(ref, { data: obj({ a: 1 }) })).toMatchObject({ data: { a: 1 } });
  const anew = [...privileges(['pots']), obj({ actions: obj({ write: true }) })];
  const update = { update: { role: 's' }, params: obj({ privileges: anew }) };
  expect(await failuresOf(w, update)).toEqual([['privileges.1.resource', 'value required']]);
  const fewer = { update: { role: 's' }, params: obj({ privileges: privileges(['pots']) }) };
  expect(await w.ask(fewer)).toMatchObject({ name: 's' });
});

test('within a query, names refer to the schema before it, and ids to the present schema', async () => {
  const w = new EngineWorld();
  expect(
    await w.ask({
      let: [{ c: { create_collection: obj({ name: 'new' }) } }],
      in: [
        { exists: coll('new') },
        { select: ['data', 'a'], from: create({ select: 'ref', from: { var: 'c' } }, { a: 1 }) },
      ],
    }),
  ).toEqual([false, 1]);
});

test('create_index returns the fields in order and an inactive index, which the next query can use', async () => {
  const w = await world();
  await w.ask(create(doc('jars', 1), { a: 5 }));
  const made = await w.document(
    index({
      name: 'a',
      source: coll('jars'),
      terms: field('data', 'a'),
      permissions: obj({ read: 'public' }),
    }),
  );
  expect(Object.keys(made)).toEqual([
    'ref',
    'ts',
    'active',
    'serialized',
    'name',
    'source',
    'partitions',
    'terms',
    'permissions',
  ]);
  expect(made).toMatchObject({ active: false, serialized: true, partitions: 1 });
  expect(made).toMatchObject({ terms: { field: ['data', 'a'] }, permissions: { read: 'public' } });
  expect(await w.ask({ select: 'active', from: { get: { index: 'a' } } })).toBe(true);
  expect(await w.page({ paginate: { match: { index: 'a' }, terms: 5 } })).toHaveLength(1);
});

test('an index whose documents all have the same terms gets 8 partitions', async () => {
  const w = await world();
  const partitions = async (name: string, terms: unknown) => {
    const params = { name, source: coll('jars'), terms };
    return w.ask({ select: 'partitions', from: index(params) });
  };
  expect(await partitions('none', null)).toBe(8);
  expect(await partitions('empty', [])).toBe(8);
  expect(await partitions('class', obj({ field: 'class' }))).toBe(8);
  expect(await partitions('classes', [obj({ field: ['class'] })])).toBe(8);
  expect(await partitions('kind', [obj({ field: ['data', 'class'] })])).toBe(1);
  expect(await partitions('both', [obj({ field: ['class'] }), field('data', 'a')])).toBe(1);
});

test('invalid sources of an index are refused', async () => {
  const w = await world();
  const source = (given: unknown) => failuresOf(w, index({ name: 'i', source: given }));
  expect(await failuresOf(w, index({ name: 'i' }))).toEqual([['source', 'value required']]);
  expect(await source('jars')).toEqual([['source', 'invalid type']]);
  expect(await source({ databases: null })).toEqual([['source', 'invalid reference']]);
  expect(await source(obj({ fields: obj({}) }))).toEqual([['class', 'value required']]);
  expect(await source(obj({ collection: ['_'] }))).toEqual([['class', 'invalid type']]);
  expect(await source([coll('jars'), coll('jars')])).toEqual([['source', 'multiple bindings']]);
  expect(await source([coll('jars'), '_'])).toEqual([['source', 'mixed wildcards']]);
  expect(await source(['_', '_'])).toContainEqual(['source', 'multiple wildcards']);
});

test('an index binding must be pure, take one argument, and be used', async () => {
  const w = await world();
  const bound = (body: unknown, terms: unknown = obj({ binding: 'b' })) =>
    failuresOf(
      w,
      index({
        name: 'i',
        source: obj({ collection: coll('jars'), fields: obj({ b: body }) }),
        terms,
      }),
    );
  expect(await bound(lambda('d', { get: { var: 'd' } }))).toEqual([
    ['source.0.fields.0.b', 'invalid binding'],
  ]);
  expect(await bound(lambda(['a', 'b'], 1))).toEqual([['source.0.fields.0.b', 'invalid binding']]);
  expect(await bound(1)).toEqual([['source.0.fields.0.b', 'invalid type']]);
  expect(await bound(lambda('d', 1), field('data', 'a'))).toEqual([
    ['source.0.fields.0.b', 'unused binding'],
  ]);
});

test('invalid terms and values of an index are refused', async () => {
  const w = await world();
  const term = (given: unknown) =>
    failuresOf(w, index({ name: 'i', source: coll('jars'), terms: [given] }));
  expect(await term(obj({}))).toEqual([['terms.0', 'value required']]);
  expect(await term('a')).toEqual([['terms.0', 'invalid type']]);
  expect(await term(obj({ field: [true] }))).toEqual([['terms.0.field', 'invalid type']]);
  expect(await term(obj({ field: ['a'], transform: 'upper' }))).toEqual([
    ['terms.0.transform', 'invalid value'],
  ]);
  expect(await term(obj({ field: ['a'], reverse: 1 }))).toEqual([
    ['terms.0.reverse', 'invalid type'],
  ]);
  expect(await failuresOf(w, index({ name: 'i', source: coll('jars'), partitions: 0 }))).toEqual([
    ['partitions', 'bounds error'],
  ]);
});

test('source, values and partitions of an index cannot be changed; other fields can', async () => {
  const w = await world();
  const source = obj({ class: coll('jars') });
  await w.ask(index({ name: 'i', source, values: field('data', 'a'), partitions: 1 }));
  const update = (fields: Record<string, unknown>) => ({
    update: { index: 'i' },
    params: obj(fields),
  });
  expect(await failuresOf(w, update({ values: [field('data', 'b')] }))).toEqual([
    ['values', 'invalid index'],
  ]);
  expect(await failuresOf(w, update({ source: coll('pots') }))).toEqual([
    ['source', 'invalid index'],
  ]);
  expect(await failuresOf(w, update({ partitions: 2 }))).toEqual([['partitions', 'invalid index']]);
  expect(
    await w.ask(
      update({ values: field('data', 'a'), unique: true, active: false, serialized: false }),
    ),
  ).toMatchObject({ unique: true, active: true, serialized: false });
});

test('a change of the source, terms, values or partitions of an index is refused with the text that programs look for', async () => {
  const w = await world();
  await w.ask(index({ name: 'i', source: coll('jars'), partitions: 1 }));
  const before = await w.ask({ get: { index: 'i' } });
  const description = 'Index sources, terms, values, and partition count may not be updated.';
  for (const [name, value] of Object.entries({
    source: coll('pots'),
    terms: field('data', 'a'),
    values: field('data', 'a'),
    partitions: 2,
  })) {
    const fault = await w.fault({ update: { index: 'i' }, params: obj({ [name]: value }) });
    expect(fault).toMatchObject({ code: 'validation failed', status: 400 });
    expect(fault.failures).toEqual([{ field: [name], code: 'invalid index', description }]);
  }
  expect(await w.ask({ get: { index: 'i' } })).toEqual(before);
});

test('an index of several partitions cannot become unique', async () => {
  const w = await world();
  expect(await w.ask(index({ name: 'i', source: coll('jars') }))).toMatchObject({ partitions: 8 });
  const update = { update: { index: 'i' }, params: obj({ unique: true }) };
  expect(await failuresOf(w, update)).toEqual([['partitions', 'invalid index']]);
});

test('an index that is deleted and created again has the current entries', async () => {
  const w = await world();
  const made = index({ name: 'i', source: coll('jars'), values: field('data', 'a') });
  await w.ask(made);
  for (const id of [1, 2, 3]) await w.ask(create(doc('jars', id), { a: id }));
  await w.ask({ delete: { index: 'i' } });
  expect(await w.fault({ paginate: { match: 'i' } })).toMatchObject({ code: 'invalid ref' });
  await w.ask({ update: doc('jars', 1), params: obj({ data: obj({ a: 7 }) }) });
  await w.ask({ delete: doc('jars', 2) });
  await w.ask(create(doc('jars', 4), { a: 4 }));
  await w.ask(made);
  expect(await w.page({ paginate: { match: { index: 'i' } } })).toEqual([3, 4, 7]);
});

test('invalid roles are refused, and unknown actions are dropped', async () => {
  const w = await world();
  const role = (fields: Record<string, unknown>) =>
    failuresOf(w, { create_role: obj({ name: 'r', ...fields }) });
  const privilege = (actions: Record<string, unknown>) =>
    obj({ resource: coll('jars'), actions: obj(actions) });
  expect(await failuresOf(w, { create_role: obj({ name: 'self' }) })).toEqual([
    ['name', 'reserved name'],
  ]);
  expect(await role({ privileges: [obj({})] })).toEqual([
    ['privileges.0.resource', 'value required'],
  ]);
  expect(await role({ privileges: privilege({ write: lambda('x', true) }) })).toEqual([
    ['privileges.actions.write', 'invalid arity'],
  ]);
  expect(await role({ privileges: privilege({ read: 1 }) })).toEqual([
    ['privileges.actions.read', 'invalid type'],
  ]);
  expect(await role({ membership: obj({ resource: { index: 'x' } }) })).toHaveLength(1);
  const made = await w.ask({
    create_role: obj({
      name: 'r',
      privileges: [privilege({ write: lambda(['a', 'b', 'c'], true), dance: true })],
      membership: obj({ resource: coll('jars'), other: 1 }),
    }),
  });
  expect(made).toMatchObject({
    privileges: [{ resource: {}, actions: { write: { '@query': {} } } }],
    membership: { resource: {} },
  });
  expect(JSON.stringify(made)).not.toContain('dance');
});

test('a function needs a body, and its role must exist', async () => {
  const w = await world();
  const made = (fields: Record<string, unknown>) => ({
    create_function: obj({ name: 'f', ...fields }),
  });
  expect(await failuresOf(w, made({}))).toEqual([['body', 'value required']]);
  expect(await failuresOf(w, made({ body: 1 }))).toEqual([['body', 'invalid type']]);
  expect(await failuresOf(w, made({ body: lambda('x', 1), role: 'boss' }))).toEqual([
    ['role', 'validation failure'],
  ]);
  await w.ask(made({ body: lambda('x', { var: 'x' }), role: 'server' }));
  expect(await w.ask({ call: { function: 'f' }, arguments: 3 })).toBe(3);
  expect(await w.fault({ call: 'g' })).toMatchObject({ code: 'invalid ref', position: ['call'] });
});

test('databases have a global id, and a container can contain only databases', async () => {
  const w = await world();
  const made = await w.document({ create_database: obj({ name: 'inner', container: true }) });
  expect(Object.keys(made)).toEqual(['ref', 'ts', 'name', 'global_id', 'container']);
  const inner = { secret: 'root-secret:inner:admin' };
  expect(await w.fault({ create_collection: obj({ name: 'c' }) }, inner)).toMatchObject({
    code: 'invalid object in container',
    position: ['create_collection'],
  });
  await w.ask({ create_database: obj({ name: 'deep' }) }, inner);
  const deep = { secret: 'root-secret:inner/deep:admin' };
  await w.ask({ create_collection: obj({ name: 'c' }) }, deep);
  expect(await failuresOf(w, { create_database: obj({ name: 'x', priority: 501 }) })).toEqual([
    ['priority', 'invalid type'],
  ]);
});

test('a database that contains data cannot become a container', async () => {
  const w = new EngineWorld();
  await w.ask({ create_database: obj({ name: 'inner' }) });
  await w.ask({ create_collection: obj({ name: 'c' }) }, { secret: 'root-secret:inner:admin' });
  expect(
    await failuresOf(w, { update: { database: 'inner' }, params: obj({ container: true }) }),
  ).toEqual([['container', 'container candidate contains data']]);
});

test('access providers need a child database, a unique issuer and an https key address', async () => {
  const w = new EngineWorld();
  const made = {
    create_access_provider: obj({ name: 'p', issuer: 'i', jwks_uri: 'https://a.b/c' }),
  };
  expect(await w.fault(made)).toMatchObject({ code: 'feature not available' });
  await w.ask({ create_database: obj({ name: 'inner' }) });
  const inner = { secret: 'root-secret:inner:admin' };
  expect(await w.ask(made, inner)).toMatchObject({
    audience: expect.stringMatching(/^https:\/\/db\.fauna\.com\/db\/[a-z2-7]{13}$/),
  });
  expect(
    await w.fault(
      { create_access_provider: obj({ name: 'q', issuer: 'i', jwks_uri: 'http://a.b/c' }) },
      inner,
    ),
  ).toMatchObject({
    failures: [{ code: 'duplicate value' }, { field: ['jwks_uri'], code: 'invalid uri' }],
  });
});

test('move_database() moves a database and its data into another', async () => {
  const w = new EngineWorld();
  await w.ask({ create_database: obj({ name: 'a' }) });
  await w.ask({ create_database: obj({ name: 'b' }) });
  await w.ask({ create_collection: obj({ name: 'c' }) }, { secret: 'root-secret:a:admin' });
  await w.ask({ move_database: { database: 'a' }, to: { database: 'b' } });
  expect(await w.ask({ exists: { database: 'a' } })).toBe(false);
  expect(await w.ask({ exists: coll('c') }, { secret: 'root-secret:b/a:admin' })).toBe(true);
  expect(
    await w.answer(1, { secret: 'root-secret:a:admin' }).catch((e: unknown) => e),
  ).toMatchObject({
    status: 401,
  });
  expect(
    await w.fault({
      move_database: { database: 'b' },
      to: { database: 'a', scope: { database: 'b' } },
    }),
  ).toMatchObject({ code: 'move database error', position: [] });
});

test('raising history_days does not make expired history readable again', async () => {
  const w = await world();
  await w.ask(create(doc('jars', 1), { n: 1 }));
  const early = w.now;
  w.now += 40 * 86_400_000_000;
  await w.ask({ update: coll('jars'), params: obj({ history_days: 1000 }) });
  expect(await w.fault({ get: doc('jars', 1), ts: early })).toMatchObject({ code: 'bad request' });
  expect(await w.ask({ get: doc('jars', 1), ts: w.now - 86_400_000_000 })).toMatchObject({
    data: { n: 1 },
  });
});
