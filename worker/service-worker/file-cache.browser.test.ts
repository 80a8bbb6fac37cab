import { afterEach, expect, test, vi } from 'vitest';
import { AppCache } from './file-cache.ts';

const base = `${location.origin}/app/`;
/** A file that the test server has in every version. */
const FILE = new URL('/service-worker.js', location.origin).href;

function publish(list: unknown, status = 200): void {
  vi.stubGlobal('fetch', () => Promise.resolve(new Response(JSON.stringify(list), { status })));
}
const mine = async () => (await caches.keys()).filter((name) => name.includes(base));

afterEach(async () => {
  vi.unstubAllGlobals();
  await Promise.all((await mine()).map((name) => caches.delete(name)));
});

test('refresh() stores the files of a version, and answer() returns them', async () => {
  const cache = new AppCache(base);
  publish({ version: '1', files: [FILE] });
  await cache.refresh();
  publish('from the network');
  expect(await (await cache.answer(new Request(FILE))).text()).toContain('burrow');
  expect(await (await cache.answer(new Request(`${base}other`))).text()).toBe('"from the network"');
  vi.stubGlobal('fetch', () => Promise.reject(new TypeError('no network')));
  expect((await cache.answer(new Request(FILE))).status).toBe(200);
  await expect(cache.answer(new Request(`${base}other`))).rejects.toThrow('no network');
});

test('answer() returns a redirected file as a new response, because browsers refuse a redirected one for a page', async () => {
  const cache = new AppCache(base);
  publish({ version: '1', files: [FILE] });
  await cache.refresh();
  const direct = await cache.answer(new Request(FILE));
  const redirected = vi.spyOn(Response.prototype, 'redirected', 'get').mockReturnValue(true);
  const answer = await cache.answer(new Request(FILE));
  redirected.mockRestore();
  // A response that was constructed here has no URL.
  expect([direct.url, answer.url]).toEqual([FILE, '']);
  expect([...answer.headers]).toEqual([...direct.headers]);
  expect(await answer.text()).toBe(await direct.text());
});

test('refresh() keeps the newest two versions', async () => {
  const cache = new AppCache(base);
  for (const version of ['1', '2', '2', '3']) {
    publish({ version, files: [FILE] });
    await cache.refresh();
  }
  expect(await mine()).toEqual([`burrow-app ${base} 2`, `burrow-app ${base} 3`]);
});

test('a page and its workers get the files of the version with which the page was loaded', async () => {
  const cache = new AppCache(base);
  const shown = async (clientId: string, resultingClientId = '') =>
    (await cache.answer(new Request(FILE), { clientId, resultingClientId })).text();
  const deploy = async (version: string) => {
    publish({ version, files: [FILE] });
    await cache.refresh();
    await (await caches.open(`burrow-app ${base} ${version}`)).put(FILE, new Response(version));
  };
  await deploy('1');
  expect(await shown('', 'page')).toBe('1');
  await deploy('2');
  expect(await shown('page', 'worker')).toBe('1');
  expect(await shown('worker')).toBe('1');
  expect(await shown('', 'next page')).toBe('2');
  // As after the service worker was stopped.
  const again = await new AppCache(base).answer(new Request(FILE), {
    clientId: 'page',
    resultingClientId: '',
  });
  expect(await again.text()).toBe('1');
  await deploy('3');
  expect(await shown('page')).toBe('3');
  expect(await shown('next page')).toBe('2');
});

test('only the latest 500 pages are remembered', async () => {
  const cache = new AppCache(base);
  publish({ version: '1', files: [FILE] });
  await cache.refresh();
  const clients = await caches.open(`burrow-app-clients ${base}`);
  for (let n = 0; n < 510; n++) await clients.put(`${base}?${n}`, new Response('of before'));
  await cache.answer(new Request(FILE), { clientId: '', resultingClientId: 'page' });
  const kept = await clients.keys();
  expect(kept).toHaveLength(500);
  expect(kept.at(-1)?.url).toBe(`${base}?page`);
});

test('an incomplete version does not replace a complete one', async () => {
  const cache = new AppCache(base);
  publish({ version: '1', files: [FILE] });
  await cache.refresh();
  publish({ version: '2', files: [FILE, 'http://127.0.0.1:9/none'] });
  await expect(cache.refresh()).rejects.toThrow(TypeError);
  publish({ version: '3', files: [FILE] });
  await cache.refresh();
  expect(await mine()).toEqual([`burrow-app ${base} 1`, `burrow-app ${base} 3`]);
  // As if the browser had been stopped in the middle of a refresh.
  await (await caches.open(`burrow-app ${base} 4`)).add(FILE);
  publish({ version: '5', files: [FILE] });
  await cache.refresh();
  expect(await mine()).toEqual([`burrow-app ${base} 3`, `burrow-app ${base} 5`]);
});

test('refresh() rejects and changes nothing when a version is incomplete or its list is malformed', async () => {
  const cache = new AppCache(base);
  publish({ version: '1', files: [FILE] });
  await cache.refresh();
  publish({ version: '2', files: [FILE, 'http://127.0.0.1:9/none'] });
  await expect(cache.refresh()).rejects.toThrow(TypeError);
  expect((await cache.answer(new Request(FILE))).status).toBe(200);
  for (const odd of [{ version: 1, files: [] }, { version: '1' }, [], null]) {
    publish(odd);
    await expect(cache.refresh()).rejects.toThrow('precache.json must be');
  }
  publish({}, 404);
  await expect(cache.refresh()).rejects.toThrow('Fetching precache.json failed with status 404.');
  publish({ version: '2', files: [FILE] });
  await cache.refresh();
  expect((await mine()).at(-1)).toBe(`burrow-app ${base} 2`);
});
