import { getEventListeners } from 'node:events';
import { expect, it } from 'vitest';
import { abortWith } from './abort-with.ts';

it('abortWith() is aborted by any of its signals', () => {
  const [one, other] = [new AbortController(), new AbortController()];
  const { signal } = abortWith(one.signal, undefined, other.signal);
  expect(signal.aborted).toBe(false);
  other.abort();
  expect(signal.aborted).toBe(true);
});

it('abortWith() is aborted from the start if one of its signals is', () => {
  expect(abortWith(new AbortController().signal, AbortSignal.abort()).signal.aborted).toBe(true);
});

it('abortWith() ignores its signals after it was aborted', () => {
  const ended = new EventTarget() as AbortSignal;
  let aborts = 0;
  const first = abortWith(ended);
  first.signal.addEventListener('abort', () => aborts++);
  first.abort();
  ended.dispatchEvent(new Event('abort'));
  expect(aborts).toBe(1);
});

it('abortWith() uses one listener for all calls with a signal, and removes it with the last call', () => {
  const ended = new AbortController();
  const listeners = (): number => getEventListeners(ended.signal, 'abort').length;
  const some = Array.from({ length: 20 }, () => abortWith(ended.signal));
  expect(listeners()).toBe(1);
  for (const each of some) each.abort();
  expect(listeners()).toBe(0);
  const later = abortWith(ended.signal);
  ended.abort();
  expect(later.signal.aborted).toBe(true);
});
