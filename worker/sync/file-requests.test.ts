import { expect, onTestFinished, test, vi } from 'vitest';
import { fileRequests } from './file-requests.ts';

const place = { file: `file:${'0'.repeat(64)}`, home: ['my notes', '7'] } as const;

const requestsTo = (
  answers: Response[],
  asked: string[] = [],
  { signal } = new AbortController(),
) =>
  fileRequests({
    url: 'https://hub.example',
    token: 'secret',
    signal,
    fetch: async (url, { method } = {}) => {
      asked.push(`${method} ${url instanceof Request ? url.url : url.toString()}`);
      return answers.shift() ?? Response.error();
    },
  });

const busy = (status: number, retryAfter = '0'): Response =>
  new Response('{"code":"too many requests","description":"Later."}', {
    status,
    headers: { 'retry-after': retryAfter },
  });

test('a request is repeated while the hub answers 429 or 503, up to a limit', async () => {
  const asked: string[] = [];
  const bytes = Uint8Array.of(1, 2);
  const requests = requestsTo([busy(429), busy(503), new Response(bytes)], asked);
  expect(await requests.read(place, 3)).toEqual({ ok: true, value: bytes });
  const url = `https://hub.example/files/${'0'.repeat(64)}/3?collection=my+notes&id=7`;
  expect(asked).toEqual(Array(3).fill(`GET ${url}`));
  const always = requestsTo(Array.from({ length: 9 }, () => busy(429)));
  expect(await always.read(place, 0)).toMatchObject({
    ok: false,
    refusal: { code: 'too many requests' },
  });
});

test('aborting ends the wait for a busy hub at once', async () => {
  vi.useFakeTimers();
  onTestFinished(() => void vi.useRealTimers());
  const ending = new AbortController();
  const reading = requestsTo([busy(503, '10'), busy(503)], [], ending).read(place, 0);
  await vi.waitFor(() => expect(vi.getTimerCount()).toBe(1));
  ending.abort();
  expect(vi.getTimerCount()).toBe(0);
  expect(await reading).toMatchObject({ ok: false });
});

test('a chunk counts as written only if the response is from the hub', async () => {
  const written = requestsTo([new Response(null, { status: 204 })]);
  expect(await written.write(place, 0, Uint8Array.of(1))).toEqual({ ok: true, value: undefined });
  for (const page of ['<html>Please log in to the network.</html>', '']) {
    const portal = requestsTo([new Response(page)]);
    await expect(portal.write(place, 0, Uint8Array.of(1))).rejects.toThrow(
      'The response, with status 200, is not from a hub.',
    );
  }
});

test('a refusal by the hub is returned; a response that is not from a hub rejects', async () => {
  const refused = new Response('{"code":"file_not_found","description":"No."}', { status: 404 });
  expect(await requestsTo([refused]).manifest(place)).toMatchObject({
    ok: false,
    refusal: { code: 'file_not_found' },
  });
  for (const page of ['<html>', '{"hello":"world"}'])
    await expect(requestsTo([new Response(page)]).manifest(place)).rejects.toThrow(
      'not from a hub',
    );
  const proxy = new Response('<html>', { status: 502 });
  await expect(requestsTo([proxy]).manifest(place)).rejects.toThrow('502');
  const other = new Response('{"size":-1}');
  await expect(requestsTo([other]).manifest(place)).rejects.toThrow('manifest.size');
});
