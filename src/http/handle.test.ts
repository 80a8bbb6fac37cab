import { expect, test } from 'vitest';
import { REFUSALS, Refusal, type RefusalCode } from '../errors.ts';
import { LIMITS } from '../limits.ts';
import { handleRequest } from './handle.ts';
import { openMemoryHost, type MemoryHost } from './testing/memory-host.ts';

const bearer = (secret: string) => ({
  authorization: `Bearer ${secret}`,
  'x-faunadb-api-version': '4',
});
const METRICS = [
  'x-compute-ops',
  'x-byte-read-ops',
  'x-byte-write-ops',
  'x-read-ops',
  'x-write-ops',
  'x-query-time',
  'x-query-bytes-in',
  'x-query-bytes-out',
  'x-storage-bytes-read',
  'x-storage-bytes-write',
  'x-txn-retries',
];

const query = async (host: MemoryHost, wire: unknown, headers = {}) => {
  const body = JSON.stringify(wire);
  const answer = await host.handle({
    method: 'POST',
    path: '',
    body,
    headers: { ...bearer(host.admin), ...headers },
  });
  return {
    ...answer,
    json: JSON.parse(answer.body) as { resource?: unknown; errors?: { code: string }[] },
  };
};

async function withUser(): Promise<MemoryHost> {
  const host = await openMemoryHost();
  await query(host, { create_collection: { object: { name: 'users' } } });
  const params = {
    object: {
      data: { object: { email: 'ann@example.org' } },
      credentials: { object: { password: 'pa55' } },
    },
  };
  const made = await query(host, { create: { ref: { collection: 'users' }, id: '1' }, params });
  expect(made.status).toBe(201);
  return host;
}

test('the answer to a query has headers for time, metrics, trace and build', async () => {
  const host = await openMemoryHost();
  const { status, headers, body } = await query(host, { add: [1, 1] });
  expect([status, body]).toEqual([200, '{"resource":2}']);
  for (const name of [...METRICS, 'x-txn-time']) expect(headers[name], name).toMatch(/^\d+$/);
  expect(headers).toMatchObject({
    'content-type': 'application/json;charset=utf-8',
    'x-faunadb-build': 'burrow test',
    'x-query-bytes-out': '14',
    traceparent: expect.stringMatching(/^00-[0-9a-f]{32}-[0-9a-f]{16}-00$/),
  });
});

test('read and write operations are also counted in headers with the older names', async () => {
  const host = await withUser();
  const user = { ref: { collection: 'users' }, id: '1' };
  const update = { update: user, params: { object: {} } };
  const { headers } = await query(host, [{ get: user }, update]);
  for (const what of ['read', 'write']) {
    expect(Number(headers[`x-${what}-ops`])).toBeGreaterThan(0);
    expect(headers[`x-${what}-ops`]).toBe(headers[`x-byte-${what}-ops`]);
  }
});

test('errors have this order: unknown route, faulty header, wrong secret, wrong method', async () => {
  const host = await openMemoryHost();
  const codeOf = async (method: string, path: string, headers: Record<string, string>) => {
    const answer = await host.handle({ method, path, headers });
    return [
      answer.status,
      (JSON.parse(answer.body) as { errors: { code: string }[] }).errors[0]?.code,
    ];
  };
  const faulty = { 'x-query-timeout': '0' };
  expect(await codeOf('POST', '/no/such', faulty)).toEqual([404, 'not found']);
  expect(await codeOf('PUT', '/', faulty)).toEqual([400, 'bad request']);
  expect(await codeOf('PUT', '/', {})).toEqual([401, 'unauthorized']);
  expect(await codeOf('PUT', '/', { authorization: 'Bearer x' })).toEqual([401, 'unauthorized']);
  expect(await codeOf('PUT', '/', bearer(host.admin))).toEqual([405, 'method not allowed']);
  expect(await codeOf('GET', '/linearized', bearer(host.admin))).toEqual([
    405,
    'method not allowed',
  ]);
  expect(await codeOf('POST', '/ping', {})).toEqual([405, 'method not allowed']);
});

