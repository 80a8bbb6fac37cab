import { expect, test } from 'vitest';
import type { CommitNotice } from '../engine/host.ts';
import { Refusal } from '../errors.ts';
import { Commits } from './stream-commits.ts';
import type { MemoryHost } from './testing/memory-host.ts';
import {
  data,
  NOTE,
  openStream,
  query,
  REF,
  startStream,
  withNotes,
} from './testing/stream-kit.ts';

const ALL = '/stream?fields=action,document,diff,prev';
const update = (members: unknown) => ({ update: NOTE, params: data(members) });

test('queries that share a commit cause stream events with their own times', async () => {
  const host = await withNotes();
  const commits: CommitNotice[] = [];
  const made = await query(host, { create: NOTE, params: data({ n: 0, tag: 'x' }) });
  host.http.engine.onCommit((notice) => commits.push(notice));
  const stream = await openStream(host, NOTE);
  const set = await openStream(host, { match: { index: 'by_tag' }, terms: 'x' });
  await stream.next();
  await set.next();
  const updates = await Promise.all([1, 2, 3, 4].map((n) => query(host, update({ n }))));
  expect(commits.length).toBeLessThan(4);
  for (const { ts } of updates) {
    expect(await stream.next()).toMatchObject({
      type: 'version',
      txn: ts,
      event: { action: 'update', document: { ts } },
    });
    expect(await set.next()).toMatchObject({ txn: ts, event: { action: 'remove' } });
    expect(await set.next()).toMatchObject({ txn: ts, event: { action: 'add' } });
  }
  expect(made['ts']).toBeLessThan(Number(updates[0]?.['ts']));
  await stream.end();
  await set.end();
});

test('a stream that cannot read the changes of a commit ends with an error', async () => {
  const host = await withNotes();
  await query(host, { create: NOTE, params: data({ n: 0, tag: 'x' }) });
  const { engine } = host.http;
  let isAway = false;
  const away: typeof engine = {
    ...engine,
    query: async (request) =>
      isAway
        ? engine.transactions.refused({ request, started: 0 }, new Refusal('time out', 'Too late.'))
        : engine.query(request),
  };
  const set = { match: { index: 'by_tag' }, terms: 'x' };
  for (const followed of [NOTE, set]) {
    isAway = false;
    const stream = await startStream(host, followed, { http: { ...host.http, engine: away } });
    isAway = true;
    await query(host, update({ n: 1 }));
    expect(await stream.next()).toMatchObject({ type: 'error', event: { code: 'time out' } });
    expect(await stream.isOver()).toBe(true);
  }
});

test('a stream reports insertions into and removals from the history of a deleted document', async () => {
  const host = await withNotes();
  const made = await query(host, { create: NOTE, params: data({ n: 5 }) });
  await query(host, { delete: NOTE });
  const stream = await startStream(host, NOTE);
  const before = { ts: Number(made['ts']) - 1, action: 'create' };
  await query(host, { insert: NOTE, ...before, params: data({ n: 4 }) });
  const event = { action: 'create', document: { ref: REF, ts: before.ts, data: { n: 4 } } };
  expect(await stream.next()).toMatchObject({ type: 'history_rewrite', event });
  await query(host, { remove: NOTE, ...before });
  const taken = { action: 'create', document: { ref: REF, ts: before.ts } };
  expect(await stream.next()).toMatchObject({ type: 'history_rewrite', event: taken });
  await stream.end();
});

test('a query that changes the history and the current version causes events for both', async () => {
  const host = await withNotes();
  const made = await query(host, { create: NOTE, params: data({ n: 5 }) });
  const stream = await startStream(host, NOTE);
  const before = { ts: Number(made['ts']) - 1, action: 'create' };
  const removed = { remove: NOTE, ts: made['ts'], action: 'create' };
  const inserted = { insert: NOTE, ...before, params: data({ n: 4 }) };
  const replaced = { replace: NOTE, params: data({ n: 6 }) };
  await query(host, { do: [inserted, removed, replaced, { get: NOTE }] });
  const told = [await stream.next(), await stream.next(), await stream.next()];
  expect(told).toMatchObject([
    { type: 'history_rewrite', event: { action: 'create', document: { ts: made['ts'] } } },
    { type: 'history_rewrite', event: { action: 'create', document: { data: { n: 4 } } } },
    { type: 'version', event: { action: 'update', document: { data: { n: 6 } } } },
  ]);
  await stream.end();
});

