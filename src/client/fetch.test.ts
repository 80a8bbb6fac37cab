import { getEventListeners } from 'node:events';
import { createRequire } from 'node:module';
import { expect, test } from 'vitest';
import type { HttpCall } from '../host/query.ts';
import type { AbortSignalLike } from '../index.ts';
import { missing, openFake, type FakeAnswers } from './testing/fake-worker.ts';

const open = async (answers: FakeAnswers) => {
  const calls: HttpCall[] = [];
  const opened = await openFake({
    http: (call) => {
      calls.push(call);
      const headers = { 'x-txn-time': '7', 'content-type': 'application/json' };
      return Promise.resolve({ ok: true, value: { status: 201, headers, body: '{"resource":1}' } });
    },
    ...answers,
  });
  return { ...opened, calls };
};

test('db.fetch returns a Response, even when called as a bare function', async () => {
  const { db, calls } = await open({});
  const { fetch } = db;
  const answer = await fetch('http://h:1234', {
    method: 'POST',
    headers: { Authorization: 'Bearer s', 'X-Last-Seen-Txn': 12, 'X-Left-Out': undefined },
    body: '{}',
  });
  expect(answer).toBeInstanceOf(Response);
  expect([answer.status, answer.ok, answer.headers.get('X-Txn-Time')]).toEqual([201, true, '7']);
  expect([...answer.headers.keys()]).toContain('x-txn-time');
  expect(await answer.text()).toBe('{"resource":1}');
  expect(calls).toEqual([
    {
      method: 'POST',
      path: '/',
      headers: { authorization: 'Bearer s', 'x-last-seen-txn': '12' },
      body: '{}',
    },
  ]);
});

test('db.fetch accepts URLs, headers and bodies of every form', async () => {
  const { db, calls } = await open({});
  await db.fetch('https://h//ping?scope=all');
  await db.fetch(new URL('http://h/a%20b'), {
    headers: new Headers({ A: '1' }),
    body: new Blob(['x']),
    method: 'put',
  });
  await db.fetch(
    new Request('http://h/c', { method: 'POST', body: 'from request', headers: { b: '2' } }),
  );
  await db.fetch('/relative', { headers: [['C', 3]] });
  expect(calls).toMatchObject([
    { method: 'GET', path: '/ping?scope=all', headers: {}, body: undefined },
    { method: 'PUT', path: '/a%20b', headers: { a: '1' }, body: 'x' },
    { method: 'POST', path: '/c', headers: { b: '2' }, body: 'from request' },
    { method: 'GET', path: '/relative', headers: { c: '3' } },
  ]);
  await expect(db.fetch('http://[')).rejects.toThrow('needs a URL');
});

test('db.fetch returns an empty body for HEAD', async () => {
  const { db } = await open({});
  expect(await (await db.fetch('http://h/', { method: 'HEAD' })).text()).toBe('');
});

/** An abort signal as Node users of the original driver have it, which is not a native one. */
class SignalLike implements AbortSignalLike {
  aborted = false;
  private readonly listeners = new Set<() => void>();
  addEventListener(_type: 'abort', listener: () => void): void {
    this.listeners.add(listener);
  }
  removeEventListener(_type: 'abort', listener: () => void): void {
    this.listeners.delete(listener);
  }
  abort(): void {
    this.aborted = true;
    for (const listener of this.listeners) listener();
  }
}

test('db.fetch rejects with an AbortError when its signal is aborted, native or not', async () => {
  const { db } = await open({ http: () => missing });
  const like = new SignalLike();
  const native = new AbortController();
  const pending = [
    db.fetch('http://h', { signal: like }),
    db.fetch('http://h', { signal: native.signal }),
  ];
  like.abort();
  native.abort();
  for (const each of pending) await expect(each).rejects.toMatchObject({ name: 'AbortError' });
  await expect(db.fetch('http://h', { signal: like })).rejects.toMatchObject({
    name: 'AbortError',
  });
});

test('db.fetch pulls a streamed body part by part, and cancels it', async () => {
  const asked: string[] = [];
  const parts = ['{"type":"start"}\n', new TextEncoder().encode('ä\n'), undefined];
  const { db } = await open({
    http: () =>
      Promise.resolve({ ok: true, value: { status: 200, headers: {}, body: { stream: 3 } } }),
    onMessage: (message, tell) => {
      asked.push(message.type);
      if (message.type === 'pull') tell({ type: 'part', stream: 3, part: parts.shift() });
    },
  });
  const answer = await db.fetch('http://h/stream', { method: 'POST' });
  expect(asked).toEqual([]);
  expect(await answer.text()).toBe('{"type":"start"}\nä\n');
  const second = await db.fetch('http://h/stream', { method: 'POST' });
  await second.body?.cancel();
  await expect.poll(() => asked).toEqual(['pull', 'pull', 'pull', 'cancel']);
});

