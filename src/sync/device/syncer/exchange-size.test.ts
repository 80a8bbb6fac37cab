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
