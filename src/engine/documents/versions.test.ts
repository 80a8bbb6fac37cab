/** The effects of the API version of a request. Spec: values 1, functions 3.2. */
import { expect, test } from 'vitest';
import { API_VERSIONS, type ApiVersion } from '../../query/session.ts';
import { coll, create, doc, EngineWorld, obj, type Query } from '../testing/engine-world.ts';

const since = (version: ApiVersion): readonly ApiVersion[] =>
  API_VERSIONS.slice(API_VERSIONS.indexOf(version));
const before = (version: ApiVersion): readonly ApiVersion[] =>
  API_VERSIONS.slice(0, API_VERSIONS.indexOf(version));

async function makeWorld(): Promise<EngineWorld> {
  const world = new EngineWorld();
  await world.ask({ create_collection: obj({ name: 'notes' }) });
  await world.ask({
    create_index: obj({
      name: 'titles',
      source: coll('notes'),
      values: [obj({ field: ['data', 'title'] })],
    }),
  });
  await world.ask(create(doc('notes', 1), { title: 'a' }));
  await world.ask({ update: doc('notes', 1), params: obj({ data: obj({ title: 'b' }) }) });
  return world;
}

const classRef = { '@ref': { id: 'notes', class: { '@ref': { id: 'classes' } } } };
const collectionRef = { '@ref': { id: 'notes', collection: { '@ref': { id: 'collections' } } } };

test('refs are written as paths at version 2.0, with `class` at 2.1, and with `collection` from 2.7 on', async () => {
  const world = await makeWorld();
  const shown = (apiVersion: ApiVersion, query: Query) => world.ask(query, { apiVersion });
  expect(await shown('2.0', doc('notes', 1))).toEqual({ '@ref': 'classes/notes/1' });
  expect(await shown('2.0', { collections: null })).toEqual({ '@ref': 'classes' });
  expect(await shown('2.1', doc('notes', 1))).toEqual({ '@ref': { id: '1', class: classRef } });
  expect(await shown('2.1', { classes: null })).toEqual({ '@ref': { id: 'classes' } });
  for (const apiVersion of since('2.7')) {
    expect(await shown(apiVersion, doc('notes', 1))).toEqual({
      '@ref': { id: '1', collection: collectionRef },
    });
    expect(await shown(apiVersion, { classes: null })).toEqual({ '@ref': { id: 'collections' } });
  }
});

test('every version accepts the old and the new names in refs', async () => {
  const world = await makeWorld();
  const spellings: readonly Query[] = [
    { class: 'notes' },
    { collection: 'notes' },
    { '@ref': 'classes/notes' },
    { '@ref': 'collections/notes' },
    classRef,
    collectionRef,
  ];
  for (const apiVersion of API_VERSIONS) {
    for (const query of spellings) {
      expect(await world.ask({ exists: query }, { apiVersion })).toBe(true);
    }
    const made = { create_class: obj({ name: `made_at_${apiVersion}` }) };
    expect((await world.answer(made, { apiVersion })).status).toBe(201);
  }
});

test('a document shows its `class` only at version 2.0', async () => {
  const world = await makeWorld();
  for (const apiVersion of API_VERSIONS) {
    const document = await world.ask({ get: doc('notes', 1) }, { apiVersion });
    expect('class' in (document as object)).toBe(apiVersion === '2.0');
  }
});

test('the members and actions of events have the names of the request’s version', async () => {
  const world = await makeWorld();
  const keysOf = async (target: Query, apiVersion: ApiVersion) => {
    const events = await world.ask({ paginate: target, events: true }, { apiVersion });
    return (events as { data: readonly { action: string }[] }).data.map((event) => [
      event.action,
      Object.keys(event).join(),
    ]);
  };
  const titles = { match: { index: 'titles' } };
  expect(await keysOf(doc('notes', 1), '2.0')).toEqual([
    ['create', 'ts,action,resource,data'],
    ['create', 'ts,action,resource,data'],
  ]);
  expect(await keysOf(titles, '2.0')).toEqual([
    ['create', 'ts,action,resource,values'],
    ['delete', 'ts,action,resource,values'],
    ['create', 'ts,action,resource,values'],
  ]);
  expect(await keysOf(doc('notes', 1), '2.1')).toEqual([
    ['create', 'ts,action,instance,data'],
    ['update', 'ts,action,instance,data'],
  ]);
  for (const apiVersion of since('2.7')) {
    expect(await keysOf(doc('notes', 1), apiVersion)).toEqual([
      ['create', 'ts,action,document,data'],
      ['update', 'ts,action,document,data'],
    ]);
  }
});

