import { getEventListeners } from 'node:events';
import { afterEach, expect, test, vi } from 'vitest';
import { browserNetwork } from '../browser/network.ts';
import { Refusal } from '../../src/errors.ts';
import { FUNCTION_ROWS } from '../../src/query/table.ts';
import { askHub, isRead, loginAtHub, unreached } from './hub-queries.ts';

afterEach(() => vi.unstubAllGlobals());

/** A browser with a page of some origin, where requests of the given modes are answered. */
function browser(answered: readonly string[]): void {
  vi.stubGlobal('location', { origin: 'https://app.example' });
  vi.stubGlobal('fetch', (url: string, { mode }: { mode: string }) => {
    expect(url).toBe('https://hub.example/ping');
    return answered.includes(mode) ? Promise.resolve() : Promise.reject(new TypeError('failed'));
  });
}

test.each([
  ['down', [], 'The hub is down.'],
  ['up again', ['cors', 'no-cors'], 'The hub is down.'],
  [
    'closed to the origin',
    ['no-cors'],
    'The hub is down. The hub does not answer pages of this origin (--cors https://app.example), or another server answers at its URL.',
  ],
])(
  'unreached() suggests --cors only for a hub that rejects the origin (hub: %s)',
  async (_, answered, text) => {
    browser(answered);
    const cause = new TypeError('failed');
    const refusal = await unreached(
      new Refusal('connection_needed', 'The hub is down.', { cause }),
      {
        url: 'https://hub.example',
        network: browserNetwork,
      },
    );
    expect(refusal).toMatchObject({ code: 'connection_needed', message: text, cause });
  },
);

test.each([
  ['https://app.example', 'http://hub.example', true],
  ['https://app.example', 'http://192.168.0.2:8443', true],
  ['https://app.example', 'https://hub.example', false],
  ['http://app.example', 'http://hub.example', false],
  // A hub on the same device may be reached over http, if the browser has no other reason.
  ...['localhost:8443', '127.0.0.1:8443', '[::1]:8443'].map(
    (host) => ['https://app.example', `http://${host}`, false] as const,
  ),
] as const)(
  'unreached() says when a browser blocks http in a page over https: %s, %s',
  async (origin, url, isBlocked) => {
    vi.stubGlobal('location', { origin });
    const network = { fetch: () => Promise.reject(new TypeError('failed')) };
    const refusal = new Refusal('connection_needed', 'The hub is down.');
    const { message } = await unreached(refusal, { url, network });
    expect(message.includes('over https')).toBe(isBlocked);
  },
);

test.each([
  ['enforce', true],
  ['report', false],
])(
  'unreached() says when a Content-Security-Policy forbids the hub (disposition: %s)',
  async (disposition, isForbidden) => {
    const page = new EventTarget();
    vi.stubGlobal('location', { origin: 'https://app.example' });
    vi.stubGlobal('addEventListener', page.addEventListener.bind(page));
    const network = {
      fetch: () => {
        page.dispatchEvent(Object.assign(new Event('securitypolicyviolation'), { disposition }));
        return Promise.reject(new TypeError('failed'));
      },
    };
    const refusal = new Refusal('connection_needed', 'The hub is down.');
    const { message } = await unreached(refusal, { url: 'https://hub.example', network });
    expect(message.includes('`connect-src`')).toBe(isForbidden);
    expect(getEventListeners(page, 'securitypolicyviolation')).toEqual([]);
  },
);

test('unreached() suggests nothing outside of a browser, where a hub rejects no origin', async () => {
  const modes: (string | undefined)[] = [];
  const network: Pick<typeof globalThis, 'fetch'> = {
    fetch: (_, { mode } = {}) => {
      modes.push(mode);
      return mode === 'no-cors' ? Promise.resolve(new Response()) : Promise.reject(new TypeError());
    },
  };
  const refusal = new Refusal('connection_needed', 'The hub is down.');
  expect(await unreached(refusal, { url: 'https://hub.example', network })).toBe(refusal);
  expect(modes).toEqual([]);
});

test('when a proxy answers for a hub that is down, a write fails as of unknown effect, a read as hub_unreachable', async () => {
  browser(['no-cors']);
  const network: Pick<typeof globalThis, 'fetch'> = {
    fetch: (url, init) =>
      url === 'https://hub.example/' ? Promise.reject(new TypeError('failed')) : fetch(url, init),
  };
  const hub = { url: 'https://hub.example', network };
  const ask = (query: string) => askHub(hub, 'secret', { query });
  await expect(ask('{"create":1}')).rejects.toMatchObject({
    code: 'connection_needed',
    message: expect.stringMatching(/unknown whether the query took effect.*--cors/),
  });
  await expect(ask('{"now":null}')).rejects.toMatchObject({ code: 'hub_unreachable' });
});