test('a new version after a change of the history causes one version event', async () => {
  const host = await withNotes();
  const made = await query(host, { create: NOTE, params: data({ n: 5 }) });
  const stream = await startStream(host, NOTE);
  const before = { ts: Number(made['ts']) - 1, action: 'create' };
  await query(host, { insert: NOTE, ...before, params: data({ n: 4 }) });
  await query(host, { update: NOTE, params: data({ n: 6 }) });
  await query(host, { update: NOTE, params: data({ n: 7 }) });
  const told = [await stream.next(), await stream.next(), await stream.next()];
  const seen = told.map(({ type, event }) => [type, (event['document'] as { data: unknown }).data]);
  expect(seen).toEqual([
    ['history_rewrite', { n: 4 }],
    ['version', { n: 6 }],
    ['version', { n: 7 }],
  ]);
  await stream.end();
});

/** A host with a clock that the test sets, and a note that was changed twice and keeps its history for a day. */
async function withOldNote() {
  let now = Date.now() * 1000;
  const host = await withNotes({ clock: () => (now += 1) });
  await query(host, { update: { collection: 'notes' }, params: { object: { history_days: 1 } } });
  await query(host, { create: NOTE, params: data({ n: 1 }) });
  for (const n of [2, 3]) await query(host, update({ n }));
  now += 3 * 86_400_000_000;
  await query(host, { create_collection: { object: { name: 'later' } } });
  return host;
}

test('the removal of expired history causes no events', async () => {
  const host = await withOldNote();
  const stream = await startStream(host, NOTE, { path: ALL });
  expect(await host.http.engine.collectExpiredData()).toBeGreaterThan(0);
  await query(host, update({ n: 4 }));
  expect(await stream.next()).toMatchObject({ type: 'version', event: { action: 'update' } });
  await stream.end();
});

test('a stream continues on a document older than its history when a document that rights depend on changes', async () => {
  const host = await withOldNote();
  const gate = { ref: { collection: 'later' }, id: '1' };
  await query(host, { create: gate, params: data({}) });
  const isOpen = { query: { lambda: 'ref', expr: { exists: gate } } };
  const privilege = { resource: { collection: 'notes' }, actions: { object: { read: isOpen } } };
  const role = { name: 'reader', privileges: [{ object: privilege }] };
  const made = await query(host, { create_role: { object: role } });
  const { secret } = await query(host, { create_key: { object: { role: made['ref'] } } });
  const stream = await startStream(host, NOTE, { secret: String(secret) });
  await query(host, { update: gate, params: data({ n: 1 }) });
  await query(host, update({ n: 4 }));
  expect(await stream.next()).toMatchObject({ type: 'version', event: { action: 'update' } });
  await stream.end();
});

test('insert and remove cause history_rewrite events', async () => {
  const host = await withNotes();
  const made = await query(host, { create: NOTE, params: data({ n: 5 }) });
  const ts = Number(made['ts']);
  const stream = await startStream(host, NOTE, { path: ALL });
  const put = async (at: number, n: number) =>
    query(host, { insert: NOTE, ts: at, action: 'create', params: data({ n }) });
  await put(ts - 1000, 1);
  const first = await stream.next();
  expect(first).toEqual({
    type: 'history_rewrite',
    txn: expect.any(Number),
    event: {
      action: 'create',
      document: { ref: REF, ts: ts - 1000, data: { n: 1 } },
      diff: { ref: REF, ts: ts - 1000, data: { n: 1 } },
      prev: null,
    },
  });
  expect(first.txn).toBeGreaterThan(ts);
  await put(ts - 500, 2);
  expect((await stream.next()).event).toMatchObject({
    action: 'update',
    document: { ts: ts - 500 },
    prev: { data: { n: 1 } },
  });
  await put(ts - 1000, 3);
  expect((await stream.next()).event).toMatchObject({
    action: 'create',
    document: { data: { n: 3 } },
  });
  await query(host, { insert: NOTE, ts: ts - 200, action: 'delete' });
  expect((await stream.next()).event).toMatchObject({
    action: 'delete',
    document: { ts: ts - 200, data: { n: 2 } },
  });
  await query(host, { remove: NOTE, ts: ts - 500, action: 'create' });
  const taken = await stream.next();
  expect(taken).toMatchObject({
    type: 'history_rewrite',
    event: { action: 'update', document: { ref: REF, ts: ts - 500 } },
  });
  expect(Object.keys(taken.event)).toEqual(['action', 'document']);
  // Removes the present version from the history.
  await query(host, { remove: NOTE, ts, action: 'create' });
  expect(await stream.next()).toMatchObject({
    type: 'history_rewrite',
    event: { document: { ts } },
  });
  await query(host, { create: NOTE, params: data({ n: 9 }) });
  expect(await stream.next()).toMatchObject({ type: 'version', event: { action: 'create' } });
  await stream.end();
});

