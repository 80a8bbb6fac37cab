/** The log export API over the network: requests, exports, downloads. */
import { gunzipSync } from 'node:zlib';
import { afterEach, expect, test } from 'vitest';
import { createFilesRoute, type FilesRoute } from '../files/files-route.ts';
import { openTestHub, type TestHub } from '../testing/test-hub.ts';

let hub: TestHub;
let files: FilesRoute | undefined;
afterEach(() => files?.close());

interface Answer {
  readonly request_id: string;
  readonly state: string;
  readonly presigned_url?: string;
  readonly message?: string;
  readonly version?: number;
}

async function call(
  method: string,
  path: string,
  body?: object,
): Promise<{ status: number; body: Answer }> {
  const answer = await fetch(`${hub.url}/api/v1/logs${path}`, {
    method,
    headers: { authorization: `Bearer ${hub.secret}` },
    ...(body && { body: JSON.stringify(body) }),
  });
  return { status: answer.status, body: (await answer.json()) as Answer };
}

const range = () => ({
  time_start: new Date(Date.now() - 3_600_000).toISOString(),
  time_end: new Date(Date.now() + 60_000).toISOString(),
});

test('a log export is requested, made and downloaded by a signed URL that cannot be forged', async () => {
  hub = await openTestHub({
    settings: { regionGroup: 'eu-std' },
    // Files of documents have paths with the same prefix.
    routes: (opened) => [(files = createFilesRoute(opened, undefined, { fileBytes: 1 }))],
  });
  for (let i = 0; i < 30; i++) await hub.query({ add: [1, i] });
  await hub.query({ login: 'x', params: { object: { password: 'canary-password' } } });
  const token = 'a29a6a2e-3b2a-4c41-8a6b-6d0a1d6a5b11';
  const wish = { ...range(), region_group: 'eu-std', idempotency_token: token };
  const asked = await call('POST', '?type=query', wish);
  expect(asked.status).toBe(200);
  expect(['Pending', 'Requested', 'Complete']).toContain(asked.body.state);
  const again = await call('POST', '?type=query', wish);
  expect(again.body.request_id).toBe(asked.body.request_id);
  const id = asked.body.request_id;
  const status = () => call('GET', `/${id}?type=query&regionGroup=eu-std`);
  await expect.poll(async () => (await status()).body.state).toBe('Complete');
  const url = (await status()).body.presigned_url ?? '';
  expect(url).toMatch(new RegExp(`^${hub.url}/files/${id}/0\\?signature=[\\w-]{43}$`));
  const file = await fetch(url);
  expect(file.headers.get('content-type')).toBe('application/gzip');
  const head = await fetch(url, { method: 'HEAD' });
  expect(head.headers.get('content-length')).toBe(file.headers.get('content-length'));
  const text = gunzipSync(Buffer.from(await file.arrayBuffer())).toString();
  const lines = text
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line) as { REGION_GROUP: string });
  expect(lines).toHaveLength(31);
  expect(lines[0]?.REGION_GROUP).toBe('eu-std');
  expect(text).not.toContain('canary-password');
  expect(text).not.toContain(hub.secret);
  for (const wrong of [
    url.slice(0, -1),
    `${url}A`,
    url.replace('/0?', '/1?'),
    url.split('?')[0] ?? '',
  ]) {
    expect((await fetch(wrong)).status).toBe(403);
  }
  const renewed = await call('POST', `/${id}/url?type=query&regionGroup=eu-std`, {});
  expect(renewed.body.version).toBe(1);
  await expect.poll(async () => (await fetch(url)).status).toBe(403);
  await expect
    .poll(async () => (await status()).body.presigned_url?.includes(`/files/${id}/1?`))
    .toBe(true);
  const listed = await call('POST', '/_list?type=query&regionGroup=eu-std', { max_results: 1 });
  expect(listed).toMatchObject({ status: 200, body: { results: [{ request_id: id }] } });
});

test('errors of the log API are messages, also those of rate limits and logins', async () => {
  hub = await openTestHub({ settings: { ratePerAddress: 3, ratePerToken: 1, burstSeconds: 1 } });
  const { url } = hub;
  expect(await (await fetch(`${url}/api/v1/logs?type=query`, { method: 'POST' })).json()).toEqual({
    message: expect.any(String),
  });
  let last = await call('POST', '?type=nonsense', {});
  expect(last).toMatchObject({ status: 400, body: { message: expect.any(String) } });
  for (let i = 0; i < 50 && last.status !== 429; i++) last = await call('POST', '?type=query', {});
  expect(last).toMatchObject({ status: 429, body: { message: expect.any(String) } });
});
