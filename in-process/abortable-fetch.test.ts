import { once } from 'node:events';
import { createServer, type Server, type ServerResponse } from 'node:http';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { abortableFetch } from './abortable-fetch.ts';

setFlagsFromString('--expose-gc');
const collectGarbage = runInNewContext('gc') as () => void;

let server: Server;
let url: string;
const open = new Set<ServerResponse>();

beforeEach(async () => {
  server = createServer((request, response) => {
    open.add(response.on('close', () => open.delete(response)));
    response.writeHead(Number(request.url?.slice(1)), { 'x-name': 'kept' });
    if (request.url === '/204') response.end();
    else response.write('begun ');
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const address = server.address();
  url = `http://127.0.0.1:${typeof address === 'object' ? address?.port : 0}`;
});
afterEach(() => {
  server.closeAllConnections();
  server.close();
});

const get = (path: string, signal?: AbortSignal): Promise<Response> =>
  abortableFetch(`${url}${path}`, {
    method: 'POST',
    body: '{}',
    credentials: 'omit',
    redirect: 'error',
    ...(signal && { signal }),
  });

/** Reads the body to its end, holding no reference to the request or the response. */
async function readAll(signal: AbortSignal, parts: string[]): Promise<void> {
  const reader = (await get('/200', signal)).body?.getReader();
  for (let part = await reader?.read(); part?.done === false; part = await reader?.read())
    parts.push(new TextDecoder().decode(part.value));
}

async function collect(): Promise<void> {
  for (let turn = 0; turn < 5; turn++) {
    collectGarbage();
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
}

test('a signal aborts a streamed response, even after garbage collection', async () => {
  const stop = new AbortController();
  const parts: string[] = [];
  const read = readAll(stop.signal, parts);
  read.catch(() => undefined);
  await expect.poll(() => parts).toEqual(['begun ']);
  await collect();
  stop.abort();
  await expect.poll(() => open.size).toBe(0);
  await expect(read).rejects.toMatchObject({ name: 'AbortError' });
});

test('a signal aborts `text()` of a response that never ends', async () => {
  const stop = new AbortController();
  const text = get('/500', stop.signal).then((response) => response.text());
  text.catch(() => undefined);
  await expect.poll(() => open.size).toBe(1);
  await collect();
  stop.abort();
  await expect.poll(() => open.size).toBe(0);
  await expect(text).rejects.toMatchObject({ name: 'AbortError' });
});

test('a response has its status and headers', async () => {
  const { signal } = new AbortController();
  for (const each of [signal, undefined]) {
    const response = await get('/404', each);
    expect([response.status, response.ok, response.headers.get('x-name')]).toEqual([
      404,
      false,
      'kept',
    ]);
    expect((await get('/204', each)).status).toBe(204);
  }
});
