import { expect, test } from 'vitest';
import { LIMITS } from '../../src/limits.ts';
import { joined } from '../evaluators/text-parts.ts';
import { BodyParts } from './body-parts.ts';

const bytesOf = (text: string): Uint8Array<ArrayBuffer> => new Uint8Array(Buffer.from(text));

test('a body of one part is not copied', () => {
  const [part, parts] = [bytesOf('{"add":[1,2]}'), new BodyParts()];
  parts.add(part);
  expect(parts.whole()[0]).toBe(part);
});

test('a body of many small parts is joined into few, with the same bytes', () => {
  const parts = new BodyParts();
  let text = '';
  for (let n = 0; n < 200_000; n += 1) {
    const part = n % 5000 === 0 ? 'long'.repeat(1000) : String(n % 10);
    parts.add(bytesOf(part));
    text += part;
  }
  expect(parts.bytes).toBe(text.length);
  const whole = parts.whole();
  expect(joined(whole)?.toString() === text).toBe(true);
  expect(whole.length).toBeLessThan(200);
});

test('parts of a long body do not share memory with other data', () => {
  const parts = new BodyParts();
  const memory = new Uint8Array(2 * LIMITS.longTextChars + 2);
  for (const [from, to] of [
    [0, LIMITS.longTextChars],
    [LIMITS.longTextChars, memory.length],
  ])
    parts.add(memory.subarray(from, to));
  const [first, second] = parts.whole();
  expect([first?.buffer === memory.buffer, second?.buffer === memory.buffer]).toEqual([
    true,
    false,
  ]);
});
