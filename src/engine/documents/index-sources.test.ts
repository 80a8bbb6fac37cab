import { expect, test } from 'vitest';
import { EngineWorld, coll, create, doc, obj } from '../testing/engine-world.ts';

const index = (name: string, more: Record<string, unknown>) => ({
  create_index: obj({ name, ...more }),
});
const field = (...path: unknown[]) => obj({ field: path });
const lambda = (expr: unknown) => ({ query: { lambda: 'x', expr } });
const of = (...path: unknown[]) => ({ select: path, from: { var: 'x' }, default: null });
const match = (name: string, ...terms: unknown[]) =>
  terms.length === 0 ? { match: { index: name } } : { match: { index: name }, terms };

async function world(): Promise<EngineWorld> {
  const w = new EngineWorld();
  for (const name of ['jars', 'pots']) await w.ask({ create_collection: obj({ name }) });
  return w;
}
const count = (w: EngineWorld, name: string, ...terms: unknown[]) =>
  w.ask({ count: match(name, ...terms) });

test('a binding gives the elements of an array, or a scalar; objects, failures and undefined bindings give nothing', async () => {
  const w = await world();
  const fields = obj({
    whole: lambda(of('data', 'v')),
    broken: lambda({ divide: [1, of('data', 'n')] }),
  });
  const source = obj({ collection: coll('jars'), fields });
  await w.ask(
    index('whole', {
      source,
      terms: obj({ binding: 'whole' }),
      values: obj({ binding: 'broken' }),
    }),
  );
  await w.ask(create(doc('jars', 1), { v: ['a', ['b'], 'a'], n: 1 }));
  await w.ask(create(doc('jars', 2), { v: 'a', n: 0 }));
  await w.ask(create(doc('jars', 3), { v: { object: { b: 1 } }, n: 1 }));
  await w.ask(create(doc('jars', 4), { v: 'b', n: 2 }));
  // Document 2 has null as its only value, document 3 as its only term, so neither has an entry.
  expect(await w.page({ paginate: match('whole', 'a') })).toEqual([1]);
  expect(await w.page({ paginate: match('whole', 'b') })).toEqual([0]);
  expect(await count(w, 'whole', null)).toBe(0);
  // A binding takes precedence over a field. An undefined binding yields no elements.
  const both = obj({ binding: 'whole', field: ['data', 'n'] });
  const used = obj({ collection: coll('jars'), fields: obj({ whole: lambda(of('data', 'v')) }) });
  await w.ask(index('wins', { source: used, terms: both }));
  expect([await count(w, 'wins', 'b'), await count(w, 'wins', 2)]).toEqual([1, 0]);
  await w.ask(
    index('undefined', {
      source: coll('jars'),
      terms: [obj({ binding: 'nope' }), field('data', 'n')],
    }),
  );
  expect(await count(w, 'undefined', null, 2)).toBe(1);
});

test('each source of an index has its own bindings; a wildcard covers collections that no source names', async () => {
  const w = await world();
  const sources = [
    obj({ collection: coll('jars'), fields: obj({ size: lambda(of('data', 'litres')) }) }),
    obj({ collection: '_', fields: obj({ size: lambda(of('data', 'cups')) }) }),
  ];
  await w.ask(index('by_size', { source: sources, terms: obj({ binding: 'size' }), active: true }));
  await w.ask(create(doc('jars', 2), { litres: 1, cups: 2 }));
  await w.ask(create(doc('pots', 1), { litres: 1, cups: 2 }));
  await w.ask({ create_collection: obj({ name: 'later' }) });
  await w.ask(create(doc('later', 3), { cups: 2 }));
  expect(await count(w, 'by_size', 1)).toBe(1);
  const found = await w.page({ paginate: match('by_size', 2) });
  // Ordered by id, then by the age of the collection.
  expect(JSON.stringify(found)).toMatch(/"1".*pots.*"3".*later/);
  // The wildcard source does not cover native collections.
  await w.ask(index('everything', { source: '_', active: true }));
  await w.engine.buildIndexes();
  expect(await count(w, 'everything')).toBe(3);
});

test('bindings of a source can be given as several objects', async () => {
  const w = await world();
  const fields = [obj({ one: lambda(of('data', 'n')) }), obj({ two: lambda(of('data', 'm')) })];
  const bound = (name: string) => obj({ binding: name });
  const source = obj({ collection: coll('jars'), fields });
  await w.ask(index('both', { source, terms: bound('one'), values: bound('two') }));
  await w.ask(create(doc('jars', 1), { n: 1, m: 2 }));
  expect(await w.page({ paginate: match('both', 1) })).toEqual([2]);
});

test('a native collection can be the source of an index: tokens by instance, functions by name', async () => {
  const w = await world();
  await w.ask(
    index('tokens', {
      source: { tokens: null },
      terms: field('instance'),
      values: field('data', 'name'),
    }),
  );
  await w.ask(index('functions', { source: { functions: null }, terms: field('name') }));
  await w.ask(create(doc('jars', 1), {}));
  const data = obj({ name: 'phone' });
  await w.ask({ create: { tokens: null }, params: obj({ instance: doc('jars', 1), data }) });
  await w.ask({ create_function: obj({ name: 'f', body: lambda(1) }) });
  expect(await w.page({ paginate: match('tokens', doc('jars', 1)) })).toEqual(['phone']);
  expect(await count(w, 'functions', 'f')).toBe(1);
});

