import { expect, test } from 'vitest';
import { EngineWorld, ROOT, coll, create, doc, obj } from '../testing/engine-world.ts';

const ref = doc('notes', 1);
const by = (tag: string) => ({ match: { index: 'by_tag' }, terms: tag });
const data = (members: Record<string, unknown>) => obj({ data: obj(members) });
const update = (members: Record<string, unknown>) => ({ update: ref, params: data(members) });
const DAY = 86_400 * 1_000_000;

async function world(): Promise<EngineWorld> {
  const w = new EngineWorld();
  await w.ask({ create_collection: obj({ name: 'notes', history_days: 10_000 }) });
  const field = (name: string) => obj({ field: ['data', name] });
  const parts = { source: coll('notes'), terms: field('tag') };
  await w.ask({ create_index: obj({ name: 'by_tag', ...parts, values: field('n') }) });
  await w.ask({ create_index: obj({ name: 'plain', ...parts }) });
  return w;
}

interface Event {
  readonly ts: number;
  readonly action: string;
  readonly document: unknown;
  readonly data?: unknown;
}
interface EventsPage {
  readonly before?: unknown;
  readonly after?: unknown;
  readonly data: readonly Event[];
}
const pageOf = (w: EngineWorld, target: unknown, more: Record<string, unknown> = {}) =>
  w.ask({ paginate: { events: target }, ...more }) as Promise<EventsPage>;
/** All events, read page by page. Each query gets only the cursor of the previous page, as data. */
async function walked(w: EngineWorld, target: unknown, size: number, side: 'after' | 'before') {
  const events: Event[] = [];
  let options: Record<string, unknown> | undefined = side === 'after' ? {} : { before: null };
  while (options && events.length < 50) {
    const page = (await w.ask({ paginate: target, events: true, size, ...options })) as EventsPage;
    events.splice(side === 'after' ? events.length : 0, 0, ...page.data);
    const cursor = page[side];
    options = cursor === undefined ? undefined : { [side]: { quote: cursor } };
  }
  return events;
}
const briefly = ({ data: events }: EventsPage) => events.map((each) => [each.action, each.data]);

test('events of a document show its changes: null for removed members, whole arrays, nothing for a ttl', async () => {
  const w = await world();
  await w.ask(create(ref, { a: 1, b: { object: { c: 1, d: 2 } }, list: [1, 2] }));
  await w.ask(update({ a: null, b: { object: { c: 3 } }, list: [1] }));
  await w.ask(update({}));
  await w.ask({ update: ref, params: obj({ ttl: { epoch: 2e9, unit: 'second' } }) });
  await w.ask({ delete: ref });
  await w.ask(create(ref));
  const page = await pageOf(w, ref);
  expect(briefly(page)).toEqual([
    ['create', { a: 1, b: { c: 1, d: 2 }, list: [1, 2] }],
    ['update', { a: null, b: { c: 3 }, list: [1] }],
    ['update', null],
    ['update', null],
    ['delete', null],
    ['create', null],
  ]);
  expect(page.data.map((each) => Object.keys(each))).toEqual(
    page.data.map(() => ['ts', 'action', 'document', 'data']),
  );
  // `events: true` for the ref gives the same list.
  expect(await w.ask({ paginate: ref, events: true })).toEqual(page);
});

test('events of a singleton are add and remove events without data', async () => {
  const w = await world();
  await w.ask(create(ref, { a: 1 }));
  await w.ask(update({ a: 2 }));
  await w.ask({ delete: ref });
  await w.ask(create(ref, { a: 3 }));
  const { data: events } = await pageOf(w, { singleton: ref });
  expect(events.map(({ action }) => action)).toEqual(['add', 'remove', 'add']);
  for (const event of events) expect(Object.keys(event)).toEqual(['ts', 'action', 'document']);
});

test('events of a match: removes before adds, nothing for unchanged entries or between the writes of one query', async () => {
  const w = await world();
  await w.ask(create(ref, { tag: 'x', n: 1 }));
  await w.ask(update({ n: 2 }));
  await w.ask(update({ unindexed: 1 }));
  await w.ask(update({}));
  await w.ask({ do: [update({ n: 3 }), update({ n: 2 })] });
  const other = doc('notes', 2);
  await w.ask({ do: [create(other, { tag: 'x', n: 9 }), { delete: other }] });
  await w.ask({ delete: ref });
  await w.ask(create(ref, { tag: 'x', n: 2 }));
  const page = await pageOf(w, by('x'));
  expect(briefly(page)).toEqual([
    ['add', [1]],
    ['remove', [1]],
    ['add', [2]],
    ['remove', [2]],
    ['add', [2]],
  ]);
  expect(page.data[1]?.ts).toBe(page.data[2]?.ts);
  // Events of an index without values have no data.
  const plain = await pageOf(w, { match: { index: 'plain' }, terms: 'x' });
  expect(plain.data.map((each) => Object.keys(each))).toEqual(
    plain.data.map(() => ['ts', 'action', 'document']),
  );
});

