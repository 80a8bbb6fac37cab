/** The server at a URL may be something other than a hub. */
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, expect, test } from 'vitest';
import { secretOf } from '../../src/http/authorization.ts';
import { createKey } from './create-key.ts';
import { exportToFile } from './data.ts';
import { importLines } from './import-lines.ts';
import { OperationFault } from './operation-fault.ts';
import { queryHub } from './query-hub.ts';

let server: Server | undefined;
afterEach(() => server?.close());

/** The secrets of the requests, in order. */
let secrets: (string | undefined)[] = [];

/** A server that gives these answers in order, and then the last one for all further requests. */
async function answering(...answers: readonly (readonly [number, string])[]): Promise<string> {
  let count = 0;
  secrets = [];
  const made = createServer((request, response) => {
    secrets.push(secretOf(request.headers.authorization));
    const [status, text] = answers[Math.min(count, answers.length - 1)] ?? [500, ''];
    count += 1;
    response.writeHead(status, { 'retry-after': '0' }).end(text);
  });
  server = made;
  await new Promise<void>((resolve) => made.listen(0, '127.0.0.1', resolve));
  return `http://127.0.0.1:${(made.address() as AddressInfo).port}`;
}

test.each<[number, string]>([
  [200, '<html>Welcome</html>'],
  [200, ''],
  [404, 'Not Found'],
  [502, 'null'],
])("queryHub() rejects status %i with %j as not a hub's response", async (status, text) => {
  const asked = queryHub(await answering([status, text]), 'secret', { now: null });
  await expect(asked).rejects.toThrow(OperationFault);
  await expect(asked).rejects.toThrow(`status ${status}`);
});

const refusal = (code: string): string => JSON.stringify({ errors: [{ code, description: code }] });
const made: readonly [number, string] = [201, '{"resource":{"secret":"fnAmade"}}'];

const keyAt = (url: string): Promise<string> =>
  createKey({
    url,
    rootSecret: 'secret',
    database: '',
    role: 'server',
    name: undefined,
    makeDatabases: false,
  });

test.each([
  [503, 'time out'],
  [503, 'storage_blocked'],
  [429, 'too many requests'],
])('createKey() retries after %i %s, which created no key', async (status, code) => {
  expect(await keyAt(await answering([status, refusal(code)], made))).toBe('fnAmade');
});

test('createKey() does not retry if a key may have been created', async () => {
  const refused = keyAt(await answering([503, refusal('storage_unavailable')], made));
  await expect(refused).rejects.toThrow('storage_unavailable');
});

test('queryHub() retries a query that only reads', async () => {
  const url = await answering([503, refusal('storage_unavailable')], [200, '{"resource":true}']);
  expect(await queryHub(url, 'secret', { exists: null })).toBe(true);
});

test('database names with characters outside of Latin-1 can be sent', async () => {
  const url = await answering([200, '{"resource":true}'], made);
  const secret = await createKey({
    url,
    rootSecret: 'secret',
    database: 'кухня',
    role: 'server',
    name: undefined,
    makeDatabases: false,
  });
  expect(secret).toBe('fnAmade');
  expect(secrets).toEqual(['secret', 'secret:кухня:admin']);
});

test('a secret with a line break is refused by the hub and not shown', async () => {
  const url = await answering([401, refusal('unauthorized')]);
  const asked = queryHub(url, 'canary\ncanary', { now: null });
  await expect(asked).rejects.toThrow(/^(?![^]*canary)unauthorized/);
});

test.each([
  [429, 'too many requests'],
  [503, 'storage_unavailable'],
  [507, 'quota_exceeded'],
])(
  'an import ends without rejected lines if the hub refuses requests with %i %s',
  async (status, code) => {
    const folder = await mkdtemp(join(tmpdir(), 'burrow-import-'));
    const line = (id: number): string => `{"ref":{"@ref":{"id":"${id}"}},"data":{}}\n`;
    await writeFile(join(folder, 'notes.jsonl'), [1, 2, 3].map(line).join(''));
    const url = await answering([200, '{"resource":true}'], [status, refusal(code)]);
    const request = { url, secret: 'secret', folder, dryRun: false, keepTs: false };
    const imported = importLines({ ...request, onProgress: () => undefined });
    await expect(imported).rejects.toThrow(`notes.jsonl, line 1: ${code}`);
    expect(await readdir(folder)).toEqual(['notes.jsonl']);
    await rm(folder, { recursive: true });
  },
);

test('a response that breaks off is reported as a missing hub', async () => {
  const made = createServer((_, response) => {
    response.writeHead(200, { 'content-length': '100' });
    response.write('{"resource":', () => response.destroy());
  });
  server = made;
  await new Promise<void>((resolve) => made.listen(0, '127.0.0.1', resolve));
  const url = `http://127.0.0.1:${(made.address() as AddressInfo).port}`;
  const file = join(tmpdir(), 'never-written.burrow');
  const request = { url, secret: 'secret', file, onProgress: () => undefined };
  for (const asked of [
    queryHub(url, 'secret', { now: null }),
    exportToFile({ ...request, history: false }),
  ])
    await expect(asked).rejects.toSatisfy(
      (reason) =>
        reason instanceof OperationFault &&
        reason.message.startsWith(`No hub responds at ${url}: `),
    );
});
