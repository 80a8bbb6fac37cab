/** Bodies longer than `LIMITS.longTextChars` reach the thread that executes them unchanged, for every protocol and encoding. */
import { connect, constants } from 'node:http2';
import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { removeTestHub, ROOT_SECRET, startHub, type HubProcess } from './testing/hub-process.ts';
import { HUB_LIMITS, LIMITS } from '../src/limits.ts';

let hub: HubProcess;
beforeAll(async () => {
  hub = await startHub({ args: ['--data', 'memory:', '--query-log', 'on'] });
});
afterAll(async () => {
  hub.child.kill('SIGKILL');
  await hub.exited;
  await removeTestHub();
});

const HEADERS = { authorization: `Bearer ${ROOT_SECRET}`, 'x-faunadb-api-version': '4' };
/** Most characters take several bytes, so some are split between the parts of a body. */
const TEXT = 'ä€😀z'.repeat(LIMITS.longTextChars / 4);
const QUERY = JSON.stringify({ concat: [TEXT, '!'] });

const post = (body: string | Uint8Array<ArrayBuffer>, headers: Record<string, string> = {}) =>
  fetch(hub.url, { method: 'POST', headers: { ...HEADERS, ...headers }, body });

const resourceOf = async (response: Response): Promise<unknown> =>
  ((await response.json()) as { readonly resource?: unknown }).resource;

test('a long query over HTTP/1.1 is answered, with its size in the metrics', async () => {
  const response = await post(QUERY);
  expect(response.headers.get('x-query-bytes-in')).toBe(String(Buffer.byteLength(QUERY)));
  expect(await resourceOf(response)).toBe(`${TEXT}!`);
});

test('a long compressed query is answered', async () => {
  // The text does not repeat, so its compression ratio is within the limit.
  const random = Array.from({ length: 40_000 }, (_, n) => `${(n * 2654435761) % 2 ** 32}é`).join(
    '',
  );
  const body = gzipSync(JSON.stringify({ concat: [random, '!'] }));
  const response = await post(new Uint8Array(body), { 'content-encoding': 'gzip' });
  expect(await resourceOf(response)).toBe(`${random}!`);
});

test('a long query over HTTP/2 is answered', async () => {
  const session = connect(hub.url);
  const stream = session.request({
    ...HEADERS,
    [constants.HTTP2_HEADER_METHOD]: 'POST',
    [constants.HTTP2_HEADER_PATH]: '/',
  });
  stream.end(QUERY);
  const parts: Buffer[] = [];
  for await (const part of stream) parts.push(part as Buffer);
  session.close();
  const { resource } = JSON.parse(Buffer.concat(parts).toString()) as { resource: unknown };
  expect(resource).toBe(`${TEXT}!`);
});

test('a long query that is not UTF-8 or not JSON is refused like a short one', async () => {
  const bytes = new TextEncoder().encode(QUERY);
  bytes[20] = 0xff;
  for (const body of [bytes, `${QUERY}}`]) {
    const long = await post(body);
    const short = await post('{');
    expect(long.status).toBe(short.status);
    expect(await long.json()).toEqual(await short.json());
  }
});

test('a long query with a wrong secret is refused', async () => {
  const response = await post(QUERY, { authorization: 'Bearer fnEnobody' });
  expect(response.status).toBe(401);
});

/** The manifest of a file is sent with PUT, everything else with POST. */
const answerAt = async (path: string, body: string) => {
  const method = path === MANIFEST ? 'PUT' : 'POST';
  const response = await fetch(`${hub.url}${path}`, { method, headers: HEADERS, body });
  const { errors, code, description } = (await response.json()) as {
    readonly errors?: readonly { readonly code: string; readonly description: string }[];
    readonly code?: string;
    readonly description?: string;
  };
  const [error] = errors ?? [{ code, description }];
  return [response.status, error?.code, error?.description];
};

const { otherBodyValues, messageValues, parsedBodyBytes } = HUB_LIMITS;
const NOTES = { create_collection: { object: { name: 'notes' } } };
const MANIFEST = `/files/${'a'.repeat(64)}?collection=notes&id=1`;

test.each(['/collections/notes', '/stream', '/live/', '/sync/pull', MANIFEST])(
  'the length of bodies for %s, which the main thread parses, is limited',
  async (path) => {
    const text = (length: number): string => JSON.stringify('x'.repeat(length - 2));
    const refused = [413, 'request too large', `The body is larger than ${parsedBodyBytes} bytes.`];
    expect(await answerAt(path, text(parsedBodyBytes + 1))).toEqual(refused);
    const [status] = await answerAt(path, text(parsedBodyBytes));
    expect(status).not.toBe(413);
  },
);

test.each([
  ['/collections/notes', otherBodyValues],
  ['/stream', otherBodyValues],
  ['/live/', messageValues],
  ['/sync/pull', messageValues],
  [MANIFEST, messageValues],
])('the number of values in bodies for %s is limited: %d', async (path, values) => {
  const long = 'x'.repeat(LIMITS.longTextChars);
  const list = (objects: number): string => `{"sets":[${'{},'.repeat(objects)}"${long}"]}`;
  expect(await answerAt(path, list(values / 2))).toEqual([
    413,
    'request too large',
    `The body has more than ${values} values.`,
  ]);
  const [status] = await answerAt(path, list(values / 2 - 10));
  expect(status).not.toBe(413);
});

const makeNotes = (): Promise<unknown> =>
  // oxlint-disable-next-line unicorn/no-thenable -- a form of FQL
  hub.query({ if: { exists: { collection: 'notes' } }, then: 1, else: NOTES });

test('a document for the older REST routes may have the maximum length', async () => {
  await makeNotes();
  const text = 'x'.repeat(parsedBodyBytes - 100);
  const response = await fetch(`${hub.url}/collections/notes`, {
    method: 'POST',
    headers: HEADERS,
    body: JSON.stringify({ data: { text } }),
  });
  expect(await response.json()).toMatchObject({ resource: { data: { text } } });
});

test('the older REST routes refuse a long body that is not an object', async () => {
  const long = 'x'.repeat(LIMITS.longTextChars);
  // The last body would, if inserted unchecked, close the expression into which it is inserted.
  for (const body of [`["${long}"]`, `{"a":"${long}"`, `{"a":"${long}"}},"b":{"c":{}`])
    expect(await answerAt('/collections', body), body.slice(0, 2)).toEqual([
      400,
      'bad request',
      'Request body is not a JSON object.',
    ]);
});

test('a long body of a DELETE is ignored', async () => {
  await makeNotes();
  await hub.query({ create: { ref: { collection: 'notes' }, id: '7' } });
  const body = `{"a":"${'x'.repeat(LIMITS.longTextChars)}"}`;
  const init = { method: 'DELETE', headers: HEADERS, body };
  const response = await fetch(`${hub.url}/collections/notes/7`, init);
  expect(await response.json()).toMatchObject({ resource: { ref: { '@ref': { id: '7' } } } });
});
