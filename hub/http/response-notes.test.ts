/** Notes for the operator in the log of a hub: what was denied, which origin was refused, what a role has ended. */
import { connect } from 'node:net';
import { expect, test } from 'vitest';
import { Refusal } from '../../src/errors.ts';
import { openTestHub } from '../testing/test-hub.ts';

const notesIn = (logged: () => string): readonly string[] =>
  logged()
    .trimEnd()
    .split('\n')
    .flatMap((line) => (JSON.parse(line) as { note?: string }).note ?? []);

test('the log names form and resource of a denied query; the response does not', async () => {
  const { query, logged } = await openTestHub();
  const object = (members: object) => ({ object: members });
  await query({ create_collection: object({ name: 'users' }) });
  await query({
    create_function: object({ name: 'greet', body: { query: { lambda: 'x', expr: 1 } } }),
  });
  const made = await query({ create_key: object({ role: 'client' }) });
  const { secret } = made.body.resource as { secret: string };
  const user = { ref: { collection: 'users' }, id: '1' };
  /** A reference in the form of answers, which programs send back. */
  const refTo = (id: string, kind: string) => ({
    '@ref': { id, collection: { '@ref': { id: kind } } },
  });
  const denied = [
    { get: user },
    { create: { collection: 'users' }, params: object({ data: object({ email: 'ann@x.org' }) }) },
    { let: [{ a: { exists: user } }], in: { paginate: { collections: null } } },
    { get: { '@ref': { id: '1', collection: refTo('users', 'collections') } } },
    { call: refTo('greet', 'functions'), arguments: null },
    { create: 'users', params: object({}) },
    // Text that users write is never logged, whatever it looks like.
    { call: 'greet', arguments: object({ role: 'her words' }) },
    { call: 'greet', arguments: { let: { index: 'her words' }, in: { var: 'index' } } },
  ];
  for (const each of denied) {
    const { status, body } = await query(each, secret);
    expect(status).toBe(403);
    expect(body.errors).toMatchObject([
      { description: 'Insufficient privileges to perform the action.' },
    ]);
  }
  expect(notesIn(logged)).toEqual([
    "denied: get of collection 'users'",
    "denied: create of collection 'users' at create",
    'denied: paginate at in.paginate',
    "denied: get of collection 'users'",
    "denied: call of function 'greet'",
    "denied: create of collection 'users' at create",
    "denied: call of function 'greet'",
    "denied: call of function 'greet'",
  ]);
});

test('the log names a refused origin and the flag that allows it', async () => {
  const { url, logged } = await openTestHub({ settings: { corsOrigins: ['https://app.example'] } });
  const origin = 'https://other.example';
  for (const method of ['GET', 'OPTIONS'])
    expect((await fetch(`${url}/ping`, { method, headers: { origin } })).status).toBe(403);
  const note = 'The origin https://other.example is not allowed: --cors https://other.example';
  expect(notesIn(logged)).toEqual([note, note]);
});

test('a hub on loopback logs a refused Host header and accepts requests without one, like health checks', async () => {
  const { url, logged } = await openTestHub();
  const { hostname, port } = new URL(url);
  const ask = async (...lines: readonly string[]): Promise<string> => {
    const socket = connect(Number(port), hostname).setEncoding('utf8');
    socket.write(['GET /ping HTTP/1.0', ...lines, '', ''].join('\r\n'));
    let answer = '';
    for await (const part of socket) answer += String(part);
    return answer.slice(0, 'HTTP/1.1 200'.length);
  };
  expect(await ask()).toBe('HTTP/1.1 200');
  expect(await ask('Host: hub.example')).toBe('HTTP/1.1 403');
  expect(notesIn(logged)).toEqual(['The Host header hub.example is not allowed: --allow-host']);
});

test('the log notes that a new role replaces permissions', async () => {
  const { query, logged } = await openTestHub();
  const permissions = { object: { read: 'public' } };
  await query({ create_collection: { object: { name: 'notes', permissions } } });
  const privileges = [{ object: { resource: { collection: 'notes' } } }];
  await query({ create_role: { object: { name: 'readers', privileges } } });
  expect(notesIn(logged)).toEqual([expect.stringContaining('permissions of notes no')]);
});

test('the log, but not the response, has the reason why a request failed', async () => {
  const cause = new Error('S3 returned 503 – SlowDown');
  const handle = () => Promise.reject(new Refusal('storage_unavailable', 'Try again.', { cause }));
  const { url, logged } = await openTestHub({ routes: () => [{ prefix: '/files/', handle }] });
  const answer = await fetch(`${url}/files/1`);
  expect(answer.headers.get('retry-after')).toBe('1');
  expect(await answer.text()).not.toContain('SlowDown');
  expect(notesIn(logged)).toEqual([cause.message]);
});
