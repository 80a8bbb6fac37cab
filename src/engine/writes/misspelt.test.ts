/** Misspelt fields of schema objects are refused. Fields that are only unknown are dropped, as in the original. */
import { expect, test } from 'vitest';
import { coll, create, doc, EngineWorld, obj, type Query } from '../testing/engine-world.ts';

const body = { query: { lambda: 'x', expr: 1 } };
const jars = coll('jars');

async function world(): Promise<EngineWorld> {
  const w = new EngineWorld();
  await w.ask({ create_collection: obj({ name: 'jars' }) });
  await w.ask(create(doc('jars', 1), {}, { credentials: obj({ password: 'secret' }) }));
  return w;
}

const index = (more: Record<string, unknown>): Query => ({
  create_index: obj({ name: 'i', source: jars, ...more }),
});
const role = (more: Record<string, unknown>): Query => ({
  create_role: obj({ name: 'r', ...more }),
});
const privilege = (more: Record<string, unknown>): Query =>
  role({ privileges: [obj({ resource: jars, ...more })] });

const actions = ['privileges', '0', 'actions'];
const term = ['terms', '0'];
const login = (params: Record<string, unknown>): Query => ({
  login: doc('jars', 1),
  params: obj(params),
});
const signUp = (credentials: Record<string, unknown>): Query =>
  create(jars, {}, { credentials: obj(credentials) });

test.each<[string, Query, readonly (string | number)[], string]>([
  ['an index', index({ term: [obj({ field: ['data', 'a'] })] }), ['term'], 'terms'],
  ['an index', index({ permission: obj({ read: 'public' }) }), ['permission'], 'permissions'],
  ['an index', index({ uniqe: true }), ['uniqe'], 'unique'],
  [
    'a term',
    index({ terms: [obj({ field: ['data', 'a'], transfrom: 'casefold' })] }),
    ['terms', '0', 'transfrom'],
    'transform',
  ],
  [
    'a value',
    index({ values: obj({ field: ['data', 'a'], reversed: true }) }),
    ['values', 'reversed'],
    'reverse',
  ],
  [
    'a source',
    index({ source: obj({ collections: jars, collection: jars }) }),
    ['source', 'collections'],
    'collection',
  ],
  [
    'the permissions of an index',
    index({ permissions: obj({ reed: 'public' }) }),
    ['permissions', 'reed'],
    'read',
  ],
  ['a role', role({ privilege: [] }), ['privilege'], 'privileges'],
  ['a privilege', privilege({ action: obj({}) }), ['privileges', '0', 'action'], 'actions'],
  [
    'actions',
    privilege({ actions: obj({ update: true }) }),
    ['privileges', '0', 'actions', 'update'],
    'write',
  ],
  [
    'actions',
    privilege({ actions: obj({ unrestrictedRead: true }) }),
    ['privileges', '0', 'actions', 'unrestrictedRead'],
    'unrestricted_read',
  ],
  [
    'a membership',
    role({ membership: obj({ resource: jars, predicates: body }) }),
    ['membership', 'predicates'],
    'predicate',
  ],
  ['a function', { create_function: obj({ name: 'f', body, roles: 'admin' }) }, ['roles'], 'role'],
  ['a key', { create_key: obj({ role: 'server', databse: 1 }) }, ['databse'], 'database'],
  [
    'a collection',
    { create_collection: obj({ name: 'c', historyDays: 0 }) },
    ['historyDays'],
    'history_days',
  ],
  ['a database', { create_database: obj({ name: 'd', priorty: 1 }) }, ['priorty'], 'priority'],
  ['an action', privilege({ actions: obj({ raed: true }) }), [...actions, 'raed'], 'read'],
  ['an action', privilege({ actions: obj({ clal: true }) }), [...actions, 'clal'], 'call'],
  ['a function', { create_function: obj({ name: 'f', body, rloe: 'admin' }) }, ['rloe'], 'role'],
  ['a key', { create_key: obj({ role: 'server', tll: 1 }) }, ['tll'], 'ttl'],
  ['a key', { create_key: obj({ role: 'server', dtaa: obj({}) }) }, ['dtaa'], 'data'],
  ['a term', index({ terms: [obj({ field: 'ts', mvaa: false })] }), [...term, 'mvaa'], 'mva'],
  ['a token', login({ password: 'secret', tll: 1 }), ['tll'], 'ttl'],
  ['credentials', signUp({ pasword: 'secret' }), ['credentials', 'pasword'], 'password'],
  [
    'credentials',
    signUp({ hashed_pasword: 'secret' }),
    ['credentials', 'hashed_pasword'],
    'hashed_password',
  ],
])('a misspelt member of %s is refused with its path: %#', async (_, query, field, meant) => {
  const w = await world();
  const fault = await w.fault(query);
  expect(fault).toMatchObject({ status: 400, code: 'validation failed' });
  expect(fault.failures).toEqual([
    {
      field,
      code: 'unknown member',
      description: `Did you mean '${meant}'?`,
    },
  ]);
});

test('misspelt members are refused in an update too', async () => {
  const w = await world();
  await w.ask(role({}));
  const update = await w.fault({ update: { role: 'r' }, params: obj({ privilages: [] }) });
  expect(update.failures).toMatchObject([{ field: ['privilages'] }]);
});

test.each<[string, Query]>([
  ['unknown members that resemble no known one', index({ comment: 'x', ts: 1, ref: jars })],
  ['a misspelt member whose value is null', index({ term: null })],
  [
    'an action that only later versions know',
    privilege({ actions: obj({ schema_write: true, call: true }) }),
  ],
  [
    'a member of credentials that resembles no known one',
    signUp({ password: 'secret', hint: 'x' }),
  ],
  ['`current_password` of credentials', signUp({ password: 'secret', current_password: 'x' })],
  [
    'a member of a token that resembles no known one',
    login({ password: 'secret', device: 'phone' }),
  ],
  ['a member that only answers have', { create_key: obj({ role: 'server', hashed_secret: 'x' }) }],
])('ignored without an error: %s', async (_, query) => {
  const w = await world();
  expect((await w.answer(query)).status).toBe(201);
});

/** Converts a value from an answer to the query that sends it back. */
const sent = (value: unknown): unknown => {
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return value.map(sent);
  const members = Object.entries(value);
  if (members.some(([name]) => name.startsWith('@'))) return value;
  return obj(Object.fromEntries(members.map(([name, each]) => [name, sent(each)])));
};

test('fields shown in an answer can be sent back', async () => {
  const w = await world();
  const made: readonly Query[] = [
    index({ terms: [obj({ field: ['data', 'a'] })], permissions: obj({ read: 'public' }) }),
    privilege({ actions: obj({ read: true }) }),
    { create_key: obj({ role: 'server', name: 'k' }) },
    { create_function: obj({ name: 'f', body }) },
    { create_database: obj({ name: 'd' }) },
    { create_collection: obj({ name: 'c' }) },
  ];
  for (const query of made) {
    const { ref } = await w.document(query);
    const shown = sent(await w.ask({ get: ref }));
    await w.ask({ update: ref, params: shown });
    expect(sent(await w.ask({ replace: ref, params: shown }))).toMatchObject({ object: {} });
  }
});