test('errors have headers for time and metrics where the specification requires them', async () => {
  const host = await openMemoryHost();
  const namesOf = async (path: string, headers: Record<string, string>) => {
    const answer = await host.handle({ method: 'PUT', path, headers });
    const names = Object.keys(answer.headers);
    return [
      answer.status,
      names.includes('x-txn-time'),
      METRICS.every((name) => names.includes(name)),
    ];
  };
  expect(await namesOf('/', bearer(host.admin))).toEqual([405, true, true]);
  expect(await namesOf('/no', {})).toEqual([404, true, true]);
  expect(await namesOf('/', {})).toEqual([401, true, false]);
  expect(await namesOf('/', { 'x-query-timeout': 'x' })).toEqual([400, false, false]);
  expect(await namesOf('/', { 'x-fauna-tags': '?' })).toEqual([400, true, true]);
});

test('a body above the size limit is refused, and a body at the limit is accepted', async () => {
  const host = await openMemoryHost();
  const ask = (bytes: number) => {
    const body = `"${'é'.repeat((bytes - 2) / 2)}"`;
    return host.handle({ method: 'POST', path: '/', headers: bearer(host.admin), body });
  };
  expect((await ask(LIMITS.requestBytes)).status).toBe(200);
  const refused = await ask(LIMITS.requestBytes + 2);
  expect(refused.status).toBe(413);
  expect(refused.body).toContain('request too large');
});

test.each<RefusalCode>(['too many requests', 'storage_blocked', 'bad request'])(
  'an answer "%s" has a Retry-After header if a retry may help',
  async (code) => {
    const { http, admin } = await openMemoryHost();
    const engine = { ...http.engine, query: () => Promise.reject(new Refusal(code, 'Wait.')) };
    const { headers, status } = await handleRequest(
      { method: 'POST', path: '/', headers: bearer(admin), body: '{"now":null}' },
      { ...http, engine },
    );
    expect(status).toBe(REFUSALS[code].status);
    expect(headers['retry-after']).toBe(code === 'bad request' ? undefined : '1');
  },
);

test('GET / executes a query without writes', async () => {
  const host = await openMemoryHost();
  const get = (path: string) => host.handle({ path, headers: bearer(host.admin) });
  expect((await get(`/?q=${encodeURIComponent('{"add":[2,2]}')}`)).body).toBe('{"resource":4}');
  expect(JSON.parse((await get('/')).body)).toMatchObject({
    errors: [{ code: 'invalid expression', description: 'No query provided.' }],
  });
  const write = await get(`/?q=${encodeURIComponent('{"new_id":null}')}`);
  expect(JSON.parse(write.body)).toMatchObject({
    errors: [{ description: 'Call performs a write, which is not allowed in get requests.' }],
  });
});

test('bodies are formatted for curl and traced on request, and their bytes are counted', async () => {
  const host = await openMemoryHost();
  const pretty = await query(host, { object: { a: 1 } }, { 'user-agent': 'curl/8' });
  expect(pretty.body).toBe('{\n  "resource": {\n    "a": 1\n  }\n}');
  expect(pretty.headers['x-query-bytes-out']).toBe(String(pretty.body.length));
  const refused = await host.handle({ path: '/nowhere', headers: { 'user-agent': 'curl/8' } });
  expect(refused.body).toBe(JSON.stringify(JSON.parse(refused.body), null, 2));
  const traced = await query(host, { object: {} }, { 'x-trace': '' });
  expect(traced.json).toMatchObject({ resource: {}, trace: [{ name: 'query' }] });
  expect(traced.headers['x-faunadb-host']).toBe('burrow');
});

