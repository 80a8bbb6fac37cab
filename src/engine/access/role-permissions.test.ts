import { expect, test } from 'vitest';
import { create, doc, obj, type Query } from '../testing/engine-world.ts';
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
  notes,
  all,
  ids,
} from '../testing/role-notes.ts';

test('a read predicate gets a ref, and any result but true denies access', async () => {
  const w = await world();
  const n = at(['data', 'n'], { get: v('r') });
  const some = await keyWith(w, privilege(notes, { read: on('r', { lt: [1, n] }) }));
  expect(await w.ask({ get: doc('notes', 2) }, some)).toMatchObject({ data: { n: 2 } });
  expect(await w.fault({ get: doc('notes', 1) }, some)).toMatchObject({ ...DENIED, position: [] });
  expect(await w.fault({ get: doc('notes', 9) }, some)).toMatchObject({ ...DENIED, position: [] });
  expect(await w.ask({ exists: doc('notes', 1) }, some)).toBe(false);
  expect(ids(await w.page(all, some))).toEqual(['2', '3']);
  expect(await w.ask({ count: { documents: notes } }, some)).toBe(2);
  const noes: readonly Query[] = [
    on('r', 1),
    on('r', { get: doc('notes', 99) }),
    on('r', { do: [{ create: notes }, true] }),
    on('r', { do: [{ paginate: { events: v('r') } }, true] }),
    on('r', { do: [{ paginate: { keys: null } }, true] }),
    on(['a', 'b'], true),
    on('r', { reduce: { lambda: ['a', 'b'], expr: true }, initial: 0, collection: v('r') }),
  ];
  for (const no of noes) {
    const none = await keyWith(w, privilege(notes, { read: no }));
    expect(await w.fault({ get: doc('notes', 1) }, none)).toMatchObject(DENIED);
    expect(await w.page(all, none)).toEqual([]);
  }
});

test('access is granted if any of several roles grants it', async () => {
  const w = await world();
  const id = at(['id'], v('r'));
  const key = await keyWith(
    w,
    privilege(notes, { read: on('r', equal(id, '1')) }),
    privilege(notes, { read: false, delete: true }),
    privilege(notes, { read: on('r', equal(id, '3')) }),
  );
  expect(ids(await w.page(all, key))).toEqual(['1', '3']);
  await w.ask({ delete: doc('notes', 2) }, key);
});

test('the predicate of an index gets the terms as an array; its entries are filtered by their documents', async () => {
  const w = await world();
  const fields = (...names: readonly string[]) =>
    names.map((name) => obj({ field: ['data', name] }));
  const index = { name: 'by_n', source: notes, terms: fields('n') };
  await w.ask({ create_index: obj(index) });
  await w.ask({ create_index: obj({ name: 'all_n', source: notes, values: fields('n') }) });
  const by = (n: number) => ({ paginate: { match: { index: 'by_n' }, terms: n } });
  const every = { paginate: { match: { index: 'all_n' } } };
  const term = on('terms', { lt: [at([0], v('terms')), 3] });
  const read = { read: true };

  const open = await keyWith(
    w,
    privilege({ index: 'by_n' }, { read: term }),
    privilege(notes, { read: on('r', equal(at(['id'], v('r')), '1')) }),
    privilege({ index: 'all_n' }, read),
  );
  expect(await w.page(by(1), open)).toHaveLength(1);
  expect(await w.page(by(2), open)).toEqual([]);
  expect(await w.fault(by(3), open)).toMatchObject({ ...DENIED, position: ['paginate'] });
  expect(await w.page(every, open)).toEqual([1]);
  for (const reader of ['get', 'exists', 'count', 'first', 'identify', 'login']) {
    const more = { identify: { password: 'x' }, login: { params: obj({ password: 'x' }) } };
    const query = {
      [reader]: { match: { index: 'by_n' }, terms: 3 },
      ...more[reader as 'identify'],
    };
    expect(await w.fault(query, open)).toMatchObject({ ...DENIED, position: [reader] });
  }

  const unrestricted = privilege({ index: 'all_n' }, { unrestricted_read: on('t', true) });
  const whole = await keyWith(w, unrestricted, privilege({ index: 'by_n' }, read));
  expect(await w.page(every, whole)).toEqual([1, 2, 3]);
  // In a union with a filtered set, this set is filtered too.
  const union = { union: [{ match: { index: 'all_n' } }, { match: { index: 'by_n' }, terms: 1 }] };
  expect(await w.page({ paginate: union }, whole)).toEqual([]);
});

test('an unrestricted_read predicate of a collection gets null', async () => {
  const w = await world();
  const only = await keyWith(
    w,
    privilege(notes, { unrestricted_read: on('x', { is_null: v('x') }) }),
  );
  expect(ids(await w.page(all, only))).toEqual(['1', '2', '3']);
  expect(await w.fault({ get: doc('notes', 1) }, only)).toMatchObject(DENIED);
  expect(await w.fault({ get: { documents: notes } }, only)).toMatchObject({
    ...DENIED,
    position: [],
  });
});

