import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { Changes } from '../../http/changes.ts';
import type { CommitNotice, QueryAnswer } from '../context/host.ts';
import { parseSecret, secretText } from '../access/secrets.ts';
import { coll, create, doc, EngineWorld, obj, ROOT, type Query } from '../testing/engine-world.ts';

/** To run more cases: `BURROW_CHILD_CASES=2000 npx vitest run --project node src/engine/catalog/child-databases.test.ts`. */
const CASES = Number(process.env['BURROW_CHILD_CASES'] ?? 60);
const SECOND = 1_000_000;

type Name = 'a' | 'b';
interface Step {
  readonly in: Name;
  readonly make: Query;
}

const some = (n: number) => fc.integer({ min: 1, max: n });
const things = (inside: Name): fc.Arbitrary<Query> =>
  fc.oneof(
    fc.tuple(some(4), some(3)).map(([id, n]) => create(doc('notes', id), { n })),
    some(4).map((id) => ({ delete: doc('notes', id) })),
    fc
      .tuple(some(4), some(3))
      .map(([id, n]) => ({ update: doc('notes', id), params: obj({ data: obj({ n }) }) })),
    some(3).map((i) => ({ create_collection: obj({ name: `c${i}` }) })),
    some(2).map((i) => ({ delete: coll(`c${i}`) })),
    some(3).map((i) => ({
      create_function: obj({ name: `f${i}`, body: { query: { lambda: 'x', expr: inside } } }),
    })),
    some(3).map((i) => ({ create_role: obj({ name: `r${i}` }) })),
    some(3).map((i) => ({ create_database: obj({ name: `d${i}` }) })),
    some(4).map((i) => ({
      create: { ref: { credentials: null }, id: String(i) },
      params: obj({ instance: doc('notes', i), password: `p${i}` }),
    })),
    some(4).map((i) => ({
      create: { ref: { tokens: null }, id: String(100 + i) },
      params: obj({ instance: doc('notes', i) }),
    })),
    some(3).map((i) => ({
      create: { ref: { keys: null }, id: String(200 + i) },
      params: obj({ role: 'client' }),
    })),
  );
const steps = fc.array(
  fc
    .constantFrom<Name>('a', 'b', 'b')
    .chain((name) => things(name).map((make): Step => ({ in: name, make }))),
  { minLength: 5, maxLength: 25 },
);

const NATIVES = [
  'collections',
  'indexes',
  'functions',
  'roles',
  'databases',
  'keys',
  'tokens',
  'credentials',
  'access_providers',
];
const QUESTIONS: readonly Query[] = [
  ...NATIVES.flatMap((name) => [{ paginate: { [name]: null } }, { count: { [name]: null } }]),
  { paginate: { documents: coll('notes') } },
  { paginate: { documents: coll('notes') }, events: true },
  { count: { documents: coll('notes') } },
  { paginate: { match: { index: 'by_n' }, terms: 1 } },
  { paginate: { match: { index: 'by_n' }, terms: 1 }, events: true },
  { contains_value: doc('notes', 1), in: { match: { index: 'by_n' }, terms: 1 } },
  [1, 2, 3, 4].map((id) => ({ exists: doc('notes', id) })),
  [1, 2, 3].map((i) => ({ exists: { collection: `c${i}` } })),
  { get: doc('notes', 1) },
  { paginate: doc('notes', 2), events: true },
  { call: { function: 'f1' }, arguments: null },
  { identify: doc('notes', 1), password: 'p1' },
  { identify: doc('notes', 2), password: 'wrong' },
  // Unique values, names and ids that the other child database may already use.
  create(doc('notes', 9), { n: 1, only: 'x' }),
  create(doc('notes', 1), {}),
  { create_collection: obj({ name: 'c1' }) },
  { create_role: obj({ name: 'r1' }) },
  { create_database: obj({ name: 'd1' }) },
  { create: { ref: { tokens: null }, id: '101' }, params: obj({ instance: doc('notes', 1) }) },
  { get: { ref: { keys: null }, id: '201' } },
  { get: { documents: { collection: 'notes', scope: { database: 'b' } } } },
  { paginate: { collections: { database: 'b' } } },
  { exists: { database: 'b' } },
];