test('a client of Burrow gets details of errors, except those inside functions with their own role', async () => {
  const host = await withUser();
  const email = { object: { field: ['data', 'email'] } };
  const source = { collection: 'users' };
  const index = { name: 'users_by_email', source, unique: true, terms: [email] };
  await query(host, { create_index: { object: index } });
  const double = {
    create: source,
    params: { object: { data: { object: { email: 'ann@example.org' } } } },
  };
  const description = async (wire: unknown, headers = {}) =>
    (await query(host, wire, headers)).json.errors?.[0];
  const burrow = { 'x-fauna-driver': 'burrow' };
  expect(await description(double)).toMatchObject({ description: 'document is not unique.' });
  expect(await description(double, burrow)).toMatchObject({
    description:
      'document is not unique. Another document has the same data.email, and index users_by_email is unique.',
  });
  const body = { query: { lambda: '_', expr: double } };
  await query(host, { create_function: { object: { name: 'again', body, role: 'admin' } } });
  const made = await query(host, { create_key: { object: { role: 'server' } } });
  const { secret } = (made.json.resource as { '@ref': unknown; secret: string }) ?? {};
  const call = { call: { function: 'again' }, arguments: null };
  const [error] =
    (await query(host, call, { ...burrow, authorization: `Bearer ${secret}` })).json.errors ?? [];
  expect(error).toMatchObject({ description: 'Calling the function resulted in an error.' });
});

test.each([
  ['page=home', 'page=home'],
  ['b=1,a1=2, a=3', 'a=3,a1=2,b=1'],
  ['b=1,a-a=2', 'a-a=2,b=1'],
  ['', ''],
])('tags %j are returned sorted by key, also with errors: %j', async (sent, back) => {
  const host = await openMemoryHost();
  const tags = { 'x-fauna-tags': sent };
  expect((await query(host, 1, tags)).headers['x-fauna-tags']).toBe(back);
  expect((await query(host, { no: 1 }, tags)).headers['x-fauna-tags']).toBe(back);
});

test('a page of another origin may send requests and read the headers of answers', async () => {
  const host = await openMemoryHost();
  const origin = 'https://app.example';
  const preflight = await host.handle({ method: 'OPTIONS', path: '/stream', headers: { origin } });
  expect(preflight).toMatchObject({
    status: 200,
    body: '',
    headers: {
      'access-control-allow-origin': origin,
      'access-control-allow-credentials': 'true',
      'access-control-max-age': '86400',
      'access-control-allow-methods': 'GET, POST, PUT, PATCH, DELETE',
      'access-control-allow-headers': expect.stringContaining(
        'authorization, content-type, traceparent',
      ),
    },
  });
  const answer = await query(host, 1, { origin });
  const exposed = answer.headers['access-control-expose-headers']?.split(', ') ?? [];
  expect(exposed).toEqual(expect.arrayContaining([...METRICS, 'x-txn-time', 'x-faunadb-build']));
  expect(exposed.every((name) => name.startsWith('x-'))).toBe(true);
  expect(
    (await host.handle({ method: 'OPTIONS', path: '/', headers: bearer(host.admin) })).status,
  ).toBe(405);
});

test.each([
  ['/ping', 'write'],
  ['/ping?scope=global', 'write'],
  ['/ping?scope=local&timeout=5', 'read'],
  ['/ping?scope=all', 'all'],
  ['/ping?scope=node', 'node'],
  ['/ping?scope=x', 'node'],
])('%s needs no secret', async (path, scope) => {
  const host = await openMemoryHost();
  expect(await host.handle({ path })).toMatchObject({
    status: 200,
    body: `{"resource":"Scope ${scope} is OK"}`,
  });
  expect(await host.handle({ method: 'HEAD', path })).toMatchObject({ status: 200, body: '' });
});

