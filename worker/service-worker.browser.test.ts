import { afterEach, expect, test } from 'vitest';
import { openDatabase, q, type Database } from '../src/index.ts';

const memoryWorker = () =>
  new Worker(new URL('./testing/memory-main.ts', import.meta.url), { type: 'module' });

let database: Database | undefined;
let registration: ServiceWorkerRegistration | undefined;

/** Resolves when this page is served by exactly this script, without a reload: the script claims the page. */
async function register(settings: string): Promise<void> {
  const script = `/service-worker.js?${settings}`;
  registration = await navigator.serviceWorker.register(script);
  // The service worker of the previous test may still be active.
  const own = new URL(script, location.origin).href;
  await expect.poll(() => navigator.serviceWorker.controller?.scriptURL).toBe(own);
}

afterEach(async () => {
  await registration?.unregister();
  await database?.close();
  database = undefined;
});

test('fetch() of a path of the origin is answered by the page that has the database open', async () => {
  await register('prefix=/burrow/&database=served');
  database = await openDatabase('served', {
    worker: memoryWorker,
    log: { enabled: true },
  });
  const headers = { authorization: `Bearer ${database.rootSecret}`, 'x-faunadb-api-version': '4' };

  const answer = await fetch('/burrow/', { method: 'POST', headers, body: '{"equals":[1,1]}' });
  expect(answer.headers.get('x-txn-time')).toMatch(/^\d+$/);
  expect(await answer.json()).toEqual({ resource: true });
  expect(await (await fetch('/burrow/ping')).json()).toEqual({ resource: 'Scope write is OK' });
  const self = await fetch('/burrow/tokens/self', { headers: { authorization: 'Bearer nobody' } });
  expect(self.status).toBe(401);

  const range = {
    time_start: new Date(Date.now() - 60_000),
    time_end: new Date(Date.now() + 60_000),
  };
  const asked = await fetch('/burrow/api/v1/logs?type=query', {
    method: 'POST',
    headers,
    body: JSON.stringify(range),
  });
  const { request_id: id } = (await asked.json()) as { request_id: string };
  const urlOf = async (): Promise<string | undefined> => {
    const status = await fetch(`/burrow/api/v1/logs/${id}?type=query&regionGroup=local`, {
      headers,
    });
    return ((await status.json()) as { presigned_url?: string }).presigned_url;
  };
  await expect.poll(urlOf).toMatch(`${location.origin}/burrow/files/${id}/0?signature=`);
  const url = String(await urlOf());
  const file = await fetch(url);
  expect(file.headers.get('content-type')).toBe('application/gzip');
  expect(file.headers.get('content-disposition')).toBe(
    `attachment; filename="burrow-logs-${id}.json.gz"`,
  );
  const lines = file.body!.pipeThrough(new DecompressionStream('gzip'));
  const text = await new Response(lines).text();
  expect(text).toContain('{\\"equals\\":[1,1]}');
  expect(text).not.toContain(database.rootSecret);
});

test('a request is executed once, even if a page has the database open twice', async () => {
  await register('database=twice');
  const worker = () => new Worker(new URL('./main.ts', import.meta.url), { type: 'module' });
  const other = await openDatabase('twice', { worker });
  database = await openDatabase('twice', { worker });
  const notes = q.Collection('notes');
  const admin = database.client();
  await admin.query(q.CreateCollection({ name: 'notes' }));
  const secret = await admin.query(q.Select('secret', q.CreateKey({ role: 'server' })));
  const headers = { authorization: `Bearer ${secret}`, 'x-faunadb-api-version': '4' };
  const body = '{"create":{"collection":"notes"}}';
  const answer = await fetch('/burrow/', { method: 'POST', headers, body });
  expect(answer.status).toBe(201);
  // Closing waits for running queries, so a second execution of the request would be counted below.
  await Promise.all([other.close(), database.close()]);
  database = await openDatabase('twice', { worker });
  expect(await database.client().query(q.Count(q.Documents(notes)))).toBe(1);
  await database.destroy();
});

test('a stream passes through the service worker', async () => {
  await register('database=streamed');
  database = await openDatabase('streamed', { worker: memoryWorker });
  const admin = database.client();
  await admin.query(q.CreateCollection({ name: 'notes' }));
  const headers = { authorization: `Bearer ${database.rootSecret}`, 'x-faunadb-api-version': '4' };
  const body = '{"documents":{"collection":"notes"}}';
  const stream = await fetch('/burrow/stream', { method: 'POST', headers, body });
  const reader = stream.body?.pipeThrough(new TextDecoderStream()).getReader();
  expect((await reader?.read())?.value).toMatch(/^\{"type":"start"/);
  await admin.query(q.Create(q.Ref(q.Collection('notes'), '7'), { data: {} }));
  expect((await reader?.read())?.value).toMatch(/"action":"add".*"id":"7"/);
  await reader?.cancel();
});

test('the service worker answers 503 when no page has the database open', async () => {
  await register('database=nobody-has-it');
  const answer = await fetch('/burrow/', { method: 'POST', body: '1' });
  expect(answer.status).toBe(503);
  expect(await answer.json()).toMatchObject({ errors: [{ code: 'time out' }] });
});