async function worldOf(all: readonly Step[], has: (step: Step) => boolean): Promise<EngineWorld> {
  const w = new EngineWorld();
  const start = w.now;
  const askAt = (seconds: number, query: Query, name: Name) => {
    w.now = start + seconds * SECOND;
    return w.answer(query, { secret: `${ROOT}:${name}:admin` });
  };
  await w.ask({ create_database: obj({ name: 'a' }) });
  await w.ask({ create_database: obj({ name: 'b' }) });
  const source = coll('notes');
  const term = (name: string) => [obj({ field: ['data', name] })];
  for (const [i, name] of (['a', 'b'] as const).entries()) {
    await askAt(10 + i * 5, { create_collection: obj({ name: 'notes' }) }, name);
    const byN = { name: 'by_n', source, terms: term('n') };
    await askAt(11 + i * 5, { create_index: obj(byN) }, name);
    const unique = { name: 'only', source, terms: term('only'), unique: true };
    await askAt(12 + i * 5, { create_index: obj(unique) }, name);
  }
  await w.engine.buildIndexes();
  for (const [i, step] of all.entries()) {
    if (has(step)) await askAt(100 + i, step.make, step.in);
  }
  if (has({ in: 'b', make: null })) {
    await askAt(200, create(doc('notes', 8), { n: 1, only: 'x' }), 'b');
  }
  w.now = start + 1000 * SECOND;
  return w;
}

/** Replaces what differs randomly between worlds: secrets, hashes, generated ids, times. */
function shownOf({ status, body, metrics }: QueryAnswer) {
  const told = body
    .replaceAll(/"(hashed_secret|secret|global_id)":"[^"]*"/g, '"$1":"*"')
    .replaceAll(/"ts":\d+/g, '"ts":0');
  const { queryTime: _, ...work } = metrics;
  return { status, told, work };
}

test(
  'answers in one child database do not depend on what happens in another',
  () =>
    fc.assert(
      fc.asyncProperty(steps, async (all) => {
        const both = await worldOf(all, () => true);
        const alone = await worldOf(all, (step) => step.in === 'a');
        for (const question of QUESTIONS) {
          const asked = { secret: `${ROOT}:a:admin` };
          expect([question, shownOf(await both.answer(question, asked))]).toEqual([
            question,
            shownOf(await alone.answer(question, asked)),
          ]);
        }
      }),
      { numRuns: CASES },
    ),
  300_000 + CASES * 300,
);

/** The root secret with the scope of an admin of a child. */
const childOf = (name: Name) => ({ secret: `${ROOT}:${name}:admin` });

async function twins(): Promise<EngineWorld> {
  const w = new EngineWorld();
  for (const name of ['a', 'b'] as const) {
    await w.ask({ create_database: obj({ name }) });
    await w.ask({ create_collection: obj({ name: 'users' }) }, childOf(name));
    const params = { credentials: obj({ password: name }) };
    await w.ask(create(doc('users', 1), { name }, params), childOf(name));
  }
  return w;
}

test('keys and tokens with the same id in two databases each open their own database', async () => {
  const w = await twins();
  const secrets: [string, string][] = [];
  for (const name of ['a', 'b'] as const) {
    const make = (target: string, params: Record<string, unknown>) =>
      w.document(
        { create: { ref: { [target]: null }, id: '77' }, params: obj(params) },
        childOf(name),
      );
    secrets.push([name, (await make('keys', { role: 'server' })).secret]);
    secrets.push([name, (await make('tokens', { instance: doc('users', 1) })).secret]);
  }
  for (const [name, secret] of secrets) {
    expect((await w.engine.authenticate(secret))?.database).toEqual([name]);
  }
});