test('/authorized names the database of a secret, and /error fails', async () => {
  const host = await openMemoryHost();
  expect((await host.handle({ path: '/authorized', headers: bearer(host.admin) })).body).toBe(
    '{"account":"burrow test","global_id":""}',
  );
  await query(host, { create_database: { object: { name: 'shop' } } });
  const shop = { database: 'shop' };
  const id = await query(host, { select: 'global_id', from: { get: shop } });
  const inShop = await host.handle({
    path: '/authorized',
    headers: bearer(`${host.admin}:shop:server`),
  });
  expect(JSON.parse(inShop.body)).toMatchObject({ global_id: id.json.resource });
  expect((await host.handle({ path: '/authorized' })).status).toBe(401);
  const error = await host.handle({ path: '/error' });
  expect(error.status).toBe(500);
  expect(error.headers).not.toHaveProperty('x-query-time');
});

test('an exception in the engine is reported, and the answer does not reveal it', async () => {
  const { http, admin } = await openMemoryHost();
  const reports: unknown[] = [];
  const bug = new Error('a bug with fnAEaBcDeFgHiJkLmNoPqRsTuVwXyZ0123456789');
  const engine = { ...http.engine, query: () => Promise.reject(bug) };
  const request = { method: 'POST', path: '/', headers: bearer(admin), body: '1' };
  const answer = await handleRequest(request, {
    ...http,
    engine,
    report: (reason) => reports.push(reason),
  });
  expect(answer.status).toBe(500);
  expect(answer.body).toContain('internal server error');
  expect(answer.body).not.toContain('fnA');
  expect(reports).toEqual([bug]);
});

test('the REST routes create, read, update, list and delete documents', async () => {
  const host = await openMemoryHost();
  const call = async (method: string, path: string, body?: unknown) => {
    const text = body === undefined ? undefined : JSON.stringify(body);
    const answer = await host.handle({ method, path, headers: bearer(host.admin), body: text });
    return [
      answer.status,
      JSON.parse(answer.body) as { resource?: unknown; errors?: unknown[] },
    ] as const;
  };
  expect((await call('POST', '/collections', { name: 'notes' }))[0]).toBe(201);
  const [made, note] = await call('POST', '/collections/notes', {
    data: { text: 'hi', tags: ['a'] },
  });
  expect(made).toBe(201);
  const { ref } = note.resource as { ref: { '@ref': { id: string } } };
  const path = `/collections/notes/${ref['@ref'].id}`;
  expect(await call('GET', path)).toMatchObject([
    200,
    { resource: { data: { text: 'hi', tags: ['a'] } } },
  ]);
  expect(await call('PATCH', path, { data: { text: 'ho' } })).toMatchObject([
    200,
    { resource: { data: { text: 'ho', tags: ['a'] } } },
  ]);
  expect(await call('PUT', path, { data: { text: 'hm' } })).toMatchObject([
    200,
    { resource: { data: { text: 'hm' } } },
  ]);
  // Members that look like an escape or an expression are data, too.
  const odd = { tagged: { '@obj': { '@ts': 'plain' } }, sum: { add: [1, 2] } };
  expect(await call('PUT', path, { data: odd })).toMatchObject([200, { resource: { data: odd } }]);
  const updates = [{ action: 'update' }, { action: 'update' }, { action: 'update' }];
  expect((await call('GET', `${path}/events`))[1]).toMatchObject({
    resource: { data: [{ action: 'create' }, ...updates] },
  });
  expect((await call('DELETE', path))[0]).toBe(200);
  expect((await call('GET', path))[0]).toBe(404);
  expect(await call('GET', '/collections/nope')).toMatchObject([
    404,
    { errors: [{ code: 'not found' }] },
  ]);
  expect(await call('GET', '/collections/nope/1')).toMatchObject([
    404,
    { errors: [{ code: 'not found' }] },
  ]);
  expect(await call('GET', '/collections/notes/abc')).toMatchObject([
    404,
    { errors: [{ code: 'not found' }] },
  ]);
  expect(await call('GET', '/keys/self')).toMatchObject([404, { errors: [{ code: 'not found' }] }]);
  expect(await call('GET', '/collections?size=x')).toMatchObject([
    400,
    { errors: [{ code: 'invalid url parameter', position: [] }] },
  ]);
  expect(await call('POST', '/collections', [])).toMatchObject([
    400,
    { errors: [{ code: 'bad request' }] },
  ]);
  expect((await call('GET', '/collections?size=1'))[1]).toMatchObject({
    resource: { data: [{ '@ref': { id: 'notes' } }] },
  });
});

