import { expect, test } from 'vitest';
import { ExchangeSize } from './exchange-size.ts';
import { RetryLater } from './transport.ts';

test('the size is halved after a failed exchange, but not after a request to retry later', async () => {
  const size = new ExchangeSize();
  const refusal = { code: 'too many requests', description: 'Too many requests.' };
  const busy = Promise.resolve({ ok: false, refusal, retryAfterMs: 500 } as const);
  await expect(size.answerOf(busy)).rejects.toThrow('Too many requests.');
  await expect(size.answerOf(Promise.reject(new RetryLater('busy', 500)))).rejects.toThrow('busy');
  expect(size.of(100)).toBe(100);
  await expect(size.answerOf(Promise.reject(new TypeError('lost')))).rejects.toThrow('lost');
  expect(size.of(100)).toBe(50);
});

test('the size grows again after several successful exchanges in a row, up to the whole', async () => {
  const size = new ExchangeSize();
  const succeed = () => size.answerOf(Promise.resolve({ ok: true, value: 'done' } as const));
  const fail = async () => {
    await expect(size.answerOf(Promise.reject(new TypeError('lost')))).rejects.toThrow('lost');
  };
  await fail();
  let needed = 0;
  for (; needed < 1000 && size.of(100) < 100; needed += 1) expect(await succeed()).toBe('done');
  expect(needed).toBeGreaterThan(1);
  for (let n = 0; n < needed; n += 1) await succeed();
  expect(size.of(100)).toBe(100);
  await fail();
  for (let n = 1; n < needed; n += 1) await succeed();
  expect(size.of(100)).toBe(50);
  await fail();
  for (let n = 1; n < needed; n += 1) await succeed();
  expect(size.of(100)).toBe(25);
  for (let n = 0; n < needed; n += 1) await succeed();
  expect(size.of(100)).toBe(50);
});