test('event cursors can be times, dates, null, or objects with the members of an event', async () => {
  const w = await world();
  const ts: number[] = [];
  for (const n of [1, 2, 3]) {
    w.now += DAY;
    ts.push((await w.answer(n === 1 ? create(ref, { tag: 'x', n }) : update({ n }))).txnTime);
  }
  const [one = 0, two = 0, three = 0] = ts;
  const time = (micros: number) => ({ epoch: micros, unit: 'microsecond' });
  const actionsAfter = async (after: unknown) =>
    (await pageOf(w, by('x'), { after })).data.map(({ action, ts: at }) => [
      action,
      ts.indexOf(at),
    ]);
  const fromTwo = [
    ['remove', 1],
    ['add', 1],
    ['remove', 2],
    ['add', 2],
  ];
  expect(await actionsAfter(two)).toEqual(fromTwo);
  expect(await actionsAfter(time(two))).toEqual(fromTwo);
  expect(await actionsAfter(obj({ ts: two }))).toEqual(fromTwo);
  expect(await actionsAfter(obj({ ts: two, action: 'remove' }))).toEqual(fromTwo);
  expect(await actionsAfter(obj({ ts: two, action: 'add' }))).toEqual(fromTwo.slice(1));
  for (const name of ['document', 'instance', 'resource']) {
    const cursor = { ts: two, action: 'add', [name]: ref };
    expect(await actionsAfter(obj(cursor))).toEqual(fromTwo.slice(1));
  }
  const exact = { ts: two, action: 'add', document: ref, data: [2] };
  expect(await actionsAfter(obj(exact))).toEqual(fromTwo.slice(1));
  const values = { ts: two, action: 'add', resource: ref, values: [2] };
  expect(await actionsAfter(obj(values))).toEqual(fromTwo.slice(1));
  // The day of the last event starts before this event and after the previous one.
  expect(await actionsAfter({ to_date: time(three) })).toEqual(fromTwo.slice(2));
  expect(await actionsAfter(null)).toEqual([]);
  expect(await actionsAfter(one - 1)).toHaveLength(5);
});

test('an event that was read can be sent back as a cursor', async () => {
  const w = await world();
  await w.ask(create(ref, { a: 1 }));
  await w.ask(update({ a: 2 }));
  const { data: all } = await pageOf(w, ref);
  const after = { quote: all[1] };
  expect((await pageOf(w, ref, { after })).data).toEqual(all.slice(1));
});

test('a page of events shows the given cursor as an event, and a complete cursor for the next page', async () => {
  const w = await world();
  const made = await w.answer(create(ref, { tag: 'x', n: 1 }));
  const changed = await w.answer(update({ n: 2 }));
  const page = await pageOf(w, by('x'), { size: 2, after: made.txnTime });
  expect(page.before).toEqual({ ts: made.txnTime, action: 'add' });
  expect(page.after).toMatchObject({ ts: changed.txnTime, action: 'add', data: [2] });
  const rest = await pageOf(w, by('x'), {
    after: obj({ ...(page.after as object), document: ref }),
  });
  expect(briefly(rest)).toEqual([['add', [2]]]);
  const ofDocument = await pageOf(w, ref, { size: 1 });
  expect(Object.keys(ofDocument.after as object)).toEqual(['ts', 'action', 'document']);
  const { body } = await w.answer({ paginate: { events: ref }, before: null });
  expect(body).toContain('"after":{"ts":9223372036854775807');
  // A cursor that is selected inside the query is accepted too.
  const inside = {
    let: [{ page: { paginate: { events: by('x') }, size: 2 } }],
    in: { paginate: { events: by('x') }, after: { select: 'after', from: { var: 'page' } } },
  };
  expect(briefly((await w.ask(inside)) as EventsPage)).toEqual([['add', [2]]]);
});