test('db.fetch ends a streamed body with an AbortError between two reads', async () => {
  const asked: string[] = [];
  const { db } = await open({
    http: () =>
      Promise.resolve({ ok: true, value: { status: 200, headers: {}, body: { stream: 3 } } }),
    onMessage: (message, tell) => {
      asked.push(message.type);
      if (message.type === 'pull' && asked.length === 1)
        tell({ type: 'part', stream: 3, part: 'one\n' });
    },
  });
  const signal = new SignalLike();
  const reader = (await db.fetch('http://h/stream', { signal })).body!.getReader();
  expect(new TextDecoder().decode((await reader.read()).value)).toBe('one\n');
  signal.abort();
  await expect(reader.read()).rejects.toMatchObject({ name: 'AbortError' });
  await expect.poll(() => asked).toContain('cancel');
});

test('db.fetch cancels a stream whose response arrives after the abort', async () => {
  const asked: unknown[] = [];
  const answers: (() => void)[] = [];
  const { db } = await open({
    http: () =>
      new Promise((resolve) => {
        const value = { status: 200, headers: {}, body: { stream: 7 } };
        answers.push(() => resolve({ ok: true, value }));
      }),
    onMessage: (message) => asked.push(message),
  });
  const stop = new AbortController();
  const pending = db.fetch('http://h/stream', { signal: stop.signal });
  await expect.poll(() => answers).toHaveLength(1);
  stop.abort();
  await expect(pending).rejects.toMatchObject({ name: 'AbortError' });
  answers[0]?.();
  await expect.poll(() => asked).toEqual([{ type: 'cancel', stream: 7 }]);
});

test('db.fetch leaves no listener on the signal of an ended stream', async () => {
  let number = 0;
  const { db } = await open({
    http: () =>
      Promise.resolve({
        ok: true,
        value: { status: 200, headers: {}, body: { stream: ++number } },
      }),
    onMessage: (message, tell) => {
      if (message.type !== 'pull') return;
      const refusal = { code: 'time out', description: 'late' } as const;
      if (message.stream === 1) tell({ type: 'part', stream: 1, part: undefined });
      else tell({ type: 'broken', stream: message.stream, refusal });
    },
  });
  const { signal } = new AbortController();
  const answer = (): Promise<Response> => db.fetch('http://h/stream', { signal });
  const [first, second, third] = [await answer(), await answer(), await answer()];
  expect(getEventListeners(signal, 'abort')).toHaveLength(3);
  expect(await first.text()).toBe('');
  await expect(second.text()).rejects.toMatchObject({ code: 'time out' });
  await third.body?.cancel();
  expect(getEventListeners(signal, 'abort')).toEqual([]);
});

test('db.fetch rejects a streamed body if the stream fails or the worker is lost', async () => {
  let number = 0;
  const { db, fake } = await open({
    http: () =>
      Promise.resolve({
        ok: true,
        value: { status: 200, headers: {}, body: { stream: ++number } },
      }),
    onMessage: (message, tell) => {
      if (message.type === 'pull' && message.stream === 1) {
        tell({
          type: 'broken',
          stream: 1,
          refusal: { code: 'time out', description: 'late' },
        });
      }
    },
  });
  const first = await db.fetch('http://h/stream');
  await expect(first.text()).rejects.toMatchObject({ code: 'time out' });
  const second = await db.fetch('http://h/stream');
  const reading = second.text();
  fake.dispatchEvent(new Event('error'));
  await expect(reading).rejects.toMatchObject({ code: 'worker_lost' });
});

test('the original driver works over db.fetch', async () => {
  const { db, calls } = await open({});
  process.noDeprecation = true;
  const faunadb = createRequire(import.meta.url)('faunadb') as {
    readonly Client: new (options: object) => { query(expression: unknown): Promise<unknown> };
    readonly query: { readonly Now: () => unknown };
  };
  const client = new faunadb.Client({ secret: 's', fetch: db.fetch });
  expect(await client.query(faunadb.query.Now())).toBe(1);
  expect(await client.query(faunadb.query.Now())).toBe(1);
  expect(calls[1]).toMatchObject({
    method: 'POST',
    path: '/',
    body: '{"now":null}',
    headers: { authorization: 'Bearer s', 'x-faunadb-api-version': '4', 'x-last-seen-txn': '7' },
  });
  await db.close();
});