test('the source of an index has the member names of the request’s version', async () => {
  const world = await makeWorld();
  const shown = async (source: Query, apiVersion: ApiVersion) => {
    const name = `index_${apiVersion}_${JSON.stringify(source).length}`;
    const made = await world.ask({ create_index: obj({ name, source }) }, { apiVersion });
    return (made as { source: unknown }).source;
  };
  for (const given of ['class', 'collection']) {
    const source = [obj({ [given]: coll('notes') })];
    expect(await shown(source, '2.1')).toEqual([{ class: classRef }]);
    for (const apiVersion of since('2.7')) {
      expect(await shown(source, apiVersion)).toEqual([{ collection: collectionRef }]);
    }
  }
  expect(await shown(coll('notes'), '2.0')).toEqual({ '@ref': 'classes/notes' });
});

test('a function is unknown before the version that introduced it', async () => {
  const world = await makeWorld();
  const forms: readonly (readonly [ApiVersion, Query])[] = [
    ['3', { contains_path: ['a'], in: obj({ a: 1 }) }],
    ['3', { contains_field: 'a', in: obj({ a: 1 }) }],
    ['3', { contains_value: 1, in: obj({ a: 1 }) }],
    ['4', { access_providers: null }],
    ['4', { access_provider: 'x' }],
    ['4', { first: [1] }],
    ['4', { last: [1] }],
    ['4', { has_current_identity: null }],
    ['4', { has_current_token: null }],
  ];
  for (const [version, query] of forms) {
    for (const apiVersion of before(version)) {
      const keys = Object.keys(query as object).join(', ');
      expect(await world.fault(query, { apiVersion })).toMatchObject({
        status: 400,
        code: 'invalid expression',
        position: [],
        description: `No form/function found, or invalid argument keys: { ${keys} }.`,
      });
    }
    for (const apiVersion of since(version)) {
      expect((await world.answer(query, { apiVersion })).status).toBe(200);
    }
  }
});

test('from version 3 on, and, or and default evaluate only what they need', async () => {
  const world = await makeWorld();
  const boom = { abort: 'evaluated' };
  const queries: readonly Query[] = [
    { and: [false, boom] },
    { or: [true, boom] },
    { select: 'a', from: obj({ a: 1 }), default: boom },
    { select_all: 'a', from: obj({ a: 1 }), default: boom },
  ];
  for (const query of queries) {
    for (const apiVersion of before('3')) {
      expect(await world.fault(query, { apiVersion })).toMatchObject({
        code: 'transaction aborted',
      });
    }
    for (const apiVersion of since('3')) {
      expect((await world.answer(query, { apiVersion })).status).toBe(200);
    }
  }
});

test('a lambda shows its version from 3 on; a lambda without a version is read as 2.12', async () => {
  const world = await makeWorld();
  const query = { query: { lambda: 'x', expr: { var: 'x' } } };
  const text = { lambda: 'x', expr: { var: 'x' } };
  for (const apiVersion of before('3')) {
    expect(await world.ask(query, { apiVersion })).toEqual({ '@query': text });
  }
  for (const apiVersion of since('3')) {
    expect(await world.ask(query, { apiVersion })).toEqual({
      '@query': { api_version: apiVersion, ...text },
    });
  }
  const literal = { '@query': { lambda: 'x', expr: { contains_path: ['a'], in: { var: 'x' } } } };
  expect(await world.fault(literal)).toMatchObject({ code: 'invalid expression' });
  const tagged = { '@query': { api_version: '3', ...literal['@query'] } };
  expect(await world.ask(tagged, { apiVersion: '2.7' })).toEqual(tagged);
});

