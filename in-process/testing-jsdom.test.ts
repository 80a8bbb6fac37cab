// @vitest-environment jsdom
import { expect, test } from 'vitest';
import { describeTesting } from './testing.contract.ts';

test('these tests run in jsdom', () => {
  expect(navigator.userAgent).toContain('jsdom');
});

describeTesting();