test('db.logs sends requests of the log API with the root secret', async () => {
  const { db, calls } = await open({
    http: (call) => {
      calls.push(call);
      const record = { request_id: 'r/1', state: 'Requested', version: 0 };
      const body = JSON.stringify(
        call.path.includes('_list')
          ? { results: [{ ...record, presigned_url: 'burrow-file:r/1' }], next_token: 'n' }
          : record,
      );
      return Promise.resolve({ ok: true, value: { status: 200, headers: {}, body } });
    },
  });
  const time_start = new Date(0);
  await db.logs.request({ time_start, time_end: '2026-01-01T00:00:00Z' });
  await db.logs.status('r/1');
  await db.logs.createUrl('r/1', { version: 2 });
  const list = await db.logs.list({ states: ['Complete'], max_results: 3 });
  expect(list).toEqual({
    results: [{ request_id: 'r/1', state: 'Requested', version: 0 }],
    next_token: 'n',
  });
  const headers = { authorization: 'Bearer root' };
  const query = '?type=query&regionGroup=local';
  expect(calls).toEqual([
    {
      method: 'POST',
      path: `/api/v1/logs${query}`,
      headers,
      body: '{"time_start":"1970-01-01T00:00:00.000Z","time_end":"2026-01-01T00:00:00Z"}',
    },
    { method: 'GET', path: `/api/v1/logs/r%2F1${query}`, headers, body: undefined },
    { method: 'POST', path: `/api/v1/logs/r%2F1/url${query}`, headers, body: '{"version":2}' },
    {
      method: 'POST',
      path: `/api/v1/logs/_list${query}`,
      headers,
      body: '{"states":["Complete"],"max_results":3}',
    },
  ]);
  await db.close();
});

test('db.logs.createUrl() waits for the file and returns a blob URL', async () => {
  const states = ['CreatingNewUrl', 'CreatingNewUrl', 'Complete'];
  const expires = new Date(Date.now() + 60_000).toISOString();
  const { db } = await open({
    http: () => {
      const state = states.shift() ?? 'Complete';
      const url = state === 'Complete' && {
        presigned_url: 'burrow-file:abc/4',
        presigned_url_expiration_time: expires,
      };
      const body = JSON.stringify({ request_id: 'abc', state, version: 4, ...url });
      return Promise.resolve({ ok: true, value: { status: 200, headers: {}, body } });
    },
    logFile: (id, version) =>
      Promise.resolve({
        ok: true,
        value: { name: 'x.json.gz', file: new Blob([`${id} ${version}`]) },
      }),
  });
  const { presigned_url: url = '', state } = await db.logs.createUrl('abc');
  expect(state).toBe('Complete');
  expect(await (await fetch(url)).text()).toBe('abc 4');
  expect((await db.logs.status('abc')).presigned_url).toBe(url);
  await db.close();
  await expect(fetch(url)).rejects.toBeInstanceOf(TypeError);
});

test('db.fetch of a log route returns a URL that can be fetched', async () => {
  const expires = new Date(Date.now() + 60_000).toISOString();
  const record = (id: string) => ({
    request_id: id,
    state: 'Complete',
    presigned_url: `burrow-file:${id}/4`,
    presigned_url_expiration_time: expires,
    version: 4,
  });
  const body = { value: '{"resource":1}' };
  const { db } = await open({
    http: () =>
      Promise.resolve({ ok: true, value: { status: 200, headers: {}, body: body.value } }),
    logFile: (id, version) =>
      Promise.resolve(
        id === 'abc'
          ? { ok: true, value: { name: 'x.json.gz', file: new Blob([`${id} ${version}`]) } }
          : { ok: true, value: undefined },
      ),
  });
  const ask = async (answer: string): Promise<Record<string, unknown>> => {
    body.value = answer;
    return (await (await db.fetch('http://h/api/v1/logs')).json()) as Record<string, unknown>;
  };
  const complete = await ask(JSON.stringify(record('abc')));
  expect(complete).toMatchObject({ request_id: 'abc', version: 4 });
  const url = String(complete['presigned_url']);
  expect(await (await fetch(url)).text()).toBe('abc 4');
  expect((await db.logs.status('abc')).presigned_url).toBe(url);
  expect(await ask(JSON.stringify(record('gone')))).not.toHaveProperty('presigned_url');
  const list = JSON.stringify({ results: [record('abc'), record('gone')], next_token: 'n' });
  const { presigned_url: _url, ...listed } = record('abc');
  expect(await ask(list)).toMatchObject({ results: [listed, {}], next_token: 'n' });
  expect(JSON.stringify(await ask(list))).not.toContain('burrow-file');
  // Results of queries are passed on unchanged.
  const stored = { resource: { presigned_url: 'burrow-file:abc/4' } };
  expect(await ask(JSON.stringify(stored))).toEqual(stored);
  await db.close();
});

test('db.logs rejects with the message of the response', async () => {
  const { db } = await open({
    http: () =>
      Promise.resolve({
        ok: true,
        value: { status: 404, headers: {}, body: '{"message":"none"}' },
      }),
  });
  await expect(db.logs.status('x')).rejects.toMatchObject({
    status: 404,
    code: 'not found',
    description: 'none',
  });
});