/** The secret of a key whose only role has these privileges. */
async function keyWith(
  host: MemoryHost,
  actions: Record<string, unknown>,
  more: readonly unknown[] = [],
): Promise<string> {
  const privileges = [
    { object: { resource: { collection: 'notes' }, actions: { object: actions } } },
    ...more,
  ];
  await query(host, { create_role: { object: { name: 'reader', privileges } } });
  const key = await query(host, { create_key: { object: { role: { role: 'reader' } } } });
  return String(key['secret']);
}

test('with a long history a stream reports only rewritten versions, not those before its window', async () => {
  const host = await withNotes();
  await query(host, { create: NOTE, params: data({ title: 'a heron', n: 0 }) });
  for (let n = 1; n < 1002; n += 1) await query(host, update({ n }));
  const stream = await startStream(host, NOTE);
  const { ts: next } = await query(host, update({ n: 1002 }));
  expect(await stream.next()).toMatchObject({ type: 'version', txn: next });
  const { ts } = await query(host, update({ n: 1003 }));
  expect(await stream.next()).toMatchObject({ type: 'version', txn: ts });
  const late = { ts: Number(ts) - 1, action: 'create' };
  const rewritten = { type: 'history_rewrite', event: { document: { ts: late.ts } } };
  await query(host, { insert: NOTE, ...late, params: data({ n: -1 }) });
  expect(await stream.next()).toMatchObject(rewritten);
  await query(host, { remove: NOTE, ...late });
  expect(await stream.next()).toMatchObject(rewritten);
  const { ts: last } = await query(host, update({ n: 1004 }));
  expect(await stream.next()).toMatchObject({ type: 'version', txn: last });
  await stream.end();
});

test('history_rewrite events are sent only to roles that may read the history', async () => {
  const host = await withNotes();
  const made = await query(host, { create: NOTE, params: data({ n: 5 }) });
  const secret = await keyWith(host, { read: true });
  const stream = await startStream(host, NOTE, { secret });
  await query(host, {
    insert: NOTE,
    ts: Number(made['ts']) - 9,
    action: 'create',
    params: data({ n: 1 }),
  });
  await query(host, update({ n: 6 }));
  expect(await stream.next()).toMatchObject({
    type: 'version',
    event: { document: { data: { n: 6 } } },
  });
  await stream.end();
});

const isOpen = {
  query: {
    lambda: 'ref',
    expr: { select: ['data', 'open'], from: { get: { var: 'ref' } }, default: false },
  },
};

test('streams of documents and of sets never contain documents that the role may not read', async () => {
  const host = await withNotes();
  const index = { object: { resource: { index: 'by_tag' }, actions: { object: { read: true } } } };
  const secret = await keyWith(host, { read: isOpen }, [index]);
  const hidden = { ref: { collection: 'notes' }, id: '2' };
  const set = await openStream(host, { match: { index: 'by_tag' }, terms: 'x' }, { secret });
  const one = await openStream(host, hidden, { secret });
  await set.next();
  await one.next();
  await query(host, { create: hidden, params: data({ tag: 'x', n: 1, open: false }) });
  await query(host, { update: hidden, params: data({ n: 2 }) });
  await query(host, { create: NOTE, params: data({ tag: 'x', n: 3, open: true }) });
  await query(host, { insert: hidden, ts: 1, action: 'create', params: data({ n: 1 }) });
  expect((await set.next()).event).toMatchObject({ action: 'add', document: { ref: REF } });
  const privileges = { object: { resource: { collection: 'notes' } } };
  await query(host, { create_role: { object: { name: 'other', privileges } } });
  await query(host, {
    map: {
      lambda: 'key',
      expr: { update: { var: 'key' }, params: { object: { role: { role: 'other' } } } },
    },
    collection: { paginate: { documents: { keys: null } } },
  });
  for (const stream of [set, one]) expect(await stream.next()).toMatchObject({ type: 'error' });
});

test('a stream ends with an error when its token loses a role', async () => {
  const host = await withNotes();
  await query(host, { create: NOTE, params: data({ n: 1, level: 'staff' }) });
  const predicate = {
    query: {
      lambda: 'ref',
      expr: { equals: [{ select: ['data', 'level'], from: { get: { var: 'ref' } } }, 'staff'] },
    },
  };
  const membership = { object: { resource: { collection: 'notes' }, predicate } };
  const privileges = {
    object: { resource: { collection: 'notes' }, actions: { object: { read: true } } },
  };
  await query(host, { create_role: { object: { name: 'staff', membership, privileges } } });
  const token = await query(host, {
    create: { tokens: null },
    params: { object: { instance: NOTE } },
  });
  const other = { ref: { collection: 'notes' }, id: '2' };
  const stream = await startStream(host, other, { secret: String(token['secret']) });
  await query(host, { create: other, params: data({ n: 1 }) });
  expect(await stream.next()).toMatchObject({ type: 'version' });
  await query(host, update({ level: 'guest' }));
  await query(host, { update: other, params: data({ n: 2 }) });
  expect(await stream.next()).toMatchObject({
    type: 'error',
    txn: 0,
    event: { code: 'permission denied' },
  });
  expect(await stream.isOver()).toBe(true);
});

