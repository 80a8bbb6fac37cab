import { expect, test } from 'vitest';
import { EngineWorld, coll, create, doc, obj } from '../testing/engine-world.ts';

const UNIQUE_BY_K = {
  create_index: obj({
    name: 'u',
    source: coll('jars'),
    terms: [obj({ field: ['data', 'k'] })],
    unique: true,
  }),
};

async function world(): Promise<EngineWorld> {
  const made = new EngineWorld();
  await made.ask({ create_collection: obj({ name: 'jars' }) });
  return made;
}

test('create() uses the given id, or generates increasing ids', async () => {
  const w = await world();
  const given = await w.document(create(doc('jars', 7), { a: 1 }));
  expect(given.ref['@ref'].id).toBe('7');
  const first = await w.document(create(coll('jars')));
  const second = await w.document(create('jars'));
  expect(BigInt(second.ref['@ref'].id)).toBeGreaterThan(BigInt(first.ref['@ref'].id));
});

test('create() fails for an existing document, and succeeds after its deletion', async () => {
  const w = await world();
  await w.ask(create(doc('jars', 1), { a: 1 }));
  expect(await w.fault(create(doc('jars', 1)))).toMatchObject({
    code: 'instance already exists',
    position: ['create'],
    status: 400,
  });
  await w.ask({ delete: doc('jars', 1) });
  expect(await w.ask({ select: ['data', 'a'], from: create(doc('jars', 1), { a: 2 }) })).toBe(2);
});

test('create() drops nulls, empty members and unknown members', async () => {
  const w = await world();
  const made = await w.document({
    create: coll('jars'),
    params: obj({ data: obj({}), extra: 1, ttl: null }),
  });
  expect(Object.keys(made)).toEqual(['ref', 'ts']);
  const deep = await w.document(
    create(coll('jars'), { a: obj({ b: null }), c: [null, [null, 1]] }),
  );
  expect(deep.data).toEqual({ a: {}, c: [[1]] });
});

test('create() stores documents, pages and the commit time as plain data', async () => {
  const w = await world();
  const made = await w.document({
    let: [{ d: create(doc('jars', 1), { a: 1 }) }],
    in: create(doc('jars', 2), {
      copy: { var: 'd' },
      when: { select: 'ts', from: { var: 'd' } },
      page: { paginate: { documents: coll('jars') } },
    }),
  });
  expect(made.data).toMatchObject({
    copy: { ts: made.ts, data: { a: 1 } },
    when: made.ts,
    page: { data: [{ '@ref': { id: '1' } }] },
  });
  expect(
    await w.ask({ is_integer: { select: ['data', 'when'], from: { get: doc('jars', 2) } } }),
  ).toBe(true);
});

test('refs in params to what does not exist are all reported, with their full path', async () => {
  const w = await world();
  await w.ask(create(doc('jars', 1)));
  const params = obj({
    data: obj({ x: [1, coll('absent')], y: obj({ z: { index: 'none' } }), kept: coll('jars') }),
  });
  const event = { ts: w.now, action: 'create', params };
  for (const write of [
    { create: coll('jars'), params },
    { update: doc('jars', 1), params },
    { replace: doc('jars', 1), params },
    { insert: doc('jars', 1), ...event },
    { create_role: params },
  ]) {
    const { code, position, failures } = await w.fault({ do: [1, write] });
    expect([write, code, position]).toEqual([write, 'validation failed', ['do', 1]]);
    expect(failures?.map((each) => [each.field, each.code])).toEqual([
      [['do', '1', 'data', 'x', '1'], 'invalid reference'],
      [['do', '1', 'data', 'y', 'z'], 'invalid reference'],
    ]);
  }
});

test('update() merges at every depth; replace() discards the old data', async () => {
  const w = await world();
  await w.ask(create(doc('jars', 1), { a: obj({ x: 1, y: [1, 2] }), b: 1 }));
  const params = obj({ data: obj({ a: obj({ y: [3, null] }), b: null, c: obj({ d: null }) }) });
  expect((await w.document({ update: doc('jars', 1), params })).data).toEqual({
    a: { x: 1, y: [3] },
    c: {},
  });
  expect((await w.document({ replace: doc('jars', 1), params })).data).toEqual({
    a: { y: [3] },
    c: {},
  });
  expect(await w.ask({ replace: doc('jars', 1) })).not.toHaveProperty('data');
});

