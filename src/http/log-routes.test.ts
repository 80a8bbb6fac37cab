import { gunzipSync } from 'node:zlib';
import { expect, test } from 'vitest';
import { Refusal } from '../errors.ts';
import { createMemoryStore } from '../store/memory.ts';
import { FailingStore } from '../store/testing/failing-store.ts';
import { handleRequest } from './handle.ts';
import { openMemoryHost, type MemoryHost } from './testing/memory-host.ts';

type Json = Record<string, unknown>;
const HOUR = {
  time_start: new Date(Date.now() - 3_600_000).toISOString(),
  time_end: new Date(Date.now() + 3_600_000).toISOString(),
};

function callerOf(host: MemoryHost, secret = host.admin, base?: string) {
  return async (method: string, path: string, body?: unknown): Promise<readonly [number, Json]> => {
    const text = body === undefined ? undefined : JSON.stringify(body);
    const headers = { authorization: `Bearer ${secret}` };
    const answer = await host.handle({ method, path: `/api/v1${path}`, headers, body: text, base });
    return [answer.status, JSON.parse(answer.body) as Json];
  };
}

async function query(host: MemoryHost, wire: unknown, secret = host.admin): Promise<Json> {
  const headers = { authorization: `Bearer ${secret}`, 'x-faunadb-api-version': '4' };
  const answer = await host.handle({
    method: 'POST',
    path: '/',
    headers,
    body: JSON.stringify(wire),
  });
  expect(answer.status, answer.body).toBeLessThan(300);
  return (JSON.parse(answer.body) as { resource: Json }).resource;
}

test('an export of logs over HTTP: request, status, file, new URL and list', async () => {
  const host = await openMemoryHost();
  await query(host, { now: null });
  const call = callerOf(host, host.admin, 'https://app.example/burrow');
  const [status, made] = await call('POST', '/logs?type=query', { ...HOUR, regionGroup: 'us-std' });
  expect([status, made['state'], made['region_group']]).toEqual([200, 'Pending', 'us-std']);
  const id = String(made['request_id']);
  await host.http.exports.work();
  const [, complete] = await call('GET', `/logs/${id}?type=query&regionGroup=us-std`);
  expect(complete).toMatchObject({ state: 'Complete', version: 0 });
  const url = new URL(String(complete['presigned_url']));
  expect(url.href).toContain(`https://app.example/burrow/files/${id}/0?signature=`);

  const path = url.href.slice('https://app.example/burrow'.length);
  const file = await host.handle({ path });
  expect(file).toMatchObject({
    status: 200,
    headers: {
      'content-type': 'application/gzip',
      'content-disposition': `attachment; filename="burrow-logs-${id}.json.gz"`,
      'content-length': String(file.body.length),
      'x-content-type-options': 'nosniff',
    },
  });
  expect(gunzipSync(Buffer.from(file.body, 'latin1')).toString()).toContain(
    '"QUERY":"{\\"now\\":null}"',
  );
  expect((await host.handle({ method: 'HEAD', path })).body).toBe('');
  expect((await host.handle({ path: path.replace(/.$/, '') })).status).toBe(403);
  expect((await host.handle({ path: `/files/${id}/0` })).status).toBe(403);
  expect((await host.handle({ method: 'POST', path })).status).toBe(405);

  const [, renewed] = await call('POST', `/logs/${id}/url?type=query&region_group=us-std`, {
    version: 0,
  });
  expect(renewed).toMatchObject({ state: 'CreatingNewUrl', version: 1 });
  await host.http.exports.work();
  expect((await host.handle({ path })).status).toBe(403);
  const [, list] = await call('POST', '/logs/_list?type=query&regionGroup=x', {
    states: ['Complete'],
    max_results: 5,
  });
  expect(list).toEqual({
    results: [expect.objectContaining({ request_id: id, version: 1, state: 'Complete' })],
  });
});

test('without a base URL, presigned_url is the name of the file', async () => {
  const host = await openMemoryHost();
  await query(host, { now: null });
  const call = callerOf(host);
  const [, { request_id: id }] = await call('POST', '/logs?type=query', HOUR);
  await host.http.exports.work();
  const [, record] = await call('GET', `/logs/${String(id)}?type=query&regionGroup=local`);
  expect(record['presigned_url']).toBe(`burrow-file:${String(id)}/0`);
});