/** A server in between, such as the captive portal of a hotel. */
const otherServer = (status: number, text: string) => ({
  url: 'https://hub.example',
  network: {
    fetch: () => Promise.resolve(new Response(text, { status })),
  },
});

test.each([
  [200, '<html>Welcome</html>'],
  [403, '<html>Welcome</html>'],
  [502, '<html>Welcome</html>'],
  // Cut off by a proxy, without an error.
  [200, '{"resource":{"data":[{"x":1}'],
  // A server of GraphQL.
  [200, '{"errors":[{"message":"Must provide query string."}]}'],
  [400, '{"errors":[{"message":"Must provide query string."}]}'],
])(
  'a response from another server, with status %i and text %s, is not taken for one from the hub',
  async (status, text) => {
    await expect(
      askHub(otherServer(status, text), 'secret', { query: '{"now":null}' }),
    ).rejects.toMatchObject({
      code: 'hub_unreachable',
      cause: { message: `The response, with status ${status}, is not from a hub.` },
    });
    const login = { user: '{"@ref":{}}', password: 'secret', key: 'key' };
    expect(await loginAtHub(otherServer(status, text), login)).toEqual({
      why: `The response, with status ${status}, is not from a hub.`,
    });
  },
);

test.each(['null', '{}'])(
  'a login is not taken to have worked if its answer is %s',
  async (resource) => {
    const login = { user: '{"@ref":{}}', password: 'secret', key: 'key' };
    expect(await loginAtHub(otherServer(200, `{"resource":${resource}}`), login)).toEqual({
      why: 'The response, with status 200, is not from a hub.',
    });
  },
);

test('a page with status 404 in place of a hub says to check the option `url`', async () => {
  const login = { user: '{"@ref":{}}', password: 'secret', key: 'key' };
  expect(await loginAtHub(otherServer(404, '<html>'), login)).toEqual({
    why: 'There is no hub at https://hub.example: check the option `url`.',
  });
});

test('a redirect is not followed, and the error says so', async () => {
  const asked: unknown[] = [];
  const hub = {
    url: 'https://hub.example',
    network: {
      fetch: (_: unknown, init: RequestInit = {}) => {
        asked.push(init.redirect);
        const headers = { location: 'https://elsewhere.example/' };
        return Promise.resolve(new Response(null, { status: 308, headers }));
      },
    },
  };
  const login = { user: '{"@ref":{}}', password: 'secret', key: 'key' };
  expect(await loginAtHub(hub, login)).toEqual({
    why: expect.stringContaining('redirects to another URL'),
  });
  expect(asked).toEqual(['manual']);
});

/** Receives every request, and answers none. */
const slow = {
  url: 'https://hub.example',
  network: {
    fetch: (_: unknown, { signal }: RequestInit = {}) =>
      new Promise<never>((_resolve, reject) => {
        const abort = (): void => reject(new DOMException('', 'AbortError'));
        if (signal?.aborted) abort();
        signal?.addEventListener('abort', abort);
      }),
  },
};

test('a query without a response fails with a message that says whether it can be sent again', async () => {
  const down = { ...slow, network: { fetch: () => Promise.reject(new TypeError('failed')) } };
  await expect(askHub(down, 'secret', { query: '{"now":null}' })).rejects.toMatchObject({
    code: 'hub_unreachable',
    message:
      'The hub could not be reached, or its response was lost. The query only reads: send it again when there is a connection.',
  });
  const query = '{"create":{"collection":"notes"}}';
  await expect(askHub(slow, 'secret', { query, timeoutMs: 20 })).rejects.toMatchObject({
    code: 'connection_needed',
    message:
      'The hub has not answered within 0.02 s. It is unknown whether the query took effect: check before you send it again.',
  });
});

test('isRead() is false for all functions that write, except new_id and next_id', () => {
  const writing = FUNCTION_ROWS.filter(({ declared }) => declared === 'write').map(
    ({ name }) => name,
  );
  const reading = writing.filter((name) => isRead(JSON.stringify({ [name]: null })));
  // Their only effect is their value.
  expect(reading).toEqual(['new_id', 'next_id']);
  expect(isRead('{"count":{"documents":{"collection":"notes"}}}')).toBe(true);
});

test('loginAtHub() says of a slow hub that it has not answered, not that it is away', async () => {
  vi.spyOn(AbortSignal, 'timeout').mockReturnValue(AbortSignal.abort());
  const login = { user: '{"@ref":{}}', password: 'secret', key: 'key' };
  expect(await loginAtHub(slow, login)).toEqual({ why: 'The hub has not answered within 8 s.' });
  vi.restoreAllMocks();
});
