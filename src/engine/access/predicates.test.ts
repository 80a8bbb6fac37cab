import { expect, test } from 'vitest';
import {
  coll,
  create,
  doc,
  obj,
  ROOT,
  type EngineWorld,
  type Query,
} from '../testing/engine-world.ts';
import {
  DENIED,
  on,
  v,
  at,
  both,
  equal,
  data,
  privilege,
  world,
  keyWith,
  login,
  notes,
  all,
} from '../testing/role-notes.ts';

test('a function with a role has only the rights of that role, and keeps the identity of its caller', async () => {
  const w = await world();
  await w.ask({
    create_role: obj({ name: 'reader', privileges: [privilege(notes, { read: true })] }),
  });
  const body = on('r', [at(['data', 'n'], { get: v('r') }), { current_identity: null }]);
  await w.ask({ create_function: obj({ name: 'peek', body, role: { role: 'reader' } }) });
  await w.ask({
    create_role: obj({
      name: 'caller',
      privileges: [privilege({ function: 'peek' }, { call: true })],
      membership: [obj({ resource: coll('users') })],
    }),
  });
  const one = await login(w, 1);
  expect(await w.ask({ call: { function: 'peek' }, arguments: doc('notes', 2) }, one)).toEqual([
    2,
    expect.objectContaining({ '@ref': expect.objectContaining({ id: '1' }) }),
  ]);
  expect(await w.fault({ get: doc('notes', 2) }, one)).toMatchObject(DENIED);
});

test('a membership predicate gets the identity, and does not see what the same query has written', async () => {
  const w = await world();
  const team = at(['data', 'team'], { get: v('who') });
  await w.ask({
    create_role: obj({
      name: 'reds',
      privileges: [privilege(notes, { read: true })],
      membership: [obj({ resource: coll('users'), predicate: on('who', equal(team, 'red')) })],
    }),
  });
  await w.ask({
    create_role: obj({
      name: 'self-service',
      privileges: [privilege(coll('users'), { write: true })],
      membership: [obj({ resource: coll('users') })],
    }),
  });
  const [one, two] = [await login(w, 1), await login(w, 2)];
  expect(await w.page(all, one)).toHaveLength(3);
  expect(await w.page(all, two)).toEqual([]);
  const join = { update: doc('users', 2), params: data({ team: 'red' }) };
  expect(await w.fault({ do: [join, { get: doc('notes', 1) }] }, two)).toMatchObject(DENIED);
  await w.ask(join, two);
  expect(await w.page(all, two)).toHaveLength(3);
  // Keys that act as a document have its memberships.
  const secret = 'root-secret:@doc/users/1';
  expect(await w.page(all, { secret })).toHaveLength(3);
});

test('predicates ignore an outer `at`, and see what the query has written', async () => {
  const w = await world();
  const open = on('r', equal(at(['data', 'open'], { get: v('r') }), true));
  const key = await keyWith(w, privilege(notes, { read: open, write: true }));
  const before = w.now;
  const set = (value: boolean) => ({ update: doc('notes', 1), params: data({ open: value }) });
  expect(await w.fault({ get: doc('notes', 1) }, key)).toMatchObject(DENIED);
  expect(await w.ask({ do: [set(true), { exists: doc('notes', 1) }] }, key)).toBe(true);
  expect(await w.ask({ at: before, expr: { get: doc('notes', 1) } }, key)).toMatchObject({
    data: { n: 1 },
  });
  expect(await w.ask({ at: before, expr: all }, key)).toMatchObject({ data: [expect.anything()] });
});

test('predicates can read every document and index, and call functions that write nothing', async () => {
  const w = await world();
  await w.ask({ create_index: obj({ name: 'all', source: notes }) });
  const body = (expr: Query) => on('r', expr);
  await w.ask({ create_function: obj({ name: 'yes', body: body(true) }) });
  await w.ask({
    create_function: obj({ name: 'writes', body: body({ do: [{ create: notes }, true] }) }),
  });
  const reads = both(
    { exists: doc('users', 1) },
    equal({ count: { match: { index: 'all' } } }, 3),
    { call: { function: 'yes' }, arguments: v('r') },
    { not: { exists: { role: 'nobody' } } },
  );
  const key = await keyWith(w, privilege(notes, { read: on('r', reads) }));
  expect(await w.page(all, key)).toHaveLength(3);
  const writes = { call: { function: 'writes' }, arguments: v('r') };
  const none = await keyWith(w, privilege(notes, { read: on('r', writes) }));
  expect(await w.page(all, none)).toEqual([]);
  expect(await w.ask({ count: { documents: notes } })).toBe(3);
});

test('a predicate reads no document, index or function of a child database', async () => {
  const w = await world();
  await w.ask({ create_database: obj({ name: 'inner' }) });
  const inner = { secret: `${ROOT}:inner:admin` };
  const scope = { database: 'inner' };
  for (const each of [{}, inner]) {
    if (each === inner) await w.ask({ create_collection: obj({ name: 'notes' }) }, each);
    if (each === inner) await w.ask(create(doc('notes', 1), {}), each);
    await w.ask({ create_index: obj({ name: 'all', source: notes }) }, each);
    await w.ask({ create_function: obj({ name: 'yes', body: on('_', true) }) }, each);
  }
  const reads = (there: object): readonly Query[] => [
    { exists: { ref: { collection: 'notes', ...there }, id: '1' } },
    { exists: { match: { index: 'all', ...there } } },
    { is_nonempty: { documents: { collection: 'notes', ...there } } },
    { call: { function: 'yes', ...there }, arguments: null },
  ];
  for (const read of reads({})) {
    const key = await keyWith(w, privilege(notes, { read: on('_', read) }));
    expect([read, await w.page(all, key)]).toEqual([read, expect.objectContaining({ length: 3 })]);
  }
  for (const read of reads({ scope })) {
    // An admin may read it.
    expect([read, await w.ask(read)]).toEqual([read, true]);
    const key = await keyWith(w, privilege(notes, { read: on('_', read) }));
    expect([read, await w.page(all, key)]).toEqual([read, []]);
  }
});

