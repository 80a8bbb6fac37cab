// The declarations of all that an app can import. A change here affects users of Burrow: run
// `npx vitest run --project programs scripts/public-surface.test.mjs --update`, review the difference, and describe it in CHANGELOG.md.
import { dirname, join, relative } from 'node:path';
import ts from 'typescript';
import { expect, test } from 'vitest';
import { q } from '../src/client/queries/builders.ts';
import { root } from './setup.mjs';
import { besideIndex, inNode, inProcess } from './bundle.mjs';
import { SURFACE, compileSurface } from './compile-surface.mjs';

const others = Object.values({ ...besideIndex, ...inProcess, ...inNode });
const program = compileSurface(undefined, others);
const checker = program.getTypeChecker();

/** @param {string} path */
function exportsOf(path) {
  const source = /** @type {ts.SourceFile} */ (program.getSourceFile(path));
  const module = /** @type {ts.Symbol} */ (checker.getSymbolAtLocation(source));
  return checker.getExportsOfModule(module).map(({ name }) => name);
}

/** The declaration files of the exports, and all files that they refer to. */
function declarations() {
  const all = [];
  const wanted = [SURFACE, ...others];
  for (const path of wanted) {
    let declaration = '';
    program.emit(program.getSourceFile(path), (_, text) => (declaration = text), undefined, true);
    all.push(`// ${relative(root, path.replace(/\.ts$/, '.d.ts'))}\n${declaration}`);
    for (const [, name] of declaration.matchAll(/(?:from|import\() ?['"](\.[^'"]*)\.ts['"]/g)) {
      const next = join(dirname(path), `${name}.ts`);
      if (!wanted.includes(next)) wanted.push(next);
    }
  }
  return all.join('\n');
}

test('the public surface equals its snapshot', async () => {
  await expect(declarations()).toMatchFileSnapshot('./types/public-surface.txt');
});

test('each builder has a type', () => {
  const index = checker.getSymbolAtLocation(program.getSourceFile(SURFACE));
  const exported = checker.getExportsOfModule(/** @type {ts.Symbol} */ (index));
  const symbol = checker.getAliasedSymbol(
    /** @type {ts.Symbol} */ (exported.find(({ name }) => name === 'q')),
  );
  const typed = checker.getTypeOfSymbol(symbol).getProperties();
  expect(typed.map(({ name }) => name).sort()).toEqual(Object.keys(q).sort());
});

test('no exported name is the name of a DOM type', () => {
  const dom = program
    .getSourceFiles()
    .filter(({ fileName }) => /\/lib\.dom(\.\w+)?\.d\.ts$/.test(fileName));
  const names = new Set(
    dom.flatMap(({ statements }) =>
      statements.flatMap((each) =>
        ts.isInterfaceDeclaration(each) || ts.isTypeAliasDeclaration(each) ? each.name.text : [],
      ),
    ),
  );
  expect(names).toContain('Document');
  const exported = [SURFACE, ...others].flatMap(exportsOf);
  expect(exported).toContain('openDatabase');
  expect(exported.filter((name) => names.has(name))).toEqual([]);
});
