import { expect, test } from 'vitest';
import { handleRequest } from './handle.ts';
import type { HttpHost } from './message.ts';
import {
  data,
  headersOf,
  NOTE,
  openStream,
  query,
  REF,
  startStream,
  withNotes,
} from './testing/stream-kit.ts';

test('a document stream reports the creation, changes and deletion of the document', async () => {
  const host = await withNotes();
  const stream = await openStream(host, NOTE, { path: '/stream?fields=action,document,diff,prev' });
  expect(stream.headers).toMatchObject({
    'content-type': 'application/json;charset=utf-8',
    'x-fauna-stream-id': expect.stringMatching(/^\d+$/),
    'x-query-bytes-out': '0',
  });
  const start = await stream.next();
  expect(start).toEqual({ type: 'start', txn: start.txn, event: start.txn });
  const made = await query(host, {
    create: NOTE,
    params: data({ a: 1, b: { object: { c: 1, d: 2 } } }),
  });
  await query(host, { create: { collection: 'notes' }, params: data({ other: 1 }) });
  await query(host, { update: NOTE, params: data({ a: 2, b: { object: { c: null } } }) });
  const gone = await query(host, { delete: NOTE });
  expect(await stream.next()).toEqual({
    type: 'version',
    txn: made['ts'],
    event: {
      action: 'create',
      document: { ref: REF, ts: made['ts'], data: { a: 1, b: { c: 1, d: 2 } } },
      diff: { ref: REF, ts: made['ts'], data: { a: 1, b: { c: 1, d: 2 } } },
      prev: null,
    },
  });
  const update = await stream.next();
  expect(update.event).toMatchObject({
    action: 'update',
    document: { data: { a: 2, b: { d: 2 } } },
    diff: { ref: REF, ts: update.txn, data: { a: 2, b: { c: null } } },
    prev: { ts: made['ts'], data: { a: 1 } },
  });
  const removal = await stream.next();
  expect(removal.event).toMatchObject({
    action: 'delete',
    document: { ref: REF, ts: removal.txn, data: { a: 2, b: { d: 2 } } },
    diff: { ref: REF, ts: removal.txn },
    prev: { ts: gone['ts'] },
  });
  await stream.end();
});

test('fields default to action and document, and a document opens the same stream as its ref', async () => {
  const host = await withNotes();
  await query(host, { create: NOTE, params: data({ a: 1 }) });
  const stream = await startStream(host, { get: NOTE });
  await query(host, { update: NOTE, params: data({ a: 2 }) });
  expect(Object.keys((await stream.next()).event)).toEqual(['action', 'document']);
  await stream.end();
  const set = await startStream(host, { documents: { collection: 'notes' } });
  await query(host, { create: { collection: 'notes' } });
  expect(Object.keys((await set.next()).event)).toEqual(['action', 'document']);
  await set.end();
});

test('a set stream reports added and removed entries, removals first', async () => {
  const host = await withNotes();
  const stream = await startStream(
    host,
    { match: { index: 'by_tag' }, terms: 'x' },
    { path: '/stream?fields=action,document,index' },
  );
  const index = {
    ref: { '@ref': { id: 'by_tag', collection: { '@ref': { id: 'indexes' } } } },
    terms: ['x'],
  };
  const made = await query(host, { create: NOTE, params: data({ tag: 'x', n: 1 }) });
  await query(host, { create: { collection: 'notes' }, params: data({ tag: 'y', n: 1 }) });
  const changed = await query(host, { update: NOTE, params: data({ n: 2 }) });
  expect(await stream.next()).toEqual({
    type: 'set',
    txn: made['ts'],
    event: {
      action: 'add',
      document: { ref: REF, ts: made['ts'] },
      index: { ...index, values: [1] },
    },
  });
  expect((await stream.next()).event).toMatchObject({ action: 'remove', index: { values: [1] } });
  expect(await stream.next()).toEqual({
    type: 'set',
    txn: changed['ts'],
    event: {
      action: 'add',
      document: { ref: REF, ts: changed['ts'] },
      index: { ...index, values: [2] },
    },
  });
  await stream.end();
});

test.each([
  ['2.0', { '@ref': 'classes/notes/1' }],
  [
    '2.1',
    {
      '@ref': { id: '1', class: { '@ref': { id: 'notes', class: { '@ref': { id: 'classes' } } } } },
    },
  ],
])('a set stream of version %s sends the document and its values', async (apiVersion, ref) => {
  const host = await withNotes();
  const set = { match: { index: 'by_tag' }, terms: 'x' };
  const path = '/stream?fields=document,index';
  const stream = await startStream(host, set, { path, apiVersion });
  await query(host, { create: NOTE, params: data({ tag: 'x', n: 1 }) });
  expect((await stream.next()).event).toMatchObject({ document: { ref }, index: { values: [1] } });
  await stream.end();
});

