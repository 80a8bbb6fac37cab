/** The generated tables match what `npm run docs` would generate from the files that they list. */
import { readdirSync } from 'node:fs';
import { expect, test } from 'vitest';
import { NATIVE_KINDS } from '../values/native-kinds.ts';
import type { SetParts } from '../values/set-parts.ts';

const OPERATIONS = new URL('sets/operations/', import.meta.url);

const file = (path: string): string => new URL(path, import.meta.url).pathname;
const lines = (texts: readonly string[]): string => texts.map((text) => `${text}\n`).join('');

const operations = readdirSync(OPERATIONS)
  .filter((name) => !name.endsWith('.test.ts'))
  .map((name) => name.replace('.ts', ''))
  .toSorted();

test('the generated table of set parts matches the set operations', async () => {
  const rows = operations.map(async (op) => {
    const { parts } = (await import(new URL(`${op}.ts`, OPERATIONS).href)) as { parts: SetParts };
    const each = Object.entries(parts).map(
      ([name, { kind, wire }]) => `    ${name}: { kind: '${kind}', wire: '${wire}' },`,
    );
    return `  ${op}: {\n${lines(each)}  },`;
  });
  const text = `/** Made by \`npm run docs\` of src/engine/sets/operations: the parts of the sets of each operation. */
import type { SetParts } from './set-parts.ts';

export const SET_TABLE = {
${lines(await Promise.all(rows))}} as const satisfies Readonly<Record<string, SetParts>>;

export type SetTable = typeof SET_TABLE;
export type SetOp = keyof SetTable;
`;
  await expect(text).toMatchFileSnapshot(file('../values/set-table.ts'));
});

test('the generated table of set operations lists all files of their folder', async () => {
  const imports = operations.map((op) => `import { ${op} } from './operations/${op}.ts';`);
  const text = `/** Made by \`npm run docs\` of src/engine/sets/operations. */
import type { SetOp } from '../../values/set-table.ts';
import type { SetOf } from '../../values/value.ts';
import type { SetOperation } from './operation.ts';
${lines(imports)}
export const OPERATIONS: { readonly [Op in SetOp]: SetOperation<SetOf<Op>> } = {
${lines(operations.map((op) => `  ${op},`))}};
`;
  await expect(text).toMatchFileSnapshot(file('sets/operation-table.ts'));
});

test('the generated table of native kinds matches NATIVE_KINDS', async () => {
  const kinds = Object.entries(NATIVE_KINDS).map(([name, { singular }]) => ({
    name,
    path: `./validate-${name.replaceAll('_', '-')}.ts`,
    kind: singular.toUpperCase(),
  }));
  const imports = kinds.map(({ kind, path }) => `import { ${kind} } from '${path}';`);
  const text = `/** Made by \`npm run docs\` of src/values/native-kinds.ts: each kind is validated by the file of its name. */
import type { NativeName } from '../../values/native-kinds.ts';
import type { Kind } from './draft.ts';
${lines(imports)}
export const KINDS: { readonly [Name in NativeName]: Kind } = {
${lines(kinds.map(({ name, kind }) => `  ${name}: ${kind},`))}};
`;
  await expect(text).toMatchFileSnapshot(file('writes/kind-table.ts'));
});