test('unreadable operands of a set are left out; if all, or the first of a difference, are unreadable, access is denied', async () => {
  const w = await world();
  await w.ask({ create_index: obj({ name: 'a', source: notes }) });
  await w.ask({ create_index: obj({ name: 'b', source: notes }) });
  const key = await keyWith(
    w,
    privilege({ index: 'a' }, { read: true }),
    privilege(notes, { read: true }),
  );
  const [a, b] = [{ match: { index: 'a' } }, { match: { index: 'b' } }];
  for (const op of ['union', 'intersection', 'difference']) {
    expect(await w.page({ paginate: { [op]: [a, b] } }, key)).toHaveLength(3);
    expect(await w.fault({ paginate: { [op]: [b, b] } }, key)).toMatchObject(DENIED);
  }
  expect(await w.fault({ paginate: { difference: [b, a] } }, key)).toMatchObject({
    ...DENIED,
    position: ['paginate'],
  });
  const joined = (from: Query, to: Query) => ({
    paginate: { join: from, with: { lambda: 'x', expr: to } },
  });
  expect(await w.page(joined(a, b), key)).toEqual([]);
  expect(await w.page(joined(a, { singleton: v('x') }), key)).toHaveLength(3);
  expect(await w.fault(joined(b, a), key)).toMatchObject(DENIED);
});

test('a write predicate gets the old and the new document, and optionally the ref', async () => {
  const w = await world();
  const n = (name: string) => at(['data', 'n'], v(name));
  const grows = on(['old', 'new'], { lt: [n('old'), n('new')] });
  const two = await keyWith(w, privilege(notes, { write: grows }));
  const change = (verb: string, id: number, fields: Record<string, unknown>) => ({
    [verb]: doc('notes', id),
    params: data(fields),
  });
  expect(await w.ask(change('update', 1, { n: 5 }), two)).toMatchObject({ data: { n: 5 } });
  expect(await w.fault(change('update', 1, { n: 4 }), two)).toMatchObject({
    ...DENIED,
    position: [],
  });
  expect(await w.fault(change('update', 9, { n: 4 }), two)).toMatchObject({
    ...DENIED,
    position: [],
  });
  // For `replace`, the predicate gets the same merged document as for `update`.
  const same = on(
    ['old', 'new', 'ref'],
    both(equal(n('old'), n('new')), equal(at(['id'], v('ref')), '2')),
  );
  const three = await keyWith(w, privilege(notes, { write: same }));
  expect(await w.ask(change('replace', 2, { m: 1 }), three)).toMatchObject({ data: { m: 1 } });
  expect(await w.fault(change('replace', 3, { m: 1 }), three)).toMatchObject({
    ...DENIED,
    position: [],
  });
});

test('a create predicate gets the params; a create_with_id predicate also gets the ref if it takes two', async () => {
  const w = await world();
  const one = on('params', equal(at(['data', 'n'], v('params')), 7));
  const makes = await keyWith(w, privilege(notes, { create: one }));
  await w.ask(create(notes, { n: 7 }), makes);
  expect(await w.fault(create(notes, { n: 8 }), makes)).toMatchObject({
    ...DENIED,
    position: ['create'],
  });
  expect(await w.fault(create(doc('notes', 77), { n: 7 }), makes)).toMatchObject(DENIED);
  // Also denied if the document exists: permissions are checked first.
  expect(await w.fault(create(doc('notes', 1), { n: 7 }), makes)).toMatchObject(DENIED);

  const named = on(['params', 'ref'], equal(at(['id'], v('ref')), '71'));
  const withId = await keyWith(w, privilege(notes, { create_with_id: named }));
  await w.ask(create(doc('notes', 71), { n: 1 }), withId);
  expect(await w.fault(create(doc('notes', 72), { n: 1 }), withId)).toMatchObject(DENIED);
  expect(await w.fault(create(notes, { n: 1 }), withId)).toMatchObject(DENIED);
  const single = await keyWith(w, privilege(notes, { create_with_id: one }));
  await w.ask(create(doc('notes', 73), { n: 7 }), single);
  expect(await w.fault(create(doc('notes', 74), { n: 1 }), single)).toMatchObject(DENIED);

  const history = on(
    ['ref', 'ts', 'action', 'data'],
    both(
      equal(at(['id'], v('ref')), '75'),
      { is_integer: v('ts') },
      equal(v('action'), 'create'),
      equal(at(['data', 'n'], v('data')), 7),
    ),
  );
  const either = await keyWith(w, privilege(notes, { create: true, history_write: history }));
  await w.ask(create(doc('notes', 75), { n: 7 }), either);
  expect(await w.fault(create(doc('notes', 76), { n: 7 }), either)).toMatchObject(DENIED);
});

