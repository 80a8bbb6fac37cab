// The declarations of all that an app can import. A change here affects users of Burrow: run
// `npx vitest run --project programs scripts/public-surface.test.mjs --update`, review the difference, and describe it in CHANGELOG.md.
import { dirname, join, relative } from 'node:path';
import ts from 'typescript';
import { expect, test } from 'vitest';
import { q } from '../src/client/queries/builders.ts';
import { FAMILIES } from '../src/reference/families.ts';
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

const index = checker.getSymbolAtLocation(program.getSourceFile(SURFACE));
const exported = checker.getExportsOfModule(/** @type {ts.Symbol} */ (index));
/** @param {string} wanted */
const exportedSymbol = (wanted) =>
  checker.getAliasedSymbol(/** @type {ts.Symbol} */ (exported.find(({ name }) => name === wanted)));
const builders = checker.getTypeOfSymbol(exportedSymbol('q')).getProperties();

test('each builder has a type', () => {
  expect(builders.map(({ name }) => name).sort()).toEqual(Object.keys(q).sort());
});

/** @param {string} name */
const plain = (name) => name.toLowerCase().replaceAll('_', '');
const summaries = new Map(
  FAMILIES.flatMap(({ docs }) => Object.entries(docs)).map(([key, { summary }]) => [
    plain(key),
    summary,
  ]),
);
/** Their forms are written by JavaScript, so the reference describes them in its introduction. */
const NO_FORM = ['Bytes', 'Lambda'];

/** @param {ts.Symbol | ts.Signature} each */
const commentOf = (each) =>
  ts.displayPartsToString(each.getDocumentationComment(checker)).replaceAll('\n', ' ');

/** The builder with its comments if one of them is wrong. @param {ts.Symbol} builder */
function wrongComments(builder) {
  const { name } = builder;
  const summary = NO_FORM.includes(name) ? commentOf(builder) : summaries.get(plain(name));
  const signatures = checker.getTypeOfSymbol(builder).getCallSignatures();
  const overloads = signatures.length > 1 ? signatures : [];
  const comments = [builder, ...overloads].map(commentOf);
  return summary && comments.every((each) => each.startsWith(summary)) ? [] : [{ name, comments }];
}

test('an editor shows the summary of each builder, also for each of its overloads', () => {
  expect(builders.flatMap(wrongComments)).toEqual([]);
});

test('an editor shows the same for a builder that is called on a client', () => {
  const client = checker.getDeclaredTypeOfSymbol(exportedSymbol('Client'));
  const calls = client.getProperties().filter(({ name }) => name in q);
  expect(calls.length).toBe(builders.length);
  expect(calls.flatMap(wrongComments)).toEqual([]);
});

test('an editor names the parameters of a call as a person would', () => {
  const path = join(root, 'calls.ts');
  const text = `import { q, type Expr } from './src/index.ts';
    declare const list: Expr<number>[];
    [q.Add(1, 2), q.Add(1, ...list), q.Add(...list), q.Union(list, [1]), q.Format('%s', 1)];`;
  const compiled = compileSurface(new Map([[path, text]]));
  const source = /** @type {ts.SourceFile} */ (compiled.getSourceFile(path));
  const its = compiled.getTypeChecker();
  /** @type {string[]} */
  const shown = [];
  /** @param {ts.Node} node */
  const visit = (node) => {
    const signature = ts.isCallExpression(node) ? its.getResolvedSignature(node) : undefined;
    if (signature) shown.push(its.signatureToString(signature));
    ts.forEachChild(node, visit);
  };
  visit(source);
  expect(shown).toEqual([
    '(first: Arg, ...others: Arg[]): Expr<number>',
    '(first: Arg, ...others: Arg[]): Expr<number>',
    '(...numbers: Expr<number>[]): Expr<number>',
    '(first: Arg, ...others: Arg[]): Expr<number[]>',
    '(text: Arg, ...values: Arg[]): Expr<string>',
  ]);
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
