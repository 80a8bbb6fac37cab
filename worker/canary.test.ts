/** Law 7 over a store in memory: no secret in what an engine, its HTTP API and its log store, answer or report. */
import { gzipSync } from 'node:zlib';
import { expect, test, vi } from 'vitest';
import type { Asked } from '../e2e/support/canary-step.ts';
import { Cage, sendAll } from '../e2e/support/canary.ts';
import type { Key } from '../src/codec/key.ts';
import { handleRequest } from '../src/http/handle.ts';
import { openMemoryHost, type MemoryHost } from '../src/http/testing/memory-host.ts';
import { createMemoryStore } from '../src/store/memory.ts';
import { SPACES, type Row, type Store } from '../src/store/port.ts';
import { QueryRunner } from './queries/query-runner.ts';

const VERSION = { 'x-faunadb-api-version': '4' };

async function send(host: MemoryHost, asked: Asked): Promise<{ status: number; text: string }> {
  const { by, query, path, secret, scheme } = asked;
  if (by === 'query') {
    const runner = new QueryRunner(host.http);
    const call = { secret, query, timeoutMs: undefined, tags: undefined, traceparent: undefined };
    const { status, body } = await runner.run(call, {});
    return { status, text: body };
  }
  const shown = scheme === 'Basic' ? btoa(`${secret}:`) : secret;
  const request = {
    method: by === 'get' ? 'GET' : 'POST',
    path: path ?? { post: '/', stream: '/stream', get: `/?q=${encodeURIComponent(query)}` }[by],
    headers: { ...VERSION, ...asked.headers, authorization: `${scheme} ${shown}` },
    body: by === 'get' ? undefined : query,
  };
  if (by === 'stream') return follow(host, request);
  const { status, headers, body } = await host.handle(request);
  // The text comes first: the next steps read values from it.
  return { status, text: `${body}\n${JSON.stringify(headers)}`.split('\n')[0] ?? '' };
}

/** The first two events of a stream. Between them, the user it follows gets the last password again. */
async function follow(
  host: MemoryHost,
  request: Parameters<typeof handleRequest>[0],
): Promise<{ status: number; text: string }> {
  const { status, body } = await handleRequest(request, host.http);
  if (typeof body === 'string') return { status, text: body };
  const frames = body[Symbol.asyncIterator]();
  const start = String((await frames.next()).value);
  const credentials = { object: { password: 'canary-robin5Kt' } };
  const params = { object: { data: { object: { seen: true } }, credentials } };
  const update = { update: { ref: { collection: 'users' }, id: '1' }, params };
  const headers = { ...VERSION, authorization: `Bearer ${host.admin}` };
  await host.handle({ method: 'POST', path: '/', headers, body: JSON.stringify(update) });
  const event = String((await frames.next()).value);
  expect(event, start).toContain('"version"');
  await frames.return?.();
  return { status, text: start + event };
}

const everything = { by: 'key', lower: '' as Key, upper: '\xff' as Key, reverse: false } as const;

async function rowsIn(store: Store, space: (typeof SPACES)[number]): Promise<readonly Row[]> {
  const range = { ...everything, space, limit: Infinity, rows: true };
  const { ranges } = await store.read((tx) => tx.fetch([], [range]));
  return (ranges[0] ?? []).flatMap(({ row }) => row ?? []);
}

async function exportedLog(host: MemoryHost): Promise<Uint8Array> {
  const wish = {
    time_start: '2020-01-01T00:00:00Z',
    time_end: new Date(Date.now() + 1e6).toISOString(),
  };
  const start = new Date(Date.now() - 1e9).toISOString();
  const answer = await host.handle({
    method: 'POST',
    path: '/api/v1/logs?type=query&regionGroup=local',
    headers: { authorization: `Bearer ${host.admin}` },
    body: JSON.stringify({ ...wish, time_start: start }),
  });
  expect(answer.status, answer.body).toBe(200);
  const { request_id: id } = JSON.parse(answer.body) as { request_id: string };
  await host.http.exports.work();
  for (let version = 0; version < 3; version++) {
    const file = await host.http.exports.file(id, version);
    if (!file) continue;
    const parts: Uint8Array[] = [];
    for await (const part of file.chunks) parts.push(part);
    return Buffer.concat(parts);
  }
  throw new Error('The export has no file.');
}

test('no secret is found in rows, logs, exports, answers or reports (P1)', async () => {
  vi.stubGlobal('navigator', { userAgent: 'a browser' });
  const store = createMemoryStore();
  const host = await openMemoryHost({ store });
  const cage = new Cage();
  cage.add({ name: 'root secret', text: host.admin, mayBeIn: [] });
  await sendAll(cage, (asked) => send(host, asked));
  await host.http.log.flush();
  const file = await exportedLog(host);
  for (const space of SPACES) {
    const what = space === 'history' ? 'documents' : space;
    for (const { key, entries, value } of await rowsIn(store, space)) {
      cage.look('rows', what, [key, ...entries].join(' '));
      cage.look('rows', what, value);
    }
  }
  cage.look('log export', 'file', file);
  cage.look('reports', 'all', JSON.stringify(host.reports.map(String)));
  expect(cage.findings).toEqual([]);
  expect(cage.unvisited('memory')).toEqual([]);
});

test('Cage.look() finds a secret in every encoding, and says where', () => {
  const text = new Cage().text('password');
  const inside = `{"a":"${text}"}`;
  const forms: readonly (string | Uint8Array)[] = [
    inside,
    Buffer.from(inside),
    Buffer.from(inside, 'utf16le'),
    gzipSync(inside),
    ...['', 'x', 'xx', 'xxx'].map((before) => btoa(before + inside)),
    Buffer.from(inside).toString('base64url'),
    Buffer.from(inside).toString('hex'),
  ];
  for (const form of forms) {
    const cage = new Cage();
    cage.look('rows', 'log', form);
    expect(cage.findings, String(form)).toMatchObject([{ canary: 'password', place: 'rows' }]);
  }
  const cage = new Cage();
  cage.look('rows', 'log', inside, ['password']);
  expect(cage.findings).toEqual([]);
  expect(cage.unvisited('memory')).toContain('log export');
});
