/** `npm run docs` writes these generated files. The tests check that they are up to date. */
import { expect, test } from 'vitest';
import { builderRows, scalarTypes } from './builder-rows.ts';

const file = (path: string): string =>
  new URL(`../client/queries/${path}`, import.meta.url).pathname;

const VALUES = ['FaunaDate', 'FaunaTime', 'Ref', 'SetRef'];

test('the generated rows of the builders are up to date', async () => {
  const text = `/** Made by \`npm run docs\` of src/query/functions and src/reference: see builder-table.ts. */\nexport const ROWS =\n  '${builderRows()}';\n`;
  await expect(text).toMatchFileSnapshot(file('builder-rows.ts'));
});

test('the generated types of the scalar builders are up to date', async () => {
  const types = scalarTypes();
  const named = VALUES.filter((name) => new RegExp(`\\b${name}\\b`).test(types)).join(', ');
  const text = `/** Made by \`npm run docs\` of src/query/functions and src/reference. */\nimport type { ${named} } from '../values.ts';\nimport type { Arg, Unit } from './arguments.ts';\nimport type { Mode, Returns, Some } from './returns.ts';\n\nexport interface RegularScalars<M extends Mode> {\n${types}\n}\n`;
  await expect(text).toMatchFileSnapshot(file('types/regular-scalars.ts'));
});
