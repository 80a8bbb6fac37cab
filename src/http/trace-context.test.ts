import { expect, test } from 'vitest';
import { traceparentOf } from './trace-context.ts';

const random = (bytes: number) => new Uint8Array(bytes).fill(0xab);
const TRACE = '0123456789abcdef0123456789abcdef';

test('traceparentOf() keeps the trace, with a span of its own and no flags', () => {
  expect(traceparentOf(`00-${TRACE}-0123456789abcdef-01`, random)).toBe(
    `00-${TRACE}-${'ab'.repeat(8)}-00`,
  );
});

test.each([
  undefined,
  'x',
  `01-${TRACE}-0123456789abcdef-01`,
  `00-${'0'.repeat(32)}-0123456789abcdef-01`,
  `00-${TRACE}-${'0'.repeat(16)}-00`,
])('traceparentOf(%s) begins a new trace', (header) => {
  expect(traceparentOf(header, random)).toBe(`00-${'ab'.repeat(16)}-${'ab'.repeat(8)}-00`);
});