test('secrets of one database are invalid in another (P2)', async () => {
  const w = await twins();
  const login = { login: doc('users', 1), params: obj({ password: 'a' }) };
  const forB = { login: doc('users', 1), params: obj({ password: 'b' }) };
  const token = await w.document(login, childOf('a'));
  const key = await w.document({ create_key: obj({ role: 'admin' }) }, childOf('a'));
  expect(await w.fault(login, childOf('b'))).toMatchObject({ code: 'authentication failed' });
  for (const { secret } of [token, key]) {
    expect(await w.fault({ key_from_secret: secret }, childOf('b'))).toMatchObject({
      code: 'instance not found',
    });
    for (const scope of ['b:admin', 'a:admin', '../b:admin']) {
      const { status } = await w.answer(
        { count: { keys: null } },
        { secret: `${secret}:${scope}` },
      );
      // Tokens have no scopes: the suffix is ignored, and the token is used.
      expect([scope, status]).toEqual([scope, secret === token.secret ? 403 : 401]);
    }
  }
  // The text of a token names its database: with another name, it is not the text that was given out.
  const parts = parseSecret(token.secret);
  const other = parseSecret((await w.document(forB, childOf('b'))).secret);
  if (parts?.kind !== 'token' || other?.kind !== 'token') throw new Error('a login gives tokens');
  const { databaseGlobalId } = other;
  for (const [secret, status] of [
    [secretText(parts), 200],
    [secretText({ ...parts, databaseGlobalId }), 401],
    [secretText({ ...parts, databaseGlobalId: 0n }), 401],
  ] as const)
    expect([secret, (await w.answer({ has_current_token: null }, { secret })).status]).toEqual([
      secret,
      status,
    ]);
  // A ref of one child database does not exist in the other.
  const foreign = JSON.parse(JSON.stringify(await w.ask(coll('users'), childOf('a')))) as Query;
  await w.ask({ delete: coll('users') }, childOf('b'));
  expect(await w.fault({ get: foreign }, childOf('b'))).toMatchObject({ code: 'invalid ref' });
});

test('roles of a parent database give no access to a child database', async () => {
  const w = await twins();
  const scope = { database: 'a' };
  const inside = { collection: 'users', scope };
  const body = { query: { lambda: '_', expr: 5 } };
  // In the child there is the same, under the same names and ids.
  await w.ask({ create_collection: obj({ name: 'users' }) });
  for (const asked of [{ secret: ROOT }, childOf('a')]) {
    await w.ask({ create_index: obj({ name: 'all', source: coll('users') }) }, asked);
    await w.ask({ create_function: obj({ name: 'f', body }) }, asked);
  }
  await w.ask(create(doc('users', 1), { name: 'root' }, { credentials: obj({ password: 'r' }) }));
  const every = (...actions: string[]) => obj(Object.fromEntries(actions.map((a) => [a, true])));
  const document = every('read', 'write', 'create', 'delete', 'create_with_id', 'history_read');
  const privileges = [
    obj({ resource: coll('users'), actions: document }),
    obj({ resource: { index: 'all' }, actions: every('read', 'unrestricted_read') }),
    obj({ resource: { function: 'f' }, actions: every('call') }),
    ...['databases', 'keys', 'collections', 'indexes', 'functions', 'tokens'].map((kind) =>
      obj({ resource: { [kind]: null }, actions: document }),
    ),
  ];
  await w.ask({
    create_role: obj({ name: 'r', privileges, membership: obj({ resource: coll('users') }) }),
  });
  const key = await w.document({ create_key: obj({ role: 'r' }) });
  const token = await w.document({ login: doc('users', 1), params: obj({ password: 'r' }) });
  const readings = (at: { readonly scope?: Query }) => [
    { get: { ref: { collection: 'users', ...at }, id: '1' } },
    { paginate: { ref: { collection: 'users', ...at }, id: '1' }, events: true },
    { count: { match: { index: 'all', ...at } } },
    { call: { function: 'f', ...at }, arguments: null },
    { get: { function: 'f', ...at } },
    { paginate: { keys: at.scope ?? null } },
    { paginate: { collections: at.scope ?? null } },
  ];
  for (const caller of [key, token]) {
    expect(await w.ask({ exists: { database: 'a' } }, caller)).toBe(true);
    for (const query of readings({})) await w.ask(query, caller);
    for (const query of [
      ...readings({ scope }),
      { delete: { ref: inside, id: '1' } },
      { update: { ref: inside, id: '1' }, params: obj({}) },
      { create: inside, params: obj({}) },
    ]) {
      const { code } = await w.fault(query, caller);
      expect([query, code]).toEqual([query, expect.stringMatching(/permission denied|argument$/)]);
    }
    expect(await w.page({ paginate: { documents: inside } }, caller)).toEqual([]);
    expect(await w.ask({ exists: { ref: inside, id: '1' } }, caller)).toBe(false);
  }
  expect((await w.answer(null, { secret: `${key.secret}:a:@role/r` })).status).toBe(401);
  // An admin of the parent may read. Writing needs a key or scope of the child.
  expect(await w.ask({ exists: { ref: inside, id: '1' } })).toBe(true);
  expect(await w.fault({ delete: { ref: inside, id: '1' } })).toMatchObject({
    code: 'invalid argument',
  });
});