test('a predicate that takes too many steps or calls itself endlessly denies access (A8)', async () => {
  const w = await world();
  const busy = { reduce: { lambda: ['a', 'b'], expr: true }, initial: 0, collection: LONG };
  const key = await keyWith(w, privilege(notes, { read: on('r', busy) }));
  expect(await w.fault({ get: doc('notes', 1) }, key)).toMatchObject(DENIED);

  await w.ask({ create_role: obj({ name: 'loop' }) });
  const twice = { do: [{ get: v('r') }, { get: v('r') }, true] };
  await w.ask({
    create_function: obj({ name: 'f', body: on('r', twice), role: { role: 'loop' } }),
  });
  const call = { call: { function: 'f' }, arguments: v('r') };
  await w.ask({
    update: { role: 'loop' },
    params: obj({ privileges: [privilege(notes, { read: on('r', { or: [call, call] }) })] }),
  });
  const loop = await w.document({ create_key: obj({ role: 'loop' }) });
  expect(await w.fault({ get: doc('notes', 1) }, loop)).toMatchObject(DENIED);
});

const LONG = Array.from({ length: 50_000 }, () => 0);

test('a predicate that exceeds a limit of texts, call depth, patterns or passwords denies access (A8)', async () => {
  const w = await world();
  const isPassword = { identify: doc('users', 1), password: 'p' };
  const limited: Record<string, Query> = {
    'too large a text': {
      equals: [{ repeat: { repeat: 'x'.repeat(1024), number: 1024 }, number: 1024 }, ''],
    },
    'too deep a call': { call: { function: 'deep' }, arguments: v('r') },
    'too much work for a pattern': { containsstrregex: 'a'.repeat(30_000), pattern: '(a*)*b' },
  };
  await w.ask({
    create_function: obj({
      name: 'deep',
      body: on('r', { call: { function: 'deep' }, arguments: v('r') }),
    }),
  });
  for (const [what, expr] of Object.entries(limited)) {
    const key = await keyWith(w, privilege(notes, { read: on('r', { do: [expr, true] }) }));
    expect([what, await w.fault({ get: doc('notes', 1) }, key)]).toMatchObject([what, DENIED]);
    expect([what, await w.page(all, key)]).toEqual([what, []]);
  }
  const byPassword = await keyWith(w, privilege(notes, { read: on('r', isPassword) }));
  expect(await w.page(all, byPassword)).toHaveLength(3);
  for (let i = 0; i < 5; i += 1) await w.ask({ ...isPassword, password: `${i}` });
  expect(await w.page(all, byPassword)).toEqual([]);
});

test('a query that runs out of time in its predicates fails instead of returning part of a result', async () => {
  const w = await world();
  const made = Array.from({ length: 300 }, (_, i) => create(doc('notes', 100 + i), { n: i }));
  await w.ask({ do: made });
  const reads = equal(at(['data', 'n'], { get: v('r') }), 1);
  const { secret = '' } = await keyWith(w, privilege(notes, { read: on('r', reads) }));
  const query = JSON.stringify({ count: { documents: notes } });
  const request = { secret, query, apiVersion: '4', allows: 'read', timeoutMs: 10 } as const;
  expect((await w.engine.query(request)).status).toBe(200);
  // Each reading of the clock advances it by a second.
  let { now } = w;
  Object.defineProperty(w, 'now', { get: () => (now += 1_000_000) });
  expect((await w.engine.query(request)).status).toBe(503);
});

test('a filtered page is full, and takes no separate request for each row', async () => {
  const w = await world();
  const fields = [obj({ field: ['data', 'n'] })];
  await w.ask({ create_index: obj({ name: 'all_n', source: notes, values: fields }) });
  const made = Array.from({ length: 300 }, (_, i) => create(doc('notes', 100 + i), { n: i }));
  await w.ask({ do: made });
  const odd = { equals: [{ modulo: [at(['data', 'n'], { get: v('r') }), 2] }, 1] };
  const key = await keyWith(
    w,
    privilege(notes, { read: on('r', odd) }),
    privilege({ index: 'all_n' }, { read: true }),
  );
  for (const set of [{ documents: notes }, { match: { index: 'all_n' } }]) {
    const page = { paginate: set };
    const requests = await requestsOf(w, () => w.ask(page, key));
    expect(requests).toBeLessThanOrEqual((await requestsOf(w, () => w.ask(page))) + 3);
    expect(await w.page(page, key)).toHaveLength(64);
  }
});

/** Counts the requests to the store while nothing is cached. */
async function requestsOf(w: EngineWorld, body: () => Promise<unknown>): Promise<number> {
  const none = { rows: [], entries: [] };
  w.engine.applyCommit({ previous: -1, ts: -2, ...none });
  const read = w.store.read.bind(w.store);
  let requests = 0;
  w.store.read = (run) =>
    read((tx) =>
      run({
        ...tx,
        fetch: (...needs) => {
          requests += 1;
          return tx.fetch(...needs);
        },
      }),
    );
  await body();
  w.store.read = read;
  return requests;
}