/** A host whose streams get commits only when the test says so, as one notice without the changes. */
function muffled(host: MemoryHost) {
  const listeners = new Set<(notice: CommitNotice) => void>();
  let last = 0;
  host.http.engine.onCommit(({ ts }) => (last = ts));
  return {
    http: {
      ...host.http,
      onCommit: (listener: (notice: CommitNotice) => void) => {
        listeners.add(listener);
        return () => listeners.delete(listener);
      },
    },
    tell: () => {
      for (const listener of listeners)
        listener({ previous: last, ts: last, rows: [], entries: [] });
    },
  };
}

test('commits of other tabs that were announced as one are reported one by one, in order', async () => {
  const host = await withNotes();
  const { http, tell } = muffled(host);
  await query(host, { create: NOTE, params: data({ n: 0, tag: 'x' }) });
  const one = await openStream(host, NOTE, { http });
  const set = await openStream(host, { match: { index: 'by_tag' }, terms: 'x' }, { http });
  await one.next();
  await set.next();
  await query(host, update({ n: 1 }));
  await query(host, { delete: NOTE });
  await query(host, { create: NOTE, params: data({ n: 2, tag: 'x' }) });
  await query(host, update({ n: 3 }));
  await query(host, { delete: NOTE });
  tell();
  const told = async (stream: typeof one, count: number) => {
    const actions: unknown[] = [];
    for (let i = 0; i < count; i += 1) actions.push((await stream.next()).event['action']);
    return actions;
  };
  expect(await told(one, 5)).toEqual(['update', 'delete', 'create', 'update', 'delete']);
  expect(await told(set, 6)).toEqual(['remove', 'add', 'remove', 'add', 'remove', 'add']);
  await one.end();
  await set.end();
});

test('the expiry of a document causes no event, but its re-creation does', async () => {
  let now = 1_767_225_600_000_000;
  const host = await withNotes({ clock: () => (now += 1) });
  const soon = { ttl: { time_add: { now: null }, offset: 1, unit: 'hour' } };
  const stream = await startStream(host, NOTE);
  await query(host, { create: NOTE, params: { object: { data: { object: { n: 1 } }, ...soon } } });
  expect((await stream.next()).event).toMatchObject({ action: 'create' });
  now += 2 * 3600 * 1_000_000;
  expect(await query(host, { exists: NOTE })).toBe(false);
  await query(host, { create: NOTE, params: data({ n: 2 }) });
  expect((await stream.next()).event).toMatchObject({
    action: 'create',
    document: { data: { n: 2 } },
  });
  await stream.end();
});

test('a document stream too far behind ends with an error, and a set stream reports all changes', async () => {
  const host = await withNotes();
  const { http, tell } = muffled(host);
  const one = await openStream(host, NOTE, { http });
  const set = await openStream(host, { documents: { collection: 'notes' } }, { http });
  await one.next();
  await set.next();
  await query(host, { create: NOTE, params: data({ n: 0 }) });
  for (let n = 0; n < 1001; n += 1) await query(host, update({ n }));
  for (let n = 0; n < 600; n += 1) await query(host, { create: { collection: 'notes' } });
  tell();
  expect(await one.next()).toMatchObject({ type: 'error', event: { code: 'too many requests' } });
  expect(await one.isOver()).toBe(true);
  for (let n = 0; n < 601; n += 1)
    expect((await set.next()).event).toMatchObject({ action: 'add' });
  await set.end();
});

test('Commits holds a limited number of waiting commits, then merges them into one that may touch anything', async () => {
  const commits = new Commits();
  const key = '' as CommitNotice['rows'][number]['key'];
  const rows = Array.from({ length: 100 }, () => ({ space: 'documents' as const, key }));
  for (let ts = 1; ts <= 1000; ts += 1) commits.add({ previous: ts - 1, ts, rows, entries: [] });
  let taken = 0;
  let last = 0;
  expect((await commits.next())?.rows).toEqual([]);
  while (last < 1000) {
    const notice = await commits.next();
    last = notice?.ts ?? 1000;
    taken += 1;
  }
  expect(taken).toBeLessThan(50);
  commits.close();
  expect(await commits.next()).toBeUndefined();
});