test.each(['2.0', '2.1', '2.7', '2.12', '3', '4'])(
  'a document stream of version %s reports versions, deletions and rewritten history',
  async (apiVersion) => {
    const host = await withNotes();
    const made = await query(host, { create: NOTE, params: data({ a: 1, b: 1, self: NOTE }) });
    const stream = await startStream(host, NOTE, { apiVersion });
    await query(host, { update: NOTE, params: data({ a: 2 }) });
    const changed = { action: 'update', document: { data: { a: 2, b: 1 } } };
    expect(await stream.next()).toMatchObject({ type: 'version', event: changed });
    await query(host, { delete: NOTE });
    expect(await stream.next()).toMatchObject({ type: 'version', event: { action: 'delete' } });
    const inserted = { insert: NOTE, ts: Number(made['ts']) - 1, action: 'create' };
    await query(host, { ...inserted, params: data({ a: 0 }) });
    const rewritten = { action: 'create', document: { data: { a: 0 } } };
    expect(await stream.next()).toMatchObject({ type: 'history_rewrite', event: rewritten });
    await stream.end();
  },
);

test('a stream of version 2.0 follows the documents of a collection', async () => {
  const host = await withNotes();
  const set = { documents: { collection: 'notes' } };
  const stream = await startStream(host, set, { apiVersion: '2.0' });
  await query(host, { create: NOTE });
  expect((await stream.next()).event).toMatchObject({
    document: { ref: { '@ref': 'classes/notes/1' } },
  });
  await stream.end();
});

test('a stream of version 2.0 on a collection or on keys is refused', async () => {
  const host = await withNotes();
  for (const wire of [{ collection: 'notes' }, { collections: null }, { keys: null }]) {
    const request = { method: 'POST', path: '/stream', body: JSON.stringify(wire) };
    const answer = await host.handle({ ...request, headers: headersOf(host.admin, '2.0') });
    expect([wire, answer.status]).toEqual([wire, 400]);
  }
});

test('a set stream reports all 300 documents that one query has added, with values of any type', async () => {
  const host = await withNotes();
  const values = [{ object: { field: ['data', 'at'], mva: false } }];
  const index = { name: 'places', source: { collection: 'notes' }, values };
  await query(host, { create_index: { object: index } });
  const stream = await startStream(host, { match: { index: 'places' } });
  const created = { create: { collection: 'notes' }, params: data({ at: { object: { x: 1 } } }) };
  await query(host, { do: Array.from({ length: 300 }, () => created) });
  for (let n = 0; n < 300; n += 1) expect((await stream.next()).type).toBe('set');
  await stream.end();
});

test('a stream on the documents of a collection reports created and deleted ones', async () => {
  const host = await withNotes();
  const stream = await startStream(host, { documents: { collection: 'notes' } });
  await query(host, { create: NOTE, params: data({ a: 1 }) });
  await query(host, { update: NOTE, params: data({ a: 2 }) });
  await query(host, { delete: NOTE });
  expect((await stream.next()).event).toMatchObject({ action: 'add', document: { ref: REF } });
  expect((await stream.next()).event).toMatchObject({ action: 'remove', document: { ref: REF } });
  await stream.end();
});

const OPTIONS = { ref: { collection: 'options' }, id: '1' };
const option = (name: string) => ({ select: ['data', name], from: { get: OPTIONS } });

test.each([
  ['a match', { match: { index: 'by_tag' }, terms: option('tag') }],
  ['documents', { documents: { collection: option('of') } }],
])('a stream on %s keeps its set when a document read by its query changes', async (_, set) => {
  const host = await withNotes();
  await query(host, { create_collection: { object: { name: 'options' } } });
  await query(host, { create: OPTIONS, params: data({ tag: 'x', of: 'notes' }) });
  const stream = await startStream(host, set);
  await query(host, { update: OPTIONS, params: data({ tag: 'y', of: 'options' }) });
  const made = await query(host, { create: NOTE, params: data({ tag: 'x', n: 1 }) });
  expect(await stream.next()).toMatchObject({ txn: made['ts'], event: { action: 'add' } });
  await query(host, { delete: OPTIONS });
  await query(host, { delete: NOTE });
  expect(await stream.next()).toMatchObject({ event: { action: 'remove' } });
  await stream.end();
});

test('a stream ends with an error when its secret is no longer valid (A5)', async () => {
  const host = await withNotes();
  const key = await query(host, { create_key: { object: { role: 'server' } } });
  const stream = await startStream(host, NOTE, { secret: String(key['secret']) });
  await query(host, { delete: key['ref'] });
  await query(host, { create: NOTE, params: data({ a: 1 }) });
  expect(await stream.next()).toEqual({
    type: 'error',
    txn: 0,
    event: {
      code: 'permission denied',
      description: 'Authorization lost during stream evaluation.',
    },
  });
  expect(await stream.isOver()).toBe(true);
});