test('update() without params makes a new version', async () => {
  const w = await world();
  const made = await w.document(create(doc('jars', 1), { a: 1 }));
  const updated = await w.document({ update: doc('jars', 1) });
  expect(updated.ts).toBeGreaterThan(made.ts);
  expect(updated.data).toEqual({ a: 1 });
  expect(await w.events(doc('jars', 1))).toEqual([
    ['create', { a: 1 }],
    ['update', null],
  ]);
});

test('errors of update(), replace() and delete() have the positions that the spec requires', async () => {
  const w = await world();
  expect(await w.fault({ update: doc('jars', 1), params: obj({}) })).toMatchObject({
    code: 'instance not found',
    description: 'Document not found.',
    position: ['update'],
    status: 404,
  });
  expect(await w.fault({ replace: doc('jars', 1) })).toMatchObject({ position: ['replace'] });
  expect(await w.fault({ delete: doc('jars', 1) })).toMatchObject({ position: [] });
  await w.ask(create(doc('jars', 1)));
  expect(await w.fault({ update: doc('jars', 1), params: obj({ data: 1 }) })).toMatchObject({
    code: 'validation failed',
    position: [],
    failures: [{ field: ['data'], code: 'invalid type' }],
  });
  expect(await w.fault({ delete: { collections: null } })).toMatchObject({
    code: 'invalid argument',
    position: ['delete'],
  });
});

test('one query makes one version of a document, however often it writes the document', async () => {
  const w = await world();
  await w.ask({
    create_index: obj({
      name: 'by_n',
      source: coll('jars'),
      values: [obj({ field: ['data', 'n'] })],
    }),
  });
  await w.ask(create(doc('jars', 1), { n: 1 }));
  await w.ask({
    do: [
      { update: doc('jars', 1), params: obj({ data: obj({ n: 2 }) }) },
      { delete: doc('jars', 1) },
      create(doc('jars', 1), { n: 3 }),
      { update: doc('jars', 1), params: obj({ data: obj({ n: 1, m: 1 }) }) },
    ],
  });
  expect(await w.events(doc('jars', 1))).toEqual([
    ['create', { n: 1 }],
    ['update', { m: 1 }],
  ]);
  expect(await w.events({ match: { index: 'by_n' } })).toEqual([['add', [1]]]);
});

test('a document that is created and deleted in one query leaves no events', async () => {
  const w = await world();
  await w.ask({ do: [create(doc('jars', 1), { n: 1 }), { delete: doc('jars', 1) }] });
  expect(await w.events(doc('jars', 1))).toEqual([]);
  expect(await w.events({ documents: coll('jars') })).toEqual([]);
});

test('delete() returns the last version with its own time, and the deletion is an event', async () => {
  const w = await world();
  const made = await w.document(create(doc('jars', 1), { n: 1 }));
  const gone = await w.ask({ delete: doc('jars', 1) });
  expect(gone).toEqual(made);
  expect(await w.ask({ exists: doc('jars', 1) })).toBe(false);
  expect(await w.ask({ exists: doc('jars', 1), ts: made.ts })).toBe(true);
  expect(await w.events(doc('jars', 1))).toEqual([
    ['create', { n: 1 }],
    ['delete', null],
  ]);
});

test('a document expires at its ttl, and can be created again', async () => {
  const w = await world();
  const at = new Date(w.now / 1000 + 5000).toISOString();
  await w.ask(create(doc('jars', 1), { n: 1 }, { ttl: { '@ts': at } }));
  expect(await w.ask({ exists: doc('jars', 1) })).toBe(true);
  w.now += 10_000_000;
  expect(await w.ask({ exists: doc('jars', 1) })).toBe(false);
  expect(await w.page({ paginate: { documents: coll('jars') } })).toEqual([]);
  expect((await w.document(create(doc('jars', 1), { n: 2 }))).data).toEqual({ n: 2 });
  expect(await w.fault(create(doc('jars', 2), { n: 2 }, { ttl: 5 }))).toMatchObject({
    failures: [{ field: ['ttl'], code: 'invalid type' }],
  });
});

