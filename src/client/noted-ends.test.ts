import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { ALIVE, noteEnd } from './connection/noted-ends.ts';

let page = new EventTarget();
let stored: Record<string, string> = {};

beforeEach(() => {
  page = new EventTarget();
  stored = {};
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

test('noteEnd() notes a worker whose page is left, and hands out the notes once', () => {
  stored['other'] = 'kept';
  expect(noteEnd(`${ALIVE}1`, new AbortController().signal)).toEqual([]);
  expect(stored).toEqual({ other: 'kept' });
  leave();
  expect(noteEnd(`${ALIVE}2`, new AbortController().signal)).toEqual([`${ALIVE}1`]);
  leave();
  expect(stored).toEqual({ other: 'kept', [`${ALIVE}2`]: '' });
});

test('noteEnd() notes a worker whose connection ended, and then no more', () => {
  const connection = new AbortController();
  noteEnd(`${ALIVE}1`, connection.signal);
  connection.abort();
  expect(stored).toEqual({ [`${ALIVE}1`]: '' });
  delete stored[`${ALIVE}1`];
  leave();
  expect(stored).toEqual({});
});

test('noteEnd() does without storage', () => {
  vi.stubGlobal('localStorage', undefined);
  expect(noteEnd(`${ALIVE}1`, new AbortController().signal)).toEqual([]);
});