test('predicates of delete, history_read and history_write decide about each document', async () => {
  const w = await world();
  const first = on('r', equal(at(['id'], v('r')), '1'));
  const key = await keyWith(w, privilege(notes, { history_read: first, delete: first }));
  const events = (id: number) => ({ paginate: { events: doc('notes', id) } });
  expect(await w.page(events(1), key)).toHaveLength(1);
  expect(await w.fault(events(2), key)).toMatchObject({ ...DENIED, position: ['paginate'] });
  expect(await w.fault({ paginate: doc('notes', 2) }, key)).toMatchObject(DENIED);
  expect(await w.fault({ delete: doc('notes', 2) }, key)).toMatchObject({
    ...DENIED,
    position: [],
  });
  expect(await w.fault({ delete: doc('notes', 9) }, key)).toMatchObject(DENIED);
  await w.ask({ delete: doc('notes', 1) }, key);

  const old = { ts: w.now - 60_000_000, action: 'create' };
  const write = on(
    ['ref', 'ts', 'action', 'data'],
    both(equal(v('action'), 'create'), equal(at(['data', 'n'], v('data')), 40)),
  );
  const writer = await keyWith(w, privilege(notes, { history_write: write }));
  const insert = (n: number) => ({ insert: doc('notes', 4), ...old, params: data({ n }) });
  await w.ask(insert(40), writer);
  expect(await w.fault(insert(41), writer)).toMatchObject({ ...DENIED, position: [] });
  // For `remove`, the predicate gets the stored data of the version.
  await w.ask({ update: doc('notes', 4), params: data({ n: 42 }) });
  await w.ask({ remove: doc('notes', 4), ...old }, writer);
  const stray = { remove: doc('notes', 3), ...old };
  expect(await w.fault(stray, writer)).toMatchObject({ ...DENIED, position: [] });
});

test('a call predicate gets a single argument bare, and several or none as an array', async () => {
  const w = await world();
  const body = on('x', v('x'));
  await w.ask({ create_function: obj({ name: 'f', body }) });
  const call = (given?: Query) => ({
    call: { function: 'f' },
    ...(given === undefined ? {} : { arguments: given }),
  });
  const one = await keyWith(w, privilege({ function: 'f' }, { call: on('x', equal(v('x'), 1)) }));
  expect(await w.ask(call(1), one)).toBe(1);
  expect(await w.fault(call(2), one)).toMatchObject({ ...DENIED, position: [] });
  const two = await keyWith(
    w,
    privilege({ function: 'f' }, { call: on(['a', 'b'], equal(v('a'), v('b'))) }),
  );
  expect(await w.ask(call([1, 1]), two)).toEqual([1, 1]);
  expect(await w.fault(call(1), two)).toMatchObject(DENIED);
  const none = await keyWith(w, privilege({ function: 'f' }, { call: on('x', equal(v('x'), [])) }));
  expect(await w.ask(call(), none)).toEqual([]);
});

test('roles can name native collections; reading one as a set also needs read on collections', async () => {
  const w = await world();
  const natives = privilege({ collections: null }, { read: true });
  const key = await keyWith(w, natives, privilege({ indexes: null }, { read: true, create: true }));
  expect(await w.page({ paginate: { collections: null } }, key)).toHaveLength(2);
  expect(await w.page({ paginate: { indexes: null } }, key)).toEqual([]);
  expect(await w.page({ paginate: { keys: null } }, key)).toEqual([]);
  await w.ask({ create_index: obj({ name: 'made', source: notes }) }, key);
  expect(await w.page({ paginate: { indexes: null } }, key)).toHaveLength(1);
  expect(await w.fault({ create_collection: obj({ name: 'x' }) }, key)).toMatchObject({
    ...DENIED,
    position: ['create_collection'],
  });
  const blind = await keyWith(w, privilege({ tokens: null }, { read: true }));
  expect(await w.fault({ paginate: { tokens: null } }, blind)).toMatchObject({
    ...DENIED,
    position: ['paginate'],
  });
  expect(await w.page({ paginate: { documents: { tokens: null } } }, blind)).toEqual([]);
  // Refs to schema objects that the caller may not read are treated as missing.
  const index = { create_index: obj({ name: 'y', source: notes }) };
  const maker = await keyWith(w, privilege({ indexes: null }, { create: true }));
  expect(await w.fault(index, maker)).toMatchObject({
    code: 'validation failed',
    failures: [{ code: 'invalid reference' }],
  });
});

test('once a role names a resource, the permissions of the resource itself have no effect', async () => {
  const w = await world();
  await w.ask({ update: notes, params: obj({ permissions: obj({ read: 'public' }) }) });
  const client = await w.document({ create_key: obj({ role: 'client' }) });
  expect(await w.page(all, client)).toHaveLength(3);
  const key = await keyWith(w, privilege(notes, { read: on('r', equal(at(['id'], v('r')), '2')) }));
  expect(await w.page(all, client)).toEqual([]);
  expect(ids(await w.page(all, key))).toEqual(['2']);
});
