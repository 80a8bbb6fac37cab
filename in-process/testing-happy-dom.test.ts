// @vitest-environment happy-dom
import { expect, test } from 'vitest';
import { describeTesting } from './testing.contract.ts';

test('these tests run in happy-dom', () => {
  expect('happyDOM' in globalThis).toBe(true);
});

describeTesting();