test('ttl_days of a collection sets the ttl of documents that are created without one', async () => {
  const w = await world();
  await w.ask({ create_collection: obj({ name: 'fresh', ttl_days: 2 }) });
  const before = w.now;
  const made = await w.document(create(doc('fresh', 1), { n: 1 }));
  expect(Date.parse(made.ttl['@ts'])).toBe((before + 1_000_000) / 1000 + 2 * 86_400_000);
  const own = await w.document(
    create(doc('fresh', 2), {}, { ttl: { '@ts': '2999-01-01T00:00:00Z' } }),
  );
  expect(own.ttl['@ts']).toBe('2999-01-01T00:00:00Z');
});

test('a ttl computed from ttl_days stays within the range of Time values', async () => {
  const w = await world();
  const ttl = async (ttl_days: bigint) => {
    const name = `days${ttl_days}`;
    // The number is too large for JSON.stringify().
    const days = { to_integer: String(ttl_days) };
    await w.ask({ create_collection: obj({ name, ttl_days: days }) });
    return (await w.document(create(coll(name), {}))).ttl['@ts'];
  };
  expect(await ttl(2n ** 63n - 1n)).toBe('+1000000000-12-31T23:59:59.999999999Z');
  expect(await ttl(-(2n ** 63n))).toBe('-1000000000-01-01T00:00:00Z');
  expect(await ttl(999_999_999n)).toMatch(/^\+2739933-01-03T/);
});

test('a unique index compares only added entries, including those of the same query', async () => {
  const w = await world();
  await w.ask(UNIQUE_BY_K);
  await w.ask(create(doc('jars', 1), { k: 'a' }));
  expect(await w.fault(create(doc('jars', 2), { k: 'a' }))).toMatchObject({
    code: 'instance not unique',
    position: ['create'],
  });
  await w.ask({ update: doc('jars', 1), params: obj({ data: obj({ more: 1 }) }) });
  await w.ask({ do: [{ delete: doc('jars', 1) }, create(doc('jars', 2), { k: 'a' })] });
  expect(
    await w.fault({ do: [create(doc('jars', 5), { k: 'z' }), create(doc('jars', 6), { k: 'z' })] }),
  ).toMatchObject({ position: ['do', 1, 'create'] });
  // Documents without values do not clash in a unique index.
  await w.ask({ do: [create(doc('jars', 7)), create(doc('jars', 8))] });
});

test('an expired document does not block its unique value', async () => {
  const w = await world();
  await w.ask(UNIQUE_BY_K);
  const at = new Date(w.now / 1000 + 5000).toISOString();
  await w.ask(create(doc('jars', 1), { k: 'a' }, { ttl: { '@ts': at } }));
  w.now += 10_000_000;
  await w.ask(create(doc('jars', 2), { k: 'a' }));
  expect(await w.fault(create(doc('jars', 3), { k: 'a' }))).toMatchObject({
    code: 'instance not unique',
  });
});

test('writes to other databases and at past times are refused', async () => {
  const w = await world();
  await w.ask({ create_database: obj({ name: 'inner' }) });
  const scoped = { collections: { database: 'inner' } };
  expect(await w.fault({ create: scoped, params: obj({ name: 'x' }) })).toMatchObject({
    code: 'invalid argument',
    description: 'Cannot write a scoped ref.',
    position: ['create'],
  });
  expect(
    await w.fault({ at: { '@ts': '2025-12-30T00:00:00Z' }, expr: create(coll('jars')) }),
  ).toMatchObject({
    code: 'invalid write time',
    position: ['expr', 'create'],
  });
});

test('a document of more than 8 MiB is refused', async () => {
  const w = await world();
  const large = 'é'.repeat(4.1 * 1024 * 1024);
  const { status, body } = await w.answer(create(coll('jars'), { large }));
  expect(status).toBe(400);
  expect(JSON.parse(body).errors[0].code).toBe('bad request');
});