test.each([
  [405, 'GET', '/logs?type=query'],
  [405, 'PUT', '/logs/x?type=query'],
  [404, 'GET', '/log'],
  [404, 'GET', ''],
  [404, 'GET', '/logs/x/y?type=query'],
  [404, 'GET', '/logs/x?type=query&regionGroup=local'],
  [400, 'GET', '/logs/x?regionGroup=local'],
  [400, 'GET', '/logs/x?type=audit&regionGroup=local'],
  [400, 'GET', '/logs/x?type=query'],
  [400, 'POST', '/logs/_list?type=query'],
  [400, 'POST', '/logs/x/url?type=query'],
  [400, 'POST', '/logs?type=query', {}],
  [400, 'POST', '/logs?type=query', []],
  [400, 'POST', '/logs?type=query'],
  [400, 'POST', '/logs?type=query', { ...HOUR, idempotency_token: 'again' }],
  [404, 'POST', '/logs?type=query', { ...HOUR, database: 'us-std/nowhere' }],
  [404, 'POST', '/logs?type=query', { ...HOUR, database: 'us-std/no/where' }],
] as const)(
  'a request that is not valid is answered with %i and a message: %s %s',
  async (expected, method, path, body?: unknown) => {
    const host = await openMemoryHost();
    const [status, answer] = await callerOf(host)(method, path, body);
    expect([status, answer]).toEqual([expected, { message: expect.any(String) }]);
  },
);

test('a bearer credential with admin rights is required', async () => {
  const host = await openMemoryHost();
  const path = '/api/v1/logs/_list?type=query&regionGroup=local';
  const ask = async (authorization?: string) => {
    const headers = authorization === undefined ? {} : { authorization };
    const answer = await host.handle({ method: 'POST', path, headers });
    expect(Object.keys(JSON.parse(answer.body) as Json)).toEqual([
      answer.status === 200 ? 'results' : 'message',
    ]);
    return answer.status;
  };
  const keyOf = async (role: string) =>
    String((await query(host, { create_key: { object: { role } } }))['secret']);
  expect(await ask()).toBe(401);
  expect(await ask('Bearer nobody')).toBe(401);
  expect(await ask(`Basic ${btoa(`${host.admin}:`)}`)).toBe(401);
  expect(await ask(`Bearer ${await keyOf('server')}`)).toBe(403);
  expect(await ask(`Bearer ${await keyOf('client')}`)).toBe(403);
  expect(await ask(`Bearer ${await keyOf('admin')}`)).toBe(200);
  expect(await ask(`Bearer ${host.admin}`)).toBe(200);
});

test('an admin key of a child database exports and sees only that database', async () => {
  const host = await openMemoryHost();
  await query(host, { create_database: { object: { name: 'shop' } } });
  await query(host, { create_database: { object: { name: 'other' } } });
  const key = await query(host, {
    create_key: { object: { role: 'admin', database: { database: 'shop' } } },
  });
  const secret = String(key['secret']);
  await query(host, { create_database: { object: { name: 'eu' } } }, secret);
  const call = callerOf(host, secret);
  expect((await call('POST', '/logs?type=query', HOUR))[0]).toBe(403);
  expect((await call('POST', '/logs?type=query', { ...HOUR, database: 'local/other' }))[0]).toBe(
    404,
  );
  expect((await call('POST', '/logs?type=query', { ...HOUR, database: 'local' }))[0]).toBe(404);
  expect((await call('POST', '/logs?type=query', { ...HOUR, database: 'local/shop/eu' }))[0]).toBe(
    200,
  );
  const [status, made] = await call('POST', '/logs?type=query', {
    ...HOUR,
    database: 'local/shop',
  });
  expect(status).toBe(200);
  const [, byRoot] = await callerOf(host)('POST', '/logs?type=query', HOUR);
  const place = '?type=query&regionGroup=local';
  expect((await call('GET', `/logs/${String(made['request_id'])}${place}`))[0]).toBe(200);
  expect((await call('GET', `/logs/${String(byRoot['request_id'])}${place}`))[0]).toBe(404);
  expect((await callerOf(host)('GET', `/logs/${String(made['request_id'])}${place}`))[0]).toBe(200);
  await host.http.exports.work();
});