test('an event cursor beyond all possible times is shown as a cursor that can be sent back', async () => {
  const w = await world();
  const echoed = async (before: unknown) => {
    const { body } = await w.answer({ paginate: { events: ref }, before });
    expect((await w.engine.query(queryOf(body))).status).toBe(200);
    return /"after":{"ts":(-?\d+)/.exec(body)?.[1];
  };
  const queryOf = (body: string) => ({
    secret: ROOT,
    apiVersion: '4' as const,
    allows: 'read' as const,
    query: `{"paginate":{"events":${JSON.stringify(ref)}},"before":{"object":${String(/{"ts":[^}]*}/.exec(body)?.[0])}}}`,
  });
  expect(await echoed({ time: '+1000000000-12-31T23:59:59.999999999Z' })).toBe(
    '9223372036854775807',
  );
  expect(await echoed({ date: '-1000000000-01-01' })).toBe('-9223372036854775808');
  expect(await echoed({ to_integer: '-9223372036854775808' })).toBe('-9223372036854775808');
});

test('invalid event cursors are refused with their position', async () => {
  const w = await world();
  const refused = async (after: unknown) => {
    const { code, position } = await w.fault({ paginate: { events: by('x') }, after });
    return [code, position];
  };
  expect(await refused(obj({ ts: 1, colour: 1 }))).toEqual(['invalid argument', ['after']]);
  expect(await refused(obj({ action: 'add' }))).toEqual(['invalid argument', ['after']]);
  expect(await refused(obj({ ts: 'x' }))).toEqual(['invalid argument', ['after', 'ts']]);
  expect(await refused(obj({ ts: 1, action: 'x' }))).toEqual([
    'invalid argument',
    ['after', 'action'],
  ]);
  expect(await refused('x')).toEqual(['invalid argument', ['after']]);
  expect(await refused(1.5)).toEqual(['invalid argument', ['after']]);
});

test('paginate lists events up to `ts`, and shows their sources on request', async () => {
  const w = await world();
  const { txnTime } = await w.answer(create(ref, { tag: 'x', n: 1 }));
  await w.ask(update({ n: 2 }));
  expect(briefly(await pageOf(w, by('x'), { ts: txnTime }))).toEqual([['add', [1]]]);
  expect(briefly(await pageOf(w, ref, { ts: txnTime }))).toEqual([['create', { tag: 'x', n: 1 }]]);
  const [first] = await w.page({ paginate: { events: ref }, sources: true });
  expect(first).toMatchObject({
    value: { action: 'create' },
    sources: [{ '@set': { events: { '@ref': { id: '1' } } } }],
  });
  const [entry] = await w.page({ paginate: by('x'), events: true, sources: true });
  expect(entry).toMatchObject({
    value: { action: 'add' },
    sources: [{ '@set': { events: { match: { '@ref': { id: 'by_tag' } }, terms: 'x' } } }],
  });
});

test('members of an event can be selected by each of their names', async () => {
  const w = await world();
  await w.ask(create(ref, { n: 1 }));
  const picked = ['action', 'document', 'instance', 'resource', 'data'].map((name) => ({
    select: name,
    from: { var: 'event' },
  }));
  const page = { paginate: { events: ref } };
  const [row] = await w.page({ map: { lambda: 'event', expr: picked }, collection: page });
  const shown = { '@ref': { id: '1' } };
  expect(row).toMatchObject(['create', shown, shown, shown, { n: 1 }]);
});

test('events of sets without history are refused, and so are events of events', async () => {
  const w = await world();
  await w.ask(create(ref, { tag: 'x', n: 1 }));
  const filtered = { filter: { lambda: '_', expr: false }, collection: by('x') };
  const sets = [
    { reverse: by('x') },
    { range: by('x'), from: 1, to: 2 },
    filtered,
    { union: [by('y'), filtered] },
    { join: by('x'), with: { lambda: '_', expr: filtered } },
  ];
  for (const set of sets) {
    expect(await w.fault({ paginate: { events: set } })).toMatchObject({
      code: 'invalid argument',
      position: [],
      description: 'Set does not support events history.',
    });
  }
  expect(await w.fault({ paginate: { events: { events: by('x') } } })).toMatchObject({
    code: 'invalid argument',
    position: ['paginate'],
  });
});

test('events of documents in a deleted collection are hidden', async () => {
  const w = await world();
  await w.ask({ create_collection: obj({ name: 'others' }) });
  const source = [coll('notes'), coll('others')];
  await w.ask({ create_index: obj({ name: 'both', source, active: true }) });
  await w.engine.buildIndexes();
  await w.ask(create(ref, {}));
  await w.ask(create(doc('others', 1), {}));
  await w.ask({ delete: coll('notes') });
  expect((await pageOf(w, { match: { index: 'both' } })).data).toHaveLength(1);
});

test('insert() accepts an action as text or from an event and times up to now, and returns create or delete', async () => {
  const w = await world();
  await w.ask(create(ref, { n: 1 }));
  const insert = (action: unknown, ts: unknown, more: Record<string, unknown> = {}) => ({
    insert: ref,
    ts,
    action,
    ...more,
  });
  const params = data({ n: 0 });
  expect(await w.ask(insert('update', 5, { params }))).toMatchObject({
    ts: 5,
    action: 'create',
    data: { n: 0 },
  });
  expect(await w.ask(insert('delete', 6, { params }))).toMatchObject({
    ts: 6,
    action: 'delete',
    data: null,
  });
  const action = { select: ['data', 0, 'action'], from: { paginate: { events: ref } } };
  expect(await w.ask(insert(action, 7, { params: obj({}) }))).toMatchObject({
    action: 'create',
    data: null,
  });
  expect(await w.ask(insert('create', { now: null }, { params }))).toMatchObject({
    action: 'create',
  });
  for (const wrong of ['add', 'remove', 'x', 1]) {
    expect(await w.fault(insert(wrong, 5))).toMatchObject({
      code: 'invalid argument',
      position: ['action'],
    });
  }
  const { ref: key } = await w.document({ create_key: obj({ role: 'server' }) });
  const role = { role: 'server' };
  expect(
    await w.ask({
      insert: JSON.parse(JSON.stringify(key)) as unknown,
      ts: 5,
      action: 'create',
      params: obj(role),
    }),
  ).toMatchObject({ action: 'create' });
  // Removing a version that does not exist is no error.
  expect(await w.ask({ remove: ref, ts: 1, action: 'create' })).toBeNull();
});

test('a cursor shown back has the member names of the request’s version', async () => {
  const w = await world();
  await w.ask(create(ref, { tag: 'a', n: 1 }));
  for (const [apiVersion, name, values] of [
    ['2.0', 'resource', 'values'],
    ['2.1', 'instance', 'data'],
    ['2.7', 'document', 'data'],
    ['4', 'document', 'data'],
  ] as const) {
    const ask = (query: unknown) => w.ask(query, { apiVersion });
    const shown = await ask(ref);
    const cursor = { ts: 1, action: 'create' };
    const given = obj({ ...cursor, [name]: ref });
    expect(await ask({ paginate: ref, events: true, size: 0, after: given })).toEqual({
      before: { ...cursor, [name]: shown },
      after: { ...cursor, [name]: shown },
      data: [],
    });
    const ofSet = obj({ ...cursor, [name]: ref, [values]: [1] });
    expect(await ask({ paginate: by('a'), events: true, size: -1, after: ofSet })).toEqual({
      before: { ...cursor, [name]: shown, [values]: [1] },
      data: [],
    });
  }
});

test.each([
  ['two documents', { union: [{ events: ref }, { events: doc('notes', 2) }] }],
  ['a document and a set', { union: [{ events: ref }, { events: by('x') }] }],
  [
    'a document and a set without values',
    { union: [{ events: { documents: coll('notes') } }, { events: ref }] },
  ],
])('events of %s changed in one query appear once, in pages of any size', async (_, set) => {
  const w = await world();
  const both = (write: (each: unknown, n: number) => unknown) => ({
    do: [write(ref, 1), write(doc('notes', 2), 2)],
  });
  await w.ask(both((each, n) => create(each, { tag: 'x', n })));
  await w.ask(both((each, n) => ({ update: each, params: data({ n: n + 2 }) })));
  await w.ask(both((each) => ({ delete: each })));
  await w.ask(both((each, n) => create(each, { tag: 'x', n })));
  const { data: all } = (await w.ask({ paginate: set })) as EventsPage;
  expect(all.length).toBeGreaterThan(7);
  for (const size of [1, 2, 3]) {
    expect(await walked(w, set, size, 'after')).toEqual(all);
    expect(await walked(w, set, size, 'before')).toEqual(all);
  }
});

test('1 and 1.0 in one document have separate events, in pages of any size and in a union', async () => {
  const w = await world();
  const numbers = '{"object":{"data":{"object":{"tag":"x","n":[1,1.0,2.0,2]}}}}';
  const query = `{"create":${JSON.stringify(ref)},"params":${numbers}}`;
  await w.engine.query({ secret: ROOT, query, apiVersion: '4', allows: 'write' });
  await w.ask({ delete: ref });
  for (const set of [by('x'), { union: [by('x'), by('y')] }]) {
    const { data: all } = await pageOf(w, set);
    expect(all).toHaveLength(8);
    for (const size of [1, 2, 3]) {
      expect(await walked(w, set, size, 'after')).toEqual(all);
      expect(await walked(w, set, size, 'before')).toEqual(all);
    }
  }
});

test('first and last return the first and the last event of a history', async () => {
  const w = await world();
  await w.ask(create(ref, { tag: 'a', n: 1 }));
  await w.ask(update({ n: 2 }));
  for (const target of [ref, by('a'), { singleton: ref }]) {
    const events = { events: target };
    const all = (await pageOf(w, target)).data;
    expect([await w.ask({ first: events }), await w.ask({ last: events })]).toEqual([
      all[0],
      all.at(-1),
    ]);
  }
  const none = { last: { events: by('nothing') } };
  expect(await w.fault(none)).toMatchObject({
    position: ['last'],
    description: 'Non-empty set expected.',
  });
});
