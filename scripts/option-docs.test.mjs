// Checks the options of `openDatabase` in docs/options.md against the tables that define them: types, defaults and checks come from the
// code, descriptions from the TSDoc. `npm run docs` writes the table.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import ts from 'typescript';
import { expect, test } from 'vitest';
import { OPTIONS } from '../src/client/options.ts';
import { isOption } from '../src/host/options.ts';
import { root } from './setup.mjs';
import { SURFACE, compileSurface } from './compile-surface.mjs';

const TABLE = /(?<=<!-- options: made by npm run docs -->\n)[^]*(?=<!-- end of options -->)/;

const program = compileSurface();
const checker = program.getTypeChecker();

/** The description of an option, as an editor shows it. @param {ts.Symbol | undefined} member */
const descriptionOf = (member) =>
  ts.displayPartsToString(member?.getDocumentationComment(checker)).replaceAll(/\s+/g, ' ');

/**
 * @param {import('../src/host/options.ts').OptionTable} table
 * @param {ts.Type} type of the object with these options
 * @param {string} prefix
 * @returns {{ name: string; does: string; accepted: string; by: string }[]}
 */
function rowsOf(table, type, prefix = '') {
  return Object.entries(table).flatMap(([member, row]) => {
    const symbol = type.getProperty(member);
    const name = prefix + member;
    if (!isOption(row)) {
      const members = checker.getNonNullableType(checker.getTypeOfSymbol(symbol));
      return rowsOf(row, members, `${name}.`);
    }
    const value = JSON.stringify(row.defaultValue)?.replaceAll('"', "'");
    const by = value === undefined ? '' : `\`${value}\``;
    return [{ name, does: descriptionOf(symbol), accepted: row.expected, by }];
  });
}

function databaseOptions() {
  const surface = checker.getSymbolAtLocation(program.getSourceFile(SURFACE));
  const exported = checker.getExportsOfModule(surface);
  const options = exported.find(({ name }) => name === 'DatabaseOptions');
  return checker.getDeclaredTypeOfSymbol(checker.getAliasedSymbol(options));
}

test('the table of options in docs/options.md is up to date', async () => {
  const path = join(root, 'docs/options.md');
  const rows = rowsOf(OPTIONS, databaseOptions());
  for (const { name, does } of rows) expect(does, name).not.toBe('');
  const lines = rows.map(
    ({ name, does, accepted, by }) => `| \`${name}\` | ${does} | ${accepted} | ${by} |`,
  );
  const table = ['| option | | accepted | default |', '|---|---|---|---|', ...lines].join('\n');
  const readme = readFileSync(path, 'utf8');
  expect(readme).toMatch(TABLE);
  await expect(readme.replace(TABLE, () => `\n${table}\n\n`)).toMatchFileSnapshot(path);
});