test.each(['2.0', '2.1', '2.7', '2.12', '3', '4'])(
  'in API version %s, the REST routes of access providers answer like those of other kinds',
  async (version) => {
    const accessTokens = {
      rootAudience: 'https://hub.example',
      fetchKeys: () => Promise.reject(new Error('No token is checked here.')),
      isSigned: () => Promise.resolve(false),
    };
    const host = await openMemoryHost({ accessTokens });
    const statusOf = async (method: string, path: string, body?: string) => {
      const headers = { ...bearer(host.admin), 'x-faunadb-api-version': version };
      return (await host.handle({ method, path, headers, body })).status;
    };
    const provider = {
      name: 'login',
      issuer: 'https://login.example/',
      jwks_uri: 'https://login.example/keys',
    };
    expect(await statusOf('POST', '/access_providers', JSON.stringify(provider))).toBe(201);
    expect(await statusOf('GET', '/access_providers')).toBe(200);
    expect(await statusOf('GET', '/access_providers/login')).toBe(200);
    expect(await statusOf('PATCH', '/access_providers/login', '{"data":{"a":1}}')).toBe(200);
    expect(await statusOf('DELETE', '/access_providers/login')).toBe(200);
    for (const name of ['login', 'self'])
      expect(await statusOf('GET', `/access_providers/${name}`)).toBe(404);
  },
);

test('over REST routes only the root secret may change keys', async () => {
  const host = await openMemoryHost();
  const made = (await query(host, { create_key: { object: { role: 'admin' } } })).json.resource as {
    ref: { '@ref': { id: string } };
    secret: string;
  };
  const path = `/keys/${made.ref['@ref'].id}`;
  const change = (secret: string) =>
    host.handle({ method: 'PATCH', path, headers: bearer(secret), body: '{"data":{"a":1}}' });
  expect(JSON.parse((await change(made.secret)).body)).toMatchObject({
    errors: [{ code: 'forbidden' }],
  });
  expect((await change('nobody')).status).toBe(401);
  expect((await change(host.admin)).status).toBe(200);
});

test('/tokens/self accepts the secret of a token, by Basic or Bearer, but not the root secret', async () => {
  const host = await withUser();
  const login = await query(host, {
    login: { ref: { collection: 'users' }, id: '1' },
    params: { object: { password: 'pa55' } },
  });
  const { secret } = login.json.resource as { secret: string };
  expect(login.status).toBe(201);
  const self = async (authorization: string, version?: string) => {
    const headers = { authorization, ...(version && { 'x-faunadb-api-version': version }) };
    const answer = await host.handle({ path: '/tokens/self', headers });
    return [
      answer.status,
      JSON.parse(answer.body) as { resource: Record<string, unknown> },
    ] as const;
  };
  const [status, basic] = await self(`Basic ${btoa(`${secret}:`)}`);
  expect(status).toBe(200);
  expect(Object.keys(basic.resource).sort()).toEqual(['hashed_secret', 'instance', 'ref', 'ts']);
  expect(basic.resource['instance']).toEqual({
    '@ref': { id: '1', class: { '@ref': { id: 'users', class: { '@ref': { id: 'classes' } } } } },
  });
  expect((await self(`Bearer ${secret}`, '4'))[1].resource['instance']).toHaveProperty([
    '@ref',
    'collection',
  ]);
  expect((await self(`Bearer ${host.admin}`))[0]).toBe(404);
  expect(await self('Bearer bogus')).toEqual([
    401,
    { errors: [{ code: 'unauthorized', description: expect.any(String) }] },
  ]);
});

