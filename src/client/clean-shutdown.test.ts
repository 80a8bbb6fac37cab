import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import type * as CleanShutdown from './connection/clean-shutdown.ts';

let page = new EventTarget();
let stored: Record<string, string> = {};

beforeEach(() => {
  page = new EventTarget();
  stored = { other: 'kept' };
  const methods = {
    setItem: (key: string, value: string) => (stored[key] = value),
    removeItem: (key: string) => delete stored[key],
  };
  // The proxy's own keys are the stored ones; the methods come from the prototype, as in a browser.
  const storage = new Proxy(stored, { get: (_, key) => Reflect.get(methods, key) });
  vi.stubGlobal('localStorage', storage);
  vi.stubGlobal('addEventListener', page.addEventListener.bind(page));
});

afterEach(() => vi.unstubAllGlobals());

const leave = (): unknown => page.dispatchEvent(new Event('pagehide'));

/** The module as in a page that has just been loaded. */
async function loaded(): Promise<typeof CleanShutdown> {
  vi.resetModules();
  page = new EventTarget();
  vi.stubGlobal('addEventListener', page.addEventListener.bind(page));
  return import('./connection/clean-shutdown.ts');
}

test('markOnPageHide() marks all workers of a closed page, and the next page removes the marks', async () => {
  const first = await loaded();
  expect(first.markOnPageHide(`${first.ALIVE}1`)).toEqual([]);
  first.markOnPageHide(`${first.ALIVE}2`);
  expect(stored).toEqual({ other: 'kept' });
  leave();
  const next = await loaded();
  expect(next.markOnPageHide(`${next.ALIVE}3`)).toEqual([`${next.ALIVE}1`, `${next.ALIVE}2`]);
  leave();
  expect(stored).toEqual({ other: 'kept', [`${next.ALIVE}3`]: '' });
});

test('a worker is not marked after forgetWorker()', async () => {
  const { ALIVE, markOnPageHide, forgetWorker } = await loaded();
  markOnPageHide(`${ALIVE}1`);
  forgetWorker(`${ALIVE}1`);
  leave();
  expect(stored).toEqual({ other: 'kept' });
});

test('markOnPageHide() works without localStorage', async () => {
  vi.stubGlobal('localStorage', undefined);
  const { ALIVE, markOnPageHide } = await loaded();
  expect(markOnPageHide(`${ALIVE}1`)).toEqual([]);
});

test('markOnPageHide() does not access localStorage in Node, because Node 26 warns', async () => {
  const storage = vi.fn<() => never>();
  vi.stubGlobal('localStorage', new Proxy({}, { ownKeys: storage, get: storage }));
  const { ALIVE, markOnPageHide } = await loaded();
  vi.stubGlobal('addEventListener', undefined);
  expect(markOnPageHide(`${ALIVE}1`)).toEqual([]);
  expect(storage).not.toHaveBeenCalled();
});