test('before version 5, the action `update` of an event equals `create`', async () => {
  const world = await makeWorld();
  const action = {
    select: ['data', 1, 'action'],
    from: { paginate: doc('notes', 1), events: true },
  };
  for (const apiVersion of API_VERSIONS) {
    const isCreate = await world.ask({ equals: [action, 'create'] }, { apiVersion });
    expect(isCreate).toBe(!['5', 'UNSTABLE'].includes(apiVersion));
  }
});

test('from version 5 on, a query cannot create documents in a collection that it creates itself', async () => {
  const world = await makeWorld();
  const params = obj({ data: obj({ title: 'c' }) });
  const into = { select: 'ref', from: { var: 'made' } };
  const first = { ref: into, id: '1' };
  const insert = { insert: first, ts: { time: '2026-01-01T00:00:00Z' }, action: 'create', params };
  const writes = [{ create: into, params }, { create: first, params }, insert];
  for (const apiVersion of API_VERSIONS) {
    const isTaken = before('5').includes(apiVersion);
    for (const [n, write] of writes.entries()) {
      const name = `of_${apiVersion}_${n}`;
      const made = { create_collection: obj({ name }) };
      const { body } = await world.answer({ let: [{ made }], in: write }, { apiVersion });
      expect(body.includes('"code":"invalid ref"')).toBe(!isTaken);
      // A refused query leaves nothing behind. The next query can write to the collection.
      expect(await world.ask({ exists: coll(name) })).toBe(isTaken);
      if (!isTaken) await world.ask(made, { apiVersion });
      await world.ask(create(doc(name, 2), { title: 'c' }), { apiVersion });
    }
  }
});

test('before 2.7, error texts say class and instance, but quote given texts unchanged', async () => {
  const world = await makeWorld();
  await world.ask({
    create_index: obj({
      name: 'unique_titles',
      source: coll('notes'),
      unique: true,
      terms: [obj({ field: ['data', 'title'] })],
    }),
  });
  const faults: readonly (readonly [Query, old: string, now: string])[] = [
    [{ get: doc('notes', 9) }, 'Instance not found.', 'Document not found.'],
    [
      { get: { ref: coll('no'), id: 1 } },
      "Ref refers to undefined class 'no'",
      "Ref refers to undefined collection 'no'",
    ],
    [
      { create: coll('no') },
      "Ref refers to undefined class 'no'",
      "Ref refers to undefined collection 'no'",
    ],
    [create(doc('notes', 1)), 'Instance already exists.', 'Document already exists.'],
    [
      { create_collection: obj({ name: 'notes' }) },
      'Class already exists.',
      'Collection already exists.',
    ],
    [create(coll('notes'), { title: 'b' }), 'instance is not unique.', 'document is not unique.'],
    [
      { create: coll('notes'), params: obj({ data: 1 }) },
      'instance data is not valid.',
      'document data is not valid.',
    ],
    [
      { documents: 1 },
      'Class Ref expected, Integer provided.',
      'Collection Ref expected, Integer provided.',
    ],
    [
      { add: coll('notes') },
      'Number expected, Class Ref provided.',
      'Number expected, Collection Ref provided.',
    ],
    [
      { to_number: coll('notes') },
      'Cannot cast Class Ref to Number.',
      'Cannot cast Collection Ref to Number.',
    ],
    [{ abort: 'Document not found.' }, 'Document not found.', 'Document not found.'],
    [
      { get: { index: 'Collection Ref' } },
      "Ref refers to undefined index 'Collection Ref'",
      "Ref refers to undefined index 'Collection Ref'",
    ],
  ];
  const invalid = {
    create_index: obj({ name: 'x', source: coll('notes'), unique: coll('notes') }),
  };
  expect(await world.fault(invalid, { apiVersion: '2.1' })).toMatchObject({
    failures: [{ description: 'Invalid type Class Ref, expected type Boolean.' }],
  });
  for (const [query, old, now] of faults) {
    for (const apiVersion of before('2.7')) {
      expect((await world.fault(query, { apiVersion })).description).toBe(old);
    }
    for (const apiVersion of since('2.7')) {
      expect((await world.fault(query, { apiVersion })).description).toBe(now);
    }
  }
});
