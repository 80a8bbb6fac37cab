import { expect, it } from 'vitest';
import { abortWith } from './abort-with.ts';

it('aborts with any of the signals', () => {
  const [one, other] = [new AbortController(), new AbortController()];
  const { signal } = abortWith(one.signal, undefined, other.signal);
  expect(signal.aborted).toBe(false);
  other.abort();
  expect(signal.aborted).toBe(true);
});

it('is aborted from the start by one that is', () => {
  expect(abortWith(new AbortController().signal, AbortSignal.abort()).signal.aborted).toBe(true);
});

it('leaves no listener behind when it was aborted', () => {
  const ended = new EventTarget() as AbortSignal;
  let aborts = 0;
  const first = abortWith(ended);
  first.signal.addEventListener('abort', () => aborts++);
  first.abort();
  ended.dispatchEvent(new Event('abort'));
  expect(aborts).toBe(1);
});