test('after too many wrong passwords, Retry-After says when the next one will be compared', async () => {
  const host = await withUser();
  const login = {
    login: { ref: { collection: 'users' }, id: '1' },
    params: { object: { password: 'wrong' } },
  };
  for (let attempt = 0; attempt < 5; attempt++) expect((await query(host, login)).status).toBe(400);
  const refused = await query(host, login);
  expect(refused.status).toBe(429);
  const seconds = Number(refused.headers['retry-after']);
  expect(seconds).toBeGreaterThan(40);
  expect(seconds).toBeLessThanOrEqual(61);
});

test('queries are logged, refused ones too, and without secrets', async () => {
  const host = await withUser();
  await query(host, {
    login: { ref: { collection: 'users' }, id: '1' },
    params: { object: { password: 'pa55' } },
  });
  await host.handle({
    method: 'POST',
    path: '/',
    headers: { authorization: 'Bearer fnAEwrongwrongwrongwrongwrong' },
    body: '1',
  });
  await query(
    host,
    { get: { ref: { collection: 'users' }, id: '9' } },
    { 'x-fauna-tags': 'page=home', 'user-agent': 'test' },
  );
  expect((await host.handle({ path: '/ping' })).status).toBe(200);
  await host.http.log.flush();
  const start = { headers: bearer(host.admin), method: 'POST' };
  const body = JSON.stringify({
    time_start: new Date(Date.now() - 60_000).toISOString(),
    time_end: new Date(Date.now() + 60_000).toISOString(),
  });
  const made = await host.handle({
    ...start,
    path: '/api/v1/logs?type=query',
    body,
    base: 'https://x/burrow',
  });
  const { request_id: id } = JSON.parse(made.body) as { request_id: string };
  await host.http.exports.work();
  const file = await host.http.exports.file(id, 0);
  const parts: Uint8Array[] = [];
  for await (const part of file!.chunks) parts.push(part);
  const { gunzipSync } = await import('node:zlib');
  const text = gunzipSync(Buffer.concat(parts)).toString();
  for (const secret of ['pa55', host.admin, 'fnAEwrong']) expect(text).not.toContain(secret);
  const records = text
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line) as Record<string, unknown>);
  expect(records.map(({ RESPONSE_CODE }) => RESPONSE_CODE)).toEqual([
    '201',
    '201',
    '201',
    '401',
    '404',
  ]);
  expect(records[3]).toMatchObject({ ERROR_CODE: 'unauthorized' });
  expect(records[3]).not.toHaveProperty('CREDENTIAL');
  expect(records[4]).toMatchObject({
    ERROR_CODE: 'instance not found',
    CREDENTIAL: { kind: 'root' },
    TAGS: { page: 'home' },
    REQUEST_HEADERS: '{"user_agent":"test"}',
    QUERY: '{"get":{"ref":{"collection":"users"},"id":"9"}}',
  });
});

test('the notice about removed permissions is sent in a header of printable characters', async () => {
  const host = await openMemoryHost();
  const permissions = { object: { read: 'public' } };
  await query(host, { create_collection: { object: { name: 'notizbücher', permissions } } });
  const privileges = [{ object: { resource: { collection: 'notizbücher' } } }];
  const made = await query(host, { create_role: { object: { name: 'readers', privileges } } });
  expect(made.headers['x-burrow-notice']).toMatch(/permissions of notizb\?cher no longer/);
  expect(Object.keys(made.json.resource as object)).toEqual(['ref', 'ts', 'name', 'privileges']);
  expect((await query(host, { add: [1, 1] })).headers).not.toHaveProperty('x-burrow-notice');
});
