import { expect, test } from 'vitest';
import { longFirst } from './long-first.mjs';

/** @param {string} project @param {readonly string[]} names */
const filesOf = (project, names) =>
  names.map((name) => ({ project, moduleId: `/checkout/src/${name}` }));

test('longFirst() puts the long-running test files of each project first, and otherwise keeps the order', () => {
  const node = filesOf('node', ['b.test.ts', 'simulation.test.ts', 'a.test.ts', 'seeds.test.ts']);
  const other = filesOf('chromium', ['c.browser.test.ts', 'conformance.browser.test.ts']);
  expect(longFirst([...node, ...other]).map(({ moduleId }) => moduleId.slice(14))).toEqual([
    'simulation.test.ts',
    'seeds.test.ts',
    'b.test.ts',
    'a.test.ts',
    'conformance.browser.test.ts',
    'c.browser.test.ts',
  ]);
});
