import { expect, test } from 'vitest';
import { EngineWorld, coll, create, doc, obj } from '../testing/engine-world.ts';

const ref = (kind: string, id: string) => ({
  '@ref': { id, collection: { '@ref': { id: kind } } },
});
const rename = (target: unknown, name: string) => ({ update: target, params: obj({ name }) });
const lambda = (expr: unknown) => ({ query: { lambda: '_', expr } });

test('refs in function bodies follow a rename, without a new version of the function', async () => {
  const w = new EngineWorld();
  await w.ask({ create_collection: obj({ name: 'notes' }) });
  await w.ask({ create_collection: obj({ name: 'others' }) });
  await w.ask(create(doc('notes', 1), { n: 1 }));
  await w.ask({ create_index: obj({ name: 'all', source: coll('notes') }) });
  const note = { '@ref': { id: '1', collection: ref('collections', 'notes') } };
  const body = lambda({
    do: [
      { exists: { '@ref': 'classes/notes/1' } },
      [
        { select: ['data', 'n'], from: { get: note } },
        { count: { documents: ref('collections', 'notes') } },
        { count: { match: ref('indexes', 'all') } },
        // A string that is equal to the name, but no ref.
        'notes',
        { count: { documents: ref('collections', 'others') } },
      ],
    ],
  });
  const made = await w.document({ create_function: obj({ name: 'look', body }) });
  await w.ask({
    create_function: obj({ name: 'twice', body: lambda({ call: ref('functions', 'look') }) }),
  });
  const expected = [1, 1, 1, 'notes', 0];
  expect(await w.ask({ call: 'twice' })).toEqual(expected);
  await w.ask(rename(coll('notes'), 'papers'));
  await w.ask(rename({ index: 'all' }, 'every'));
  await w.ask(rename({ function: 'look' }, 'see'));
  expect(await w.ask({ call: 'twice' })).toEqual(expected);
  const shown = await w.document({ get: { function: 'see' } });
  expect(JSON.stringify(shown)).toContain('classes/papers/1');
  expect(JSON.stringify(shown)).not.toContain('"id":"notes"');
  // The rename of the function itself made a new version of it.
  expect((await w.document({ get: { function: 'twice' } })).ts).toBeLessThan(shown.ts);
  expect(shown.ts).toBeGreaterThan(made.ts);
  // A new collection with the old name is a different collection.
  await w.ask({ create_collection: obj({ name: 'notes' }) });
  expect(await w.ask({ call: 'twice' })).toEqual(expected);
  expect(await w.engine.verify()).toEqual([]);
});

test('refs in role predicates and index bindings follow a rename', async () => {
  const w = new EngineWorld();
  await w.ask({ create_collection: obj({ name: 'notes' }) });
  await w.ask({ create_collection: obj({ name: 'flags' }) });
  await w.ask(create(doc('notes', 1), {}));
  await w.ask(create(doc('flags', 1), {}));
  const flag = { '@ref': { id: '1', collection: ref('collections', 'flags') } };
  const kind = {
    query: {
      lambda: 'x',
      expr: { equals: [flag, { select: ['data', 'flag'], from: { var: 'x' } }] },
    },
  };
  const index = obj({
    name: 'flagged',
    source: obj({ collection: coll('notes'), fields: obj({ kind }) }),
    terms: obj({ binding: 'kind' }),
  });
  await w.ask({ create_index: index });
  const actions = obj({ read: { query: { lambda: '_', expr: { exists: flag } } } });
  const privileges = obj({ resource: coll('notes'), actions });
  await w.ask({ create_role: obj({ name: 'reader', privileges }) });
  const { secret } = await w.document({ create_key: obj({ role: { role: 'reader' } }) });
  await w.ask(rename(coll('flags'), 'marks'));
  expect(await w.ask({ exists: doc('notes', 1) }, { secret })).toBe(true);
  await w.ask(create(doc('notes', 2), { flag: doc('marks', 1) }));
  expect(await w.ask({ count: { match: { index: 'flagged' }, terms: true } })).toBe(1);
  expect(await w.engine.verify()).toEqual([]);
});

test('functions and keys that name their role by text keep it when it is renamed', async () => {
  const w = new EngineWorld();
  await w.ask({ create_collection: obj({ name: 'notes' }) });
  const privileges = obj({ resource: coll('notes'), actions: obj({ create: true }) });
  await w.ask({ create_role: obj({ name: 'maker', privileges }) });
  await w.ask({ create_role: obj({ name: 'other' }) });
  const keys = [];
  for (const role of ['maker', ['maker', 'other']]) {
    keys.push(await w.document({ create_key: obj({ role }) }));
  }
  const body = lambda(create(coll('notes')));
  await w.ask({ create_function: obj({ name: 'make', body, role: 'maker' }) });
  await w.ask(rename({ role: 'maker' }, 'author'));
  await w.ask({ create_role: obj({ name: 'maker' }) });
  for (const { secret } of keys)
    expect((await w.answer(create(coll('notes')), { secret })).status).toBe(201);
  expect((await w.answer({ call: 'make' })).status).toBeLessThan(300);
  expect(await w.ask({ select: 'role', from: { get: { function: 'make' } } })).toBe('author');
});

test('refs in lambdas in the data of any schema object follow a rename', async () => {
  const w = new EngineWorld();
  await w.ask({ create_collection: obj({ name: 'notes' }) });
  const data = obj({ look: lambda({ exists: { documents: ref('collections', 'notes') } }) });
  const body = lambda(1);
  await w.ask({ create_collection: obj({ name: 'holder', data, history_days: 7 }) });
  await w.ask({ create_index: obj({ name: 'holder', source: coll('notes'), data }) });
  await w.ask({ create_function: obj({ name: 'holder', body, data }) });
  await w.ask({ create_role: obj({ name: 'holder', data }) });
  await w.ask(rename(coll('notes'), 'papers'));
  for (const kind of ['collections', 'indexes', 'functions', 'roles']) {
    const shown = JSON.stringify(await w.ask({ get: ref(kind, 'holder') }));
    expect(shown, kind).toContain('"id":"papers"');
    expect(shown, kind).not.toContain('"id":"notes"');
  }
  expect(await w.ask({ get: coll('holder') })).toMatchObject({ history_days: 7 });
  expect(await w.engine.verify()).toEqual([]);
});
