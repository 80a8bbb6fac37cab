// Every public name has an example in its TSDoc, for editors and for the reference on the site. All examples compile under `strict`. Those
// that need no browser and no framework are executed, and must log what their comments say. Builders (`q.Get`) have theirs in
// docs/reference.
import { join } from 'node:path';
import { inspect } from 'node:util';
import ts from 'typescript';
import { afterEach, describe, expect, test } from 'vitest';
import { openTestHub } from '../hub/testing/test-hub.ts';
import * as remote from '../in-process/remote.ts';
import * as testing from '../in-process/testing.ts';
import { signUp } from '../in-process/testing/todo-kit.ts';
import * as adopt from '../src/adopt/adopt.ts';
import * as data from '../src/data/data.ts';
import * as index from '../src/index.ts';
import * as schema from '../src/schema/schema.ts';
import { besideIndex, inNode, inProcess, plugins } from './bundle.mjs';
import { compileSurface, SURFACE } from './compile-surface.mjs';
import { root } from './setup.mjs';

const { q } = index;

/** Source files of the package's entries, by the name that an app imports. */
const entries = {
  burrowdb: SURFACE,
  ...Object.fromEntries(
    Object.entries({ ...besideIndex, ...inProcess, ...inNode, ...plugins }).map(([name, path]) => [
      `burrowdb/${name}`,
      path,
    ]),
  ),
};

/** Types of the variables that examples use without declaring them. `given()` creates their values. */
const GIVEN = /** @type {const} */ ({
  db: `import('burrowdb').Database`,
  client: `import('burrowdb').Client`,
  notes: `import('burrowdb').Expr<import('burrowdb').CollectionRef<{ title: string }>>`,
  hub: `import('burrowdb/testing').TestHub`,
  sync: `import('burrowdb').Sync`,
  login: `NonNullable<import('burrowdb').SyncOptions['login']>`,
  listening: `{ url: string; secret: string }`,
});

/** Entries whose examples are executed, with their exports. */
const run = /** @type {Record<string, object>} */ ({
  burrowdb: index,
  'burrowdb/adopt': { ...adopt, openDatabase: testing.openDatabase },
  'burrowdb/data': data,
  'burrowdb/remote': remote,
  'burrowdb/schema': schema,
  'burrowdb/testing': testing,
});

/**
 * Examples that are not executed: they open a page's database, and Node has no IndexedDB. The entries not listed above need a component, an
 * element, a bundler or a folder.
 */
const OF_PAGES = new Set([
  'openDatabase',
  'forgetDatabase',
  'salvageDatabase',
  'listDatabases',
  'Unsupported',
]);

/** @typedef {{ entry: string; name: string; code: string }} Example */

const surface = compileSurface(new Map(), Object.values(entries));
const checker = surface.getTypeChecker();

/** The exports that an app can use as values, or gets from calls. @param {string} path */
function valuesOf(path) {
  const source = surface.getSourceFile(path);
  const module = source && checker.getSymbolAtLocation(source);
  return (module ? checker.getExportsOfModule(module) : []).flatMap((exported) => {
    const [declaration] = exported.declarations ?? [];
    const isType =
      declaration &&
      ts.isExportSpecifier(declaration) &&
      (declaration.isTypeOnly || declaration.parent.parent.isTypeOnly);
    const symbol =
      exported.flags & ts.SymbolFlags.Alias ? checker.getAliasedSymbol(exported) : exported;
    // A class that is exported as a type only is what some call returns.
    const flags = isType ? ts.SymbolFlags.Class : ts.SymbolFlags.Value;
    return symbol.flags & flags ? [{ name: exported.name, symbol }] : [];
  });
}

/** @param {ts.Symbol} symbol */
const examplesOf = (symbol) =>
  symbol
    .getJsDocTags(checker)
    .flatMap(({ name, text }) => (name === 'example' ? [ts.displayPartsToString(text)] : []));

const values = Object.fromEntries(
  Object.entries(entries).map(([entry, path]) => [entry, valuesOf(path)]),
);

/** @type {Example[]} */
const examples = Object.entries(values).flatMap(([entry, exported]) =>
  exported.flatMap(({ name, symbol }) => examplesOf(symbol).map((code) => ({ entry, name, code }))),
);

const uses = (/** @type {string} */ code, /** @type {string} */ name) =>
  new RegExp(`(?<![.\\w])${name}\\b`).test(code);
const declares = (/** @type {string} */ code, /** @type {string} */ name) =>
  new RegExp(`\\b(?:const|function) (?:\\{[^}]*\\b)?${name}\\b`).test(code);