test('only admin keys reach into a child database: a server key acts only for documents of its own', async () => {
  const w = await twins();
  await w.ask({ create_collection: obj({ name: 'users' }) });
  await w.ask(create(doc('users', 1), {}));
  const keyOf = async (role: string) => (await w.document({ create_key: obj({ role }) })).secret;
  const whoWith = async (secret: string) =>
    (await w.answer({ current_identity: null }, { secret })).status;
  const [admin, server] = [await keyOf('admin'), await keyOf('server')];
  expect(await whoWith(`${admin}:@doc/users/1`)).toBe(200);
  expect(await whoWith(`${admin}:a:@doc/users/1`)).toBe(200);
  expect(await whoWith(`${server}:@doc/users/1`)).toBe(200);
  for (const scope of ['a:@doc/users/1', 'a:server', 'a:admin', 'a:@role/r', 'admin', '@role/r'])
    expect([scope, await whoWith(`${server}:${scope}`)]).toEqual([scope, 401]);
});

test('a key for a child database gets no role from a ref to a role of the parent, though the child has a role of that id', async () => {
  const w = await twins();
  const role = (name: string, read: boolean) => ({
    create_role: obj({
      name,
      privileges: [obj({ resource: coll('users'), actions: obj({ read }) })],
    }),
  });
  await w.ask({ create_collection: obj({ name: 'users' }) });
  await w.ask(role('closed', false));
  await w.ask(role('open', true), childOf('a'));
  const keyWith = (given: Query) =>
    w.document({ create_key: obj({ role: given, database: { database: 'a' } }) });
  const get = { get: doc('users', 1) };
  for (const given of [{ role: 'closed' }, [{ role: 'closed' }]])
    expect(await w.fault(get, await keyWith(given))).toMatchObject({ code: 'permission denied' });
  expect(await w.ask(get, await keyWith('open'))).toMatchObject({ data: { name: 'a' } });
});

