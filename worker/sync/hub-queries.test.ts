import { afterEach, expect, test, vi } from 'vitest';
import { browserNetwork } from '../browser/network.ts';
import { askHub, loginAtHub, unreached } from './hub-queries.ts';

afterEach(() => vi.unstubAllGlobals());

/** A browser whose page is at an origin, and who answers which mode of request. */
function browser(answered: readonly string[]): void {
  vi.stubGlobal('location', { origin: 'https://app.example' });
  vi.stubGlobal('fetch', (url: string, { mode }: { mode: string }) => {
    expect(url).toBe('https://hub.example/ping');
    return answered.includes(mode) ? Promise.resolve() : Promise.reject(new TypeError('failed'));
  });
}

test.each([
  ['down', [], 'The hub is down.'],
  ['back', ['cors', 'no-cors'], 'The hub is down.'],
  [
    'closed to the origin',
    ['no-cors'],
    'The hub answers, but not to pages of this origin: --cors https://app.example',
  ],
])('unreached() tells a hub that is %s', async (_, answered, text) => {
  browser(answered);
  const cause = new TypeError('failed');
  const refusal = await unreached(
    { url: 'https://hub.example', network: browserNetwork },
    'The hub is down.',
    cause,
  );
  expect(refusal).toMatchObject({ code: 'connection_needed', message: text, cause });
});

/** A server on the way, such as the page by which a hotel lets guests into its network. */
const otherServer = (status: number) => ({
  url: 'https://hub.example',
  network: {
    fetch: () => Promise.resolve(new Response('<html>Welcome</html>', { status })),
  },
});

test.each([200, 403, 502])(
  'an answer of another server, with status %i, is no answer of the hub',
  async (status) => {
    await expect(
      askHub(otherServer(status), 'secret', { query: '{"now":null}' }),
    ).rejects.toMatchObject({
      code: 'connection_needed',
      cause: { message: `The response, with status ${status}, is not of a hub.` },
    });
    const login = { user: '{"@ref":{}}', password: 'secret', key: 'key' };
    expect(await loginAtHub(otherServer(status), login)).toBeUndefined();
  },
);