test('a stream on an unreadable document opens and sends no events', async () => {
  const host = await withNotes();
  const key = await query(host, { create_key: { object: { role: 'client' } } });
  const stream = await openStream(host, NOTE, { secret: String(key['secret']) });
  expect((await stream.next()).type).toBe('start');
  await query(host, { create: NOTE, params: data({ a: 1 }) });
  const next = stream.next();
  await stream.end();
  await expect(next).rejects.toThrow(TypeError);
});

test('a reader that leaves a waiting stream removes its commit listener', async () => {
  const host = await withNotes();
  let listeners = 0;
  const onCommit: typeof host.http.engine.onCommit = (listener) => {
    listeners += 1;
    const stop = host.http.engine.onCommit(listener);
    return () => {
      listeners -= 1;
      stop();
    };
  };
  const request = {
    method: 'POST',
    path: '/stream',
    headers: headersOf(host.admin),
    body: JSON.stringify(NOTE),
  };
  const answer = await handleRequest(request, { ...host.http, onCommit });
  const frames = (answer.body as AsyncIterable<string>)[Symbol.asyncIterator]();
  await frames.next();
  const waiting = frames.next();
  expect(listeners).toBe(1);
  await frames.return?.();
  expect(await waiting).toEqual({ done: true, value: undefined });
  expect(listeners).toBe(0);
  const refused = await handleRequest({ ...request, body: '1' }, { ...host.http, onCommit });
  expect([refused.status, listeners]).toEqual([400, 0]);
  const unreadable: HttpHost = {
    ...host.http,
    onCommit,
    engine: { ...host.http.engine, query: () => Promise.reject(new Error('gone')) },
  };
  const failed = await handleRequest(request, unreadable);
  expect([failed.status, listeners]).toEqual([500, 0]);
});

test.each([
  [{ object: {} }, '/stream', 'invalid argument'],
  [{ paginate: { documents: { collection: 'notes' } } }, '/stream', 'invalid argument'],
  [{ collection: 'notes' }, '/stream', 'invalid argument'],
  [{ collections: null }, '/stream', 'invalid argument'],
  [{ ref: { collection: 'nope' }, id: '1' }, '/stream', 'invalid ref'],
  [{ collection: 'nope' }, '/stream', 'invalid ref'],
  [{ index: 'nope' }, '/stream', 'invalid ref'],
  [{ create: { collection: 'notes' } }, '/stream', 'invalid expression'],
  [NOTE, '/stream?fields=action,colour', 'invalid url parameter'],
])('%j at %s is refused: %s', async (wire, path, code) => {
  const host = await withNotes();
  const answer = await host.handle({
    method: 'POST',
    path,
    headers: headersOf(host.admin),
    body: JSON.stringify(wire),
  });
  expect(answer.status).toBe(400);
  expect(JSON.parse(answer.body)).toMatchObject({ errors: [{ code, position: [] }] });
});

const got = (name: string) => `Expected a Document Ref or Version, or a Set Ref, got ${name}.`;

test.each([
  ['text', got('String')],
  [1, got('Integer')],
  [1.5, got('Double')],
  [null, got('Null')],
  [[NOTE], got('Array')],
  [{ time: 'now' }, got('Time')],
  [{ object: { ts: 1 } }, got('Object')],
  [{ object: { ref: NOTE, ts: 1 } }, got('Object')],
  [{ object: { '@obj': { '@ref': 1 } } }, got('Object')],
  [{ query: { lambda: 'x', expr: 1 } }, got('Lambda')],
  [{ collection: 'notes' }, got('one that no stream follows')],
  [{ union: [{ match: { index: 'by_tag' } }] }, got('one that no stream follows')],
  [{ create: NOTE }, 'Write effect in read-only query expression.'],
])('a stream on %j is refused with the error text of Fauna', async (wire, description) => {
  const host = await withNotes();
  const answer = await host.handle({
    method: 'POST',
    path: '/stream',
    headers: headersOf(host.admin),
    body: JSON.stringify(wire),
  });
  expect(JSON.parse(answer.body)).toMatchObject({ errors: [{ description }] });
});

test('a stream begins after the last commit visible to its opening query', async () => {
  const host = await withNotes();
  await query(host, { create: NOTE, params: data({ n: 1 }) });
  const { engine } = host.http;
  let isFirst = true;
  const http: HttpHost = {
    ...host.http,
    engine: {
      ...engine,
      query: async (request) => {
        if (isFirst) {
          isFirst = false;
          await query(host, { update: NOTE, params: data({ n: 2 }) });
        }
        return engine.query(request);
      },
    },
  };
  const stream = await openStream(host, NOTE, { http });
  const start = await stream.next();
  await query(host, { update: NOTE, params: data({ n: 3 }) });
  const { txn, event } = await stream.next();
  expect(event['document']).toMatchObject({ data: { n: 3 } });
  expect(txn).toBeGreaterThan(start.txn);
  await stream.end();
});