test('a function of a child database resolves names there, and cannot write when the parent calls it', async () => {
  const w = await twins();
  const users = coll('users');
  await w.ask({ create_collection: obj({ name: 'users' }) });
  await w.ask(create(doc('users', 1), { name: 'root' }));
  const source = users;
  const name = { select: ['data', 'name'], from: { get: doc('users', 1) } };
  const bodies: Record<string, Query> = {
    by_ref: name,
    by_call: { call: { function: 'by_ref' }, arguments: null },
    by_index: { count: { match: { index: 'all' } } },
    in_sets: { count: { documents: users } },
    natives: { select: ['data', 0, 'id'], from: { paginate: { indexes: null } } },
    as_role: name,
    make: { create: users, params: obj({}) },
    make_by_name: { create: 'users', params: obj({}) },
    foreign: { var: 'x' },
  };
  const privileges = [
    obj({
      resource: users,
      actions: obj({
        read: {
          query: {
            lambda: 'ref',
            expr: { equals: [{ var: 'ref' }, doc('users', 1)] },
          },
        },
      }),
    }),
  ];
  await w.ask({ create_role: obj({ name: 'reader', privileges }) }, childOf('a'));
  for (const [each, expr] of Object.entries(bodies)) {
    const body = { query: { lambda: 'x', expr } };
    const role = each === 'as_role' ? { role: { role: 'reader' } } : {};
    await w.ask({ create_function: obj({ name: each, body, ...role }) }, childOf('a'));
  }
  await w.ask({ create_index: obj({ name: 'all', source }) }, childOf('a'));
  await w.engine.buildIndexes();
  const call = (each: string, argument: Query = null) => ({
    call: { function: each, scope: { database: 'a' } },
    arguments: argument,
  });
  for (const secret of [childOf('a'), {}]) {
    const asked = (each: string) =>
      'secret' in secret ? { call: { function: each }, arguments: null } : call(each);
    for (const each of ['by_ref', 'by_call', 'as_role'])
      expect([each, await w.ask(asked(each), secret)]).toEqual([each, 'a']);
    expect(await w.ask(asked('by_index'), secret)).toBe(1);
    expect(await w.ask(asked('in_sets'), secret)).toBe(1);
    expect(await w.ask(asked('natives'), secret)).toBe('all');
  }
  for (const each of ['make', 'make_by_name'])
    expect(await w.fault(call(each))).toMatchObject({
      code: 'call error',
      cause: [{ code: 'invalid argument', description: 'Cannot write a scoped ref.' }],
    });
  expect(await w.ask({ count: { documents: users } })).toBe(1);
  // Refs in the argument keep their meaning, and after the call, names are resolved in the caller's database again.
  const both = [
    call('by_ref'),
    { select: ['data', 'name'], from: { get: call('foreign', doc('users', 1)) } },
    name,
  ];
  expect(await w.ask(both)).toEqual(['a', 'root', 'root']);
});

