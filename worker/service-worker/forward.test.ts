import { expect, test, vi } from 'vitest';
import {
  SERVICE_PROTOCOL,
  type ServiceAnswer,
  type ServiceCall,
  type ServiceOffer,
  type ServiceRequest,
} from '../../src/host/service-worker.ts';
import { forward, type ForwardOptions, type Page } from './forward.ts';

const REQUEST: ServiceRequest = {
  method: 'POST',
  path: '/',
  headers: { authorization: 'Bearer x' },
  body: '{"now":null}',
  base: 'https://app.example/burrow',
};
const OPTIONS: ForwardOptions = {
  database: 'notes',
  // Tests with silent pages wait this long. A shorter time would not be enough for other pages on a busy machine.
  acceptMs: 400,
  answerMs: 200,
  goneMs: 20,
  isOpen: () => Promise.resolve(false),
};

interface Seen {
  readonly offers: ServiceOffer[];
  readonly calls: ServiceCall[];
  /** Closed ports. */
  readonly closed: MessagePort[];
}

/** A page that accepts and gives these answers. Undefined: it sends nothing. */
function pageOf(id: string, answers: readonly ServiceAnswer[] | undefined): Page & Seen {
  const seen: Seen = { offers: [], calls: [], closed: [] };
  let next = 0;
  return {
    id,
    ...seen,
    postMessage(offer, [transferred]) {
      seen.offers.push(offer);
      const port = transferred as MessagePort;
      const say = (answer: ServiceAnswer): void => port.postMessage(answer);
      port.addEventListener('message', ({ data }: MessageEvent<ServiceCall>) => {
        seen.calls.push(data);
        const answer =
          data.type === 'request' || data.type === 'pull' ? answers?.[next++] : undefined;
        if (answer) say(answer);
        if (data.type === 'dismiss' || data.type === 'cancel') port.close();
      });
      port.addEventListener('close', () => seen.closed.push(port));
      port.start();
      if (answers) say({ type: 'accept', protocol: SERVICE_PROTOCOL });
    },
  };
}

const answerOf = (body: string | undefined): ServiceAnswer => ({
  type: 'answer',
  status: 201,
  headers: { 'x-txn-time': '7' },
  body,
});
const none = () => Promise.resolve([]);
const encoded = (text: string) => new TextEncoder().encode(text);

test('forward() passes the request to the requesting page, and returns its answer', async () => {
  const own = pageOf('own', [answerOf('{"resource":1}')]);
  const response = await forward(REQUEST, own, none, OPTIONS);
  expect(response.status).toBe(201);
  expect(response.headers.get('x-txn-time')).toBe('7');
  expect(await response.text()).toBe('{"resource":1}');
  expect(own.offers).toEqual([
    { type: 'burrow-offer', protocol: SERVICE_PROTOCOL, database: 'notes' },
  ]);
  expect(own.calls).toEqual([{ type: 'request', request: REQUEST }]);
});

test('forward() asks other pages when the requesting page is silent, and sends the request to one of them', async () => {
  const own = pageOf('own', undefined);
  const pages = [own, pageOf('a', [answerOf('a')]), pageOf('b', [answerOf('b')])] as const;
  const response = await forward(REQUEST, own, () => Promise.resolve(pages), OPTIONS);
  const text = await response.text();
  expect(['a', 'b']).toContain(text);
  const loser = pages.find(({ id }) => id !== 'own' && id !== text);
  await expect.poll(() => loser?.calls).toEqual([{ type: 'dismiss' }]);
  expect(own.offers).toHaveLength(1);
});

test('forward() answers 503 when no page accepts, in the error format of the path', async () => {
  const response = await forward(REQUEST, undefined, none, OPTIONS);
  expect(response.status).toBe(503);
  expect(await response.json()).toEqual({
    errors: [{ code: 'time out', description: expect.any(String) }],
  });
  const logs = await forward({ ...REQUEST, path: '/api/v1/logs' }, undefined, none, OPTIONS);
  expect(await logs.json()).toEqual({ message: expect.any(String) });
});

test('forward() answers 503 when the page that accepted does not answer, or reports a failure', async () => {
  expect((await forward(REQUEST, pageOf('own', []), none, OPTIONS)).status).toBe(503);
  const broken = pageOf('own', [{ type: 'broken', description: 'The worker is gone.' }]);
  const response = await forward(REQUEST, broken, none, OPTIONS);
  expect(response.status).toBe(503);
  expect(await response.text()).toContain('The worker is gone.');
});

test('forward() answers 503 as soon as the page that accepted is closed', async () => {
  const open = vi
    .fn<ForwardOptions['isOpen']>()
    .mockResolvedValueOnce(true)
    .mockResolvedValue(false);
  const response = await forward(REQUEST, pageOf('own', []), none, {
    ...OPTIONS,
    answerMs: 600_000,
    isOpen: open,
  });
  expect([response.status, await response.text()]).toEqual([
    503,
    expect.stringContaining('closed'),
  ]);
  expect(open.mock.calls).toEqual([['own'], ['own']]);
});

test('forward() requests the parts of a streamed body as they are read', async () => {
  const own = pageOf('own', [
    answerOf(undefined),
    { type: 'part', part: 'one ' },
    { type: 'part', part: encoded('two') },
    { type: 'part', part: undefined },
  ]);
  const response = await forward(REQUEST, own, none, OPTIONS);
  expect(own.calls).toHaveLength(1);
  expect(await response.text()).toBe('one two');
  expect(own.calls.map(({ type }) => type)).toEqual(['request', 'pull', 'pull', 'pull']);
  await expect.poll(() => own.closed).toHaveLength(1);
});

test('a streamed body fails when its page closes, and cancelling it cancels it in the page', async () => {
  const gone = pageOf('own', [answerOf(undefined), { type: 'part', part: 'one' }]);
  const response = await forward(REQUEST, gone, none, OPTIONS);
  await expect(response.text()).rejects.toThrow('was closed');
  const own = pageOf('own', [answerOf(undefined), { type: 'part', part: 'one' }]);
  const left = await forward(REQUEST, own, none, OPTIONS);
  await left.body?.cancel();
  await expect.poll(() => own.calls.at(-1)).toEqual({ type: 'cancel' });
});

test('a streamed body that is cancelled while it waits for a part stops checking its page', async () => {
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] });
  try {
    const own = pageOf('own', [answerOf(undefined)]);
    const reader = (await forward(REQUEST, own, none, OPTIONS)).body!.getReader();
    const part = reader.read();
    expect(vi.getTimerCount()).toBe(1);
    await reader.cancel();
    expect(await part).toEqual({ done: true, value: undefined });
    expect(vi.getTimerCount()).toBe(0);
  } finally {
    vi.useRealTimers();
  }
});

test('a streamed body does not time out as long as its page is open', async () => {
  const own = pageOf('own', [answerOf(undefined)]);
  let looks = 0;
  const isOpen = (id: string) => Promise.resolve(id === 'own' && ++looks < 4);
  const response = await forward(REQUEST, own, none, { ...OPTIONS, isOpen });
  await expect(response.text()).rejects.toThrow('was closed');
  expect(looks).toBe(4);
});

test('forward() sends no request to a page with another protocol version', async () => {
  const other: Page = {
    id: 'own',
    postMessage(_, [port]) {
      (port as MessagePort).postMessage({ type: 'accept', protocol: SERVICE_PROTOCOL + 1 });
    },
  };
  expect((await forward(REQUEST, other, none, OPTIONS)).status).toBe(503);
});
