import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import type * as NotedEnds from './connection/noted-ends.ts';

let page = new EventTarget();
let stored: Record<string, string> = {};

beforeEach(() => {
  page = new EventTarget();
  stored = { other: 'kept' };
  const methods = {
    setItem: (key: string, value: string) => (stored[key] = value),
    removeItem: (key: string) => delete stored[key],
  };
  // Keys are what is stored: the methods are the prototype's, as in a browser.
  const storage = new Proxy(stored, { get: (_, key) => Reflect.get(methods, key) });
  vi.stubGlobal('localStorage', storage);
  vi.stubGlobal('addEventListener', page.addEventListener.bind(page));
});

afterEach(() => vi.unstubAllGlobals());

const leave = (): unknown => page.dispatchEvent(new Event('pagehide'));

/** As in a page that has just been loaded. */
async function loaded(): Promise<typeof NotedEnds> {
  vi.resetModules();
  page = new EventTarget();
  vi.stubGlobal('addEventListener', page.addEventListener.bind(page));
  return import('./connection/noted-ends.ts');
}

test('noteWhenLeft() notes all workers of a page that is left, until the next page is', async () => {
  const first = await loaded();
  expect(first.noteWhenLeft(`${first.ALIVE}1`)).toEqual([]);
  first.noteWhenLeft(`${first.ALIVE}2`);
  expect(stored).toEqual({ other: 'kept' });
  leave();
  const next = await loaded();
  expect(next.noteWhenLeft(`${next.ALIVE}3`)).toEqual([`${next.ALIVE}1`, `${next.ALIVE}2`]);
  leave();
  expect(stored).toEqual({ other: 'kept', [`${next.ALIVE}3`]: '' });
});

test('noteClosed() leaves no note of a worker', async () => {
  const { ALIVE, noteWhenLeft, noteClosed } = await loaded();
  noteWhenLeft(`${ALIVE}1`);
  noteClosed(`${ALIVE}1`);
  leave();
  expect(stored).toEqual({ other: 'kept' });
});

test('noteWhenLeft() does without storage', async () => {
  vi.stubGlobal('localStorage', undefined);
  const { ALIVE, noteWhenLeft } = await loaded();
  expect(noteWhenLeft(`${ALIVE}1`)).toEqual([]);
});

test('noteWhenLeft() does not touch the storage where no page can be left: Node 26 warns of that', async () => {
  const storage = vi.fn<() => never>();
  vi.stubGlobal('localStorage', new Proxy({}, { ownKeys: storage, get: storage }));
  const { ALIVE, noteWhenLeft } = await loaded();
  vi.stubGlobal('addEventListener', undefined);
  expect(noteWhenLeft(`${ALIVE}1`)).toEqual([]);
  expect(storage).not.toHaveBeenCalled();
});
