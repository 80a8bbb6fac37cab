/** T9: keys with a meaning in JavaScript, such as `__proto__`, are ordinary data in all inputs and outputs. */
import { expect, test } from 'vitest';
import { coll, create, doc, obj, type Query } from './testing/engine-world.ts';
import { createTestEngine } from './testing/fuzz-world.ts';
import { outcome } from './testing/outcomes.ts';

const KEYS = [
  '__proto__',
  'constructor',
  'prototype',
  'toString',
  'hasOwnProperty',
  'then',
  '__defineGetter__',
];
const BEFORE = JSON.stringify(Reflect.ownKeys(Object.prototype).map(String));

/** JSON with this key. It is parsed, because `__proto__` in an object literal would set the prototype. */
const keyed = (key: string, value: unknown): Query =>
  JSON.parse(`{${JSON.stringify(key)}:${JSON.stringify(value)}}`) as Query;
const v = (name: string): Query => ({ var: name });

test.each(KEYS)('a member named %s passes through every function unchanged', async (key) => {
  const engine = createTestEngine();
  const data = keyed(key, { polluted: 1 });
  const object = { object: keyed(key, { object: { polluted: 1 } }) };
  const same = async (query: Query, resource: unknown) => {
    const found = await outcome(engine, query);
    // Compared as text, because `toEqual` ignores a member named __proto__.
    expect(JSON.stringify(found)).toBe(JSON.stringify({ resource }));
  };
  await outcome(engine, { create_collection: obj({ name: 'c' }) });
  await outcome(engine, {
    create_index: obj({
      name: 'by',
      source: coll('c'),
      terms: [obj({ field: ['data', key, 'polluted'] })],
      values: [obj({ field: ['data', key, 'polluted'] })],
    }),
  });
  await same(object, data);
  await same({ quote: data }, data);
  await same({ let: [keyed(key, object)], in: v(key) }, data);
  await same({ let: keyed(key, 1), in: v(key) }, 1);
  await same({ map: { lambda: key, expr: v(key) }, collection: [object] }, [data]);
  await same({ map: { lambda: ['a', key], expr: v(key) }, collection: [[1, object]] }, [data]);
  await same({ merge: object, with: { object: keyed(key, 2) } }, keyed(key, 2));
  await same({ merge: { object: {} }, with: object }, data);
  await same({ to_object: [[key, 1]] }, keyed(key, 1));
  await same({ to_array: object }, [[key, { polluted: 1 }]]);
  await same({ select: [key, 'polluted'], from: object }, 1);
  await same({ select: [key], from: { object: {} }, default: 'none' }, 'none');
  await same({ contains_field: key, in: { object: {} } }, false);
  await same({ contains_path: [key], in: object }, true);
  await same({ equals: [object, { object: {} }] }, false);
  await same({ format: '%^', values: object }, JSON.stringify(data));

  const stored = { object: { data: object } };
  const get = { select: 'data', from: { get: doc('c', 1) } };
  await same({ do: [{ create: doc('c', 1), params: stored }, get] }, data);
  await same(get, data);
  await same(
    {
      do: [
        {
          update: doc('c', 1),
          params: { object: { data: { object: keyed(key, { object: { more: 2 } }) } } },
        },
        get,
      ],
    },
    keyed(key, { polluted: 1, more: 2 }),
  );
  await same({ select: 'data', from: { paginate: { match: { index: 'by' }, terms: 1 } } }, [1]);
  await same({ do: [{ replace: doc('c', 1), params: stored }, get] }, data);
  await same({ select: ['data', 0, 'data'], from: { paginate: { events: doc('c', 1) } } }, data);
  const body = { query: { lambda: key, expr: object } };
  await same({ do: [{ create_function: obj({ name: 'f', body }) }, 0] }, 0);
  await same({ call: 'f', arguments: 0 }, data);
});

test.each(KEYS)('a schema object can be named %s', async (name) => {
  const engine = createTestEngine();
  const ref = { '@ref': { id: name, collection: { '@ref': { id: 'collections' } } } };
  expect(await outcome(engine, { exists: coll(name) })).toEqual({ resource: false });
  expect(await outcome(engine, { do: [{ create_collection: obj({ name }) }, 0] })).toEqual({
    resource: 0,
  });
  expect(await outcome(engine, coll(name))).toEqual({ resource: ref });
  expect(await outcome(engine, { do: [create(doc(name, 1)), 0] })).toEqual({ resource: 0 });
  expect(await outcome(engine, { count: { documents: coll(name) } })).toEqual({ resource: 1 });
  expect(await outcome(engine, { index: name })).toHaveProperty('resource');
  expect(await outcome(engine, keyed(name, 1))).toEqual({ refused: 'invalid expression at []' });
});

test('Object.prototype is unchanged', () => {
  expect(({} as { polluted?: unknown }).polluted).toBeUndefined();
  expect(JSON.stringify(Reflect.ownKeys(Object.prototype).map(String))).toBe(BEFORE);
});