test('the casefold transform folds strings in terms and values, and leaves other scalars unchanged', async () => {
  const w = await world();
  const folded = obj({ field: ['data', 'name'], transform: 'casefold' });
  await w.ask(index('folded', { source: coll('jars'), terms: folded, values: folded }));
  await w.ask(create(doc('jars', 1), { name: ['Straße', 'STRASSE', 7] }));
  expect(await w.page({ paginate: match('folded', 'strasse') })).toEqual([7, 'strasse']);
  expect(await w.page({ paginate: match('folded', 7) })).toEqual([7, 'strasse']);
  expect(await count(w, 'folded', 'Straße')).toBe(0);
});

test('with mva: false, arrays and objects are single values, whatever the order of their keys', async () => {
  const w = await world();
  const whole = obj({ field: ['data', 'v'], mva: false });
  await w.ask(index('whole', { source: coll('jars'), terms: whole }));
  await w.ask(create(doc('jars', 1), { v: [1, 2] }));
  await w.ask(create(doc('jars', 2), { v: { object: { a: 1, b: 2 } } }));
  expect(await w.ask({ count: { match: { index: 'whole' }, terms: [[1, 2]] } })).toBe(1);
  expect(await count(w, 'whole', obj({ b: 2, a: 1 }))).toBe(1);
  expect(await count(w, 'whole', 1)).toBe(0);
});

test('the field of an index can be a single name, and "data.a" is a single name too', async () => {
  const w = await world();
  await w.ask(index('ts', { source: coll('jars'), values: obj({ field: 'ts' }) }));
  await w.ask(index('dotted', { source: coll('jars'), terms: obj({ field: 'data.a' }) }));
  const { txnTime } = await w.answer(create(doc('jars', 1), { a: 1 }));
  expect(await w.page({ paginate: match('ts') })).toEqual([txnTime]);
  expect(await count(w, 'dotted', 1)).toBe(0);
});

test('the next query can use an index of several sources if they are small together', async () => {
  const w = await world();
  const source = [coll('jars'), obj({ collection: coll('pots'), fields: obj({}) })];
  const fill = (name: string) =>
    w.ask({
      foreach: { lambda: '_', expr: create(coll(name), { n: 7 }) },
      collection: Array.from({ length: 64 }, (_, i) => i),
    });
  await fill('jars');
  await fill('pots');
  await w.ask(index('small', { source, terms: field('data', 'n') }));
  expect(await count(w, 'small', 7)).toBe(128);
  await w.ask(create(coll('pots'), { n: 7 }));
  expect(await count(w, 'small', 7)).toBe(129);
  await w.ask(index('large', { source, terms: field('data', 'n') }));
  expect((await w.answer({ count: match('large', 7) })).status).toBe(400);
});

test('a match with too few or too many terms is empty; an inactive index is refused in a match, but not in a join', async () => {
  const w = await world();
  await w.ask(
    index('by_a', { source: coll('jars'), terms: [field('data', 'a'), field('data', 'b')] }),
  );
  await w.ask(create(doc('jars', 1), { a: 1, b: 2 }));
  expect([await count(w, 'by_a', 1), await count(w, 'by_a', 1, 2, 3)]).toEqual([0, 0]);
  await w.ask({
    map: { lambda: 'n', expr: create(coll('pots'), { n: { var: 'n' } }) },
    collection: Array.from({ length: 200 }, (_, i) => i),
  });
  await w.ask(index('late', { source: coll('pots'), terms: field('data', 'n') }));
  await w.ask(create(doc('pots', 1), { n: 7 }));
  const inactive = {
    status: 400,
    code: 'instance not found',
    description: "Index 'late' is not active.",
  };
  expect(await w.fault(match('late', 7))).toMatchObject({ ...inactive, position: ['index'] });
  await w.ask(index('ns', { source: coll('jars'), values: field('data', 'n') }));
  await w.ask(create(doc('jars', 2), { n: 7 }));
  expect(await w.ask({ count: { join: match('ns'), with: { index: 'late' } } })).toBe(1);
  await w.engine.buildIndexes();
  expect(await count(w, 'late', 7)).toBe(2);
  expect(await w.ask({ count: { join: match('ns'), with: { index: 'late' } } })).toBe(2);
});

test('a unique index compares terms and values together, and tolerates duplicates from before its creation', async () => {
  const w = await world();
  for (const id of [1, 2]) await w.ask(create(doc('jars', id), { a: 1, b: 1 }));
  const parts = { source: coll('jars'), terms: field('data', 'a'), unique: true };
  await w.ask(index('pair', { ...parts, values: field('data', 'b') }));
  expect(
    await w.ask({ update: doc('jars', 1), params: obj({ data: obj({ c: 1 }) }) }),
  ).toBeDefined();
  await w.ask(create(doc('jars', 3), { a: 1, b: 2 }));
  expect(await w.fault(create(doc('jars', 4), { a: 1, b: 2 }))).toMatchObject({
    status: 400,
    code: 'instance not unique',
    description: 'document is not unique.',
    position: ['create'],
  });
  await w.ask(index('never', { ...parts, values: [field('ref'), field('data', 'b')] }));
  // Documents with neither field have no entry, so they are not compared.
  for (const id of [5, 6]) await w.ask(create(doc('jars', id), { c: 1 }));
  expect(await w.engine.verify()).toEqual([]);
});