test('P2 a new database sees no logs of a database that had the same name', async () => {
  const host = await openMemoryHost();
  const databaseNamed = async (name: string) => {
    await query(host, { create_database: { object: { name } } });
    const role = { role: 'admin', database: { database: name } };
    return String((await query(host, { create_key: { object: role } }))['secret']);
  };
  const again = { ...HOUR, database: 'local/shop' };
  const shop = { ...again, idempotency_token: TOKEN };
  const place = '?type=query&regionGroup=local';
  const request = async (secret: string, body: object = shop) => {
    const [status, { request_id }] = await callerOf(host, secret)('POST', '/logs?type=query', body);
    expect(status).toBe(200);
    return String(request_id);
  };
  const found = async (secret: string, id: string): Promise<readonly unknown[]> => {
    await host.http.exports.work();
    const call = callerOf(host, secret, 'http://h');
    const [, { state, presigned_url }] = await call('GET', `/logs/${id}${place}`);
    if (state === 'DoesNotExist') return [];
    const { pathname, search } = new URL(String(presigned_url));
    const { body } = await host.handle({ path: pathname + search });
    const lines = gunzipSync(Buffer.from(body, 'latin1')).toString().trimEnd().split('\n');
    return lines.map((line) => (JSON.parse(line) as Json)['QUERY']);
  };

  const first = await databaseNamed('shop');
  await query(host, { concat: ['first'] }, first);
  const ofFirst = await request(first);
  expect(await found(first, ofFirst)).toEqual(['{"concat":["first"]}']);
  // Changing the `data` of a database does not make it another database.
  const told = { object: { data: { object: { paid: true } } } };
  await query(host, { update: { database: 'shop' }, params: told });
  expect(await found(first, await request(first, again))).toHaveLength(1);

  await query(host, { update: { database: 'shop' }, params: { object: { name: 'store' } } });
  const second = await databaseNamed('shop');
  expect((await callerOf(host, second)('GET', `/logs/${ofFirst}${place}`))[0]).toBe(404);
  expect((await callerOf(host, second)('POST', `/logs/_list${place}`))[1]).toEqual({ results: [] });
  expect(await found(second, await request(second))).toEqual([]);
  await query(host, { concat: ['second'] }, second);
  expect(await found(second, await request(second, again))).toEqual(['{"concat":["second"]}']);
  // The parent database sees the queries of both.
  expect(await found(host.admin, await request(host.admin))).toHaveLength(2);
});

const TOKEN = '01234567-89ab-4cde-8f01-23456789abcd';

test('without exports in the host, log routes are not found', async () => {
  const { http, admin } = await openMemoryHost();
  const { exports: _, ...without } = http;
  const headers = { authorization: `Bearer ${admin}` };
  const answer = await handleRequest(
    { method: 'POST', path: '/api/v1/logs?type=query', headers, body: '{}' },
    without,
  );
  expect(answer).toMatchObject({ status: 404, body: expect.stringContaining('message') });
});

test('a refusal by the store is answered with its status and text, and is not reported', async () => {
  const store = new FailingStore(createMemoryStore());
  store.makeReason = () => new Refusal('quota_exceeded', 'The disk is full.');
  const host = await openMemoryHost({ store });
  await query(host, { now: null });
  const call = callerOf(host);
  const [, { request_id: id }] = await call('POST', '/logs?type=query', HOUR);
  await host.http.exports.work();
  const [, { presigned_url: url }] = await callerOf(
    host,
    host.admin,
    'https://app.example',
  )('GET', `/logs/${String(id)}?type=query&regionGroup=local`);
  const calls = [
    () => call('POST', '/logs?type=query', HOUR),
    () => call('POST', '/logs/_list?type=query&regionGroup=local'),
    async () => {
      const path = String(url).slice('https://app.example'.length);
      const { status, body } = await host.handle({ path });
      return [status, JSON.parse(body) as Json] as const;
    },
  ];
  for (const ask of calls) {
    store.failNth(1);
    const [status, answer] = await ask();
    expect([status, JSON.stringify(answer)]).toEqual([
      507,
      expect.stringContaining('disk is full'),
    ]);
  }
  expect(host.reports).toEqual([]);
});