/** Makes an app's module of an example: its first line has all imports. @param {Example} example @returns {[string, string]} */
function moduleOf({ entry, name, code }, number = 0) {
  const from = new Map(Object.keys(GIVEN).map((given) => [given, '']));
  for (const { name: each } of values['burrowdb'] ?? []) from.set(each, 'burrowdb');
  from.set('createCollection', '@tanstack/db');
  for (const { name: each } of values[entry] ?? [])
    from.set(
      each,
      entry in { 'burrowdb/esbuild': 1, 'burrowdb/rollup': 1 } ? (entries[entry] ?? '') : entry,
    );
  const head = [...from]
    .filter(([each]) => uses(code, each) && !declares(code, each))
    .map(([each, module]) =>
      module === ''
        ? `declare const ${each}: ${GIVEN[/** @type {keyof typeof GIVEN} */ (each)]};`
        : `import { ${each} } from '${module}';`,
    );
  const path = join(root, `examples-of-${entry.replace('/', '-')}-${name}-${number}.tsx`);
  return [path, `${head.join(' ')}\n${code}\nexport {};\n`];
}

test('every public name has an example', () => {
  const lacking = Object.entries(values).flatMap(([entry, exported]) =>
    exported
      .filter(({ symbol }) => examplesOf(symbol).length === 0)
      .map(({ name }) => `${entry}: ${name}`),
  );
  expect(lacking).toEqual([]);
});

test('examples compile under strict', () => {
  const files = new Map(examples.map((example, number) => moduleOf(example, number)));
  const program = compileSurface(files);
  const problems = [...files.keys()].flatMap((path) => {
    const source = program.getSourceFile(path);
    return [
      ...program.getSyntacticDiagnostics(source),
      ...program.getSemanticDiagnostics(source),
    ].map(({ messageText, start = 0 }) => {
      const { line } = ts.getLineAndCharacterOfPosition(
        /** @type {ts.SourceFile} */ (source),
        start,
      );
      const text = ts.flattenDiagnosticMessageText(messageText, ' ');
      return `${path.slice(root.length)}, line ${line}: ${text}`;
    });
  });
  expect(problems).toEqual([]);
});

const SAID = /console\.log\(.*\);? +\/\/ (.*)$/;
const AsyncFunction = /** @type {FunctionConstructor} */ (
  Object.getPrototypeOf(async () => undefined).constructor
);
const shown = (/** @type {unknown} */ value) =>
  typeof value === 'string' ? value : inspect(value, { breakLength: Infinity });

describe('an example runs, and logs what its comments say:', () => {
  /** @type {(() => Promise<unknown>)[]} */
  const closing = [];
  afterEach(async () => {
    for (const close of closing.splice(0).reverse()) await close();
  });

  /** Syncs a database with all notes of the hub. @param {import('../src/index.ts').Database} db @param {testing.TestHub} hub */
  async function syncOf(db, hub) {
    const { secret } = await hub.client().query(q.CreateKey({ role: 'admin' }));
    return db.sync({ url: hub.url, secret, sets: [q.Documents(q.Collection('notes'))] });
  }

  /** @param {string} code */
  async function given(code) {
    const db = await testing.openDatabase('notes', { log: { enabled: true } });
    closing.push(() => db.close());
    const client = db.client();
    const notes = q.Collection('notes');
    const more = {};
    if (code.includes('hub.url') || code.includes(', sync)')) {
      // A database that becomes a copy must be empty.
      const hub = await testing.openHub();
      closing.push(() => hub.close());
      Object.assign(more, { hub, ...(await signUp(hub)) });
      if (!code.includes('hub.url')) Object.assign(more, { sync: await syncOf(db, hub) });
    } else {
      await client.query(q.CreateCollection({ name: 'notes' }));
      await client.query(q.CreateCollection({ name: 'users' }));
      for (const [at, title] of ['a heron', 'two frogs'].entries())
        await client.query(q.Create(q.Ref(notes, String(at + 1)), { data: { title } }));
    }
    if (uses(code, 'listening')) {
      const listening = await openTestHub();
      Object.assign(more, { listening });
    }
    return { db, client, notes, ...more };
  }

  const runnable = examples.filter(
    ({ entry, name }) => entry in run && !(entry === 'burrowdb' && OF_PAGES.has(name)),
  );
  test.each(runnable.map((example) => [`${example.entry} ${example.name}`, example]))(
    '%s',
    async (_, { entry, code }) => {
      /** @type {Map<number, string[]>} */
      const logged = new Map();
      const note = (/** @type {number} */ line, /** @type {unknown[]} */ ...parts) =>
        logged.set(line, [...(logged.get(line) ?? []), parts.map(shown).join(' ')]);
      const lines = code.split('\n');
      const { outputText } = ts.transpileModule(
        lines.map((line, at) => line.replaceAll('console.log(', `note(${at}, `)).join('\n'),
        { compilerOptions: { target: ts.ScriptTarget.ES2023, module: ts.ModuleKind.ESNext } },
      );
      const names = { ...index, ...run[entry], ...(await given(code)), note };
      await new AsyncFunction(...Object.keys(names), outputText)(...Object.values(names));
      const said = lines.map((line) => SAID.exec(line)?.[1]);
      const found = said.map((text, at) => text && (logged.get(at) ?? []).join(', then '));
      expect(found).toEqual(said);
    },
  );
});