test('lambdas of a child’s function resolve names in the child, wherever their set is read', async () => {
  const w = await twins();
  const inside = (name: string) => ({ collection: name, scope: { database: 'a' } });
  for (const [secret, seen] of [
    [childOf('a'), [1, 2]],
    [{}, [3]],
  ] as const) {
    for (const name of ['things', 'seen'])
      await w.ask({ create_collection: obj({ name }) }, secret);
    for (const id of [1, 2, 3]) await w.ask(create(doc('things', id), {}), secret);
    for (const id of seen) await w.ask(create(doc('seen', id), {}), secret);
  }
  const things = { documents: coll('things') };
  const isSeen = { exists: { ref: coll('seen'), id: { select: 'id', from: { var: 'each' } } } };
  const same = { singleton: { ref: coll('seen'), id: { select: 'id', from: { var: 'each' } } } };
  const notX = { not: { equals: [{ var: 'x' }, { var: 'own' }, { var: 'each' }] } };
  const bodies: Record<string, Query> = {
    filtered: { filter: { lambda: 'each', expr: isSeen }, collection: things },
    joined: { join: things, with: { lambda: 'each', expr: same } },
    captured: {
      let: { own: doc('things', 1) },
      in: { filter: { lambda: 'each', expr: notX }, collection: things },
    },
    page_of: { count: { var: 'x' } },
    unknown: coll('nowhere'),
  };
  for (const [name, expr] of Object.entries(bodies)) {
    const body = { query: { lambda: 'x', expr } };
    await w.ask({ create_function: obj({ name, body }) }, childOf('a'));
  }
  const call = (each: string, argument: Query = null) => ({
    call: { function: each, scope: { database: 'a' } },
    arguments: argument,
  });
  const idsOf = async (set: Query) =>
    w.ask({
      map: { lambda: 'each', expr: { select: 'id', from: { var: 'each' } } },
      collection: { select: 'data', from: { paginate: set } },
    });
  expect(await idsOf(call('filtered'))).toEqual(['1', '2']);
  expect(await idsOf(call('joined'))).toEqual(['1', '2']);
  // Names in a lambda of the caller refer to the caller's database, also when the function applies the lambda.
  const own = { filter: { lambda: 'each', expr: isSeen }, collection: things };
  expect(await w.ask(call('page_of', own))).toBe(1);
  // Captured values are written with refs as the caller sees them, so that the caller can send them again.
  const captured = await w.ask(call('captured', doc('things', 1)));
  const given = { ref: inside('things'), id: '1' };
  const [x, child] = (await w.ask([doc('things', 1), given])) as unknown[];
  expect(captured).toMatchObject({ '@set': { filter: { expr: { let: { x, own: child } } } } });
  expect(await idsOf(captured)).toEqual(await idsOf(call('captured', doc('things', 1))));
  expect(await w.ask(call('unknown'))).toMatchObject({
    '@ref': { id: 'nowhere', database: { '@ref': { id: 'a' } } },
  });
});

test('a database created again under a deleted name contains nothing of the deleted one (P2)', async () => {
  const w = await twins();
  const token = await w.document(
    { login: doc('users', 1), params: obj({ password: 'a' }) },
    childOf('a'),
  );
  const { secret } = await w.document({ create_key: obj({ role: 'admin' }) }, childOf('a'));
  await w.ask({ delete: { database: 'a' } });
  expect((await w.answer(null, childOf('a'))).status).toBe(401);
  await w.ask({ create_database: obj({ name: 'a' }) });
  for (const name of NATIVES)
    expect(await w.ask({ count: { [name]: null } }, childOf('a'))).toBe(0);
  for (const old of [token.secret, secret]) {
    expect(await w.engine.authenticate(old)).toBeUndefined();
  }
  expect(await w.ask({ exists: doc('users', 1) }, childOf('b'))).toBe(true);
});

test('a commit in one database does not affect live queries of another', async () => {
  const w = await twins();
  const source = coll('users');
  for (const name of ['a', 'b'] as const) {
    await w.ask({ create_index: obj({ name: 'all', source }) }, childOf(name));
  }
  await w.engine.buildIndexes();
  const live = [
    { paginate: { match: { index: 'all' } } },
    { paginate: { documents: source } },
    { get: doc('users', 1) },
    { exists: doc('users', 2) },
    { paginate: { collections: null } },
    { count: { keys: null } },
  ];
  const answers = await Promise.all(live.map((query) => w.answer(query, childOf('a'))));
  const notices: CommitNotice[] = [];
  w.engine.onCommit((notice) => notices.push(notice));
  const writes = [
    create(doc('users', 2), {}),
    { update: doc('users', 1), params: obj({ data: obj({ n: 1 }) }) },
    { delete: doc('users', 2) },
    { create_collection: obj({ name: 'more' }) },
    { create_role: obj({ name: 'r' }) },
  ];
  for (const query of writes) await w.ask(query, childOf('b'));
  expect(notices).toHaveLength(writes.length);
  for (const notice of notices) {
    for (const { readSet } of answers) expect(new Changes([notice]).touches(readSet)).toBe(false);
  }
  await w.ask(create(doc('users', 2), {}), childOf('a'));
  await Promise.resolve();
  const [last] = notices.slice(-1);
  expect(last && answers.some(({ readSet }) => new Changes([last]).touches(readSet))).toBe(true);
});
