import { expect, test } from 'vitest';
import { Verdicts } from './verdicts.ts';
import type { Verdict } from './writes.ts';

const verdict: Verdict = { id: '0.1', state: 'confirmed', ts: 7, value: 1 };

test('all requests for the same verdict share one promise', async () => {
  const verdicts = new Verdicts();
  const asked = Array.from({ length: 100_000 }, () => verdicts.on('0.1'));
  expect(new Set(asked).size).toBe(1);
  verdicts.add(verdict);
  expect(await Promise.all(asked.slice(-2))).toEqual([verdict, verdict]);
  expect(verdicts.awaited.size).toBe(0);
});
