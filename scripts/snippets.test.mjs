// The code in README.md and docs/ compiles under `strict` against the public surface, and tests execute it: `RUN_BY` lists which tests.
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import ts from 'typescript';
import { expect, test } from 'vitest';
import { q } from '../src/index.ts';
import { root } from './setup.mjs';
import { compileSurface } from './compile-surface.mjs';
import { isGuide, programOf } from './guides.mjs';

const PRELUDE = ['docs/snippets.d.ts', 'docs/component-files.d.ts'].map((name) => join(root, name));
const FENCE = /^```(ts|js|tsx|vue|svelte)\n([\s\S]*?)^```$/gm;
/** The part of a Vue or Svelte component that is type-checked; its template is not. */
const SCRIPT = /<script[^>]*>\n([\s\S]*?)<\/script>/;
/** A link to a file of an example, directly before code that must be equal to that file. */
const FILE = /\]\(\.\.\/(examples\/\S+)\):\n\n$/;

const documents = [
  'README.md',
  'ARCHITECTURE.md',
  'CHANGELOG.md',
  ...readdirSync(join(root, 'docs'), { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.md'))
    .map((name) => `docs/${name}`),
];

/** Examples of the reference omit `q.`. The declaration is put on the first line, so that lines keep their numbers. */
const builders = `const { ${Object.keys(q).join(', ')} } = q;`;

/** @param {string} name */
function snippetsOf(name) {
  const text = readFileSync(join(root, name), 'utf8');
  if (isGuide(name)) return [{ path: join(root, `${name}:1.ts`), text: programOf(text) }];
  return [...text.matchAll(FENCE)].map(({ index, 1: language, 2: whole = '' }) => {
    const isComponent = language === 'vue' || language === 'svelte';
    const code = isComponent ? (SCRIPT.exec(whole)?.[1] ?? '') : whole;
    const before = text.slice(0, index).split('\n').length + 1;
    const line = before + (isComponent && code ? 1 : 0);
    const file = FILE.exec(text.slice(0, index))?.[1];
    const ofSolid = file?.includes('solid') ? '/** @jsxImportSource solid-js */' : '';
    const given = name.startsWith('docs/reference/') ? builders : ofSolid;
    return {
      path: join(root, `${file ?? name}:${line}.${language === 'tsx' ? 'tsx' : 'ts'}`),
      text: `${given} ${code}export {};\n`,
    };
  });
}

/** @param {ReadonlyMap<string, string>} files */
function problemsIn(files) {
  const program = compileSurface(files, PRELUDE);
  return [...files.keys()].flatMap((path) => {
    const source = program.getSourceFile(path);
    const found = [
      ...program.getSyntacticDiagnostics(source),
      ...program.getSemanticDiagnostics(source),
    ];
    return found.map(({ messageText, start = 0 }) => {
      const { line } = ts.getLineAndCharacterOfPosition(
        /** @type {ts.SourceFile} */ (source),
        start,
      );
      const [, name, first] = /^(.*):(\d+)\.tsx?$/.exec(path.slice(root.length)) ?? [];
      return `${name}:${Number(first) + line}: ${ts.flattenDiagnosticMessageText(messageText, ' ')}`;
    });
  });
}

test('code in documents compiles under strict', () => {
  const snippets = documents.flatMap(snippetsOf);
  expect(snippets.length).toBeGreaterThan(200);
  expect(problemsIn(new Map(snippets.map(({ path, text }) => [path, text])))).toEqual([]);
});

/** Tests that execute all code of a document. guides.test.mjs executes guides; src/reference/reference.test.ts the language reference. */
const RUN_BY = {
  'README.md': ['worker/readme.browser.test.ts', 'e2e/readme-sync.spec.ts'],
  'docs/data.md': ['src/reference/data-docs.test.ts'],
  'docs/errors.md': ['src/reference/sync-docs.test.ts'],
  'docs/inspector.md': ['inspector/docs.browser.test.ts'],
  'docs/query-log.md': ['src/reference/page-docs.test.ts'],
  'docs/schema.md': ['src/reference/schema-docs.test.ts'],
  'docs/scripts.md': ['src/reference/sync-docs.test.ts'],
  'docs/start.md': ['src/reference/page-docs.test.ts'],
  'docs/sync.md': ['src/reference/sync-docs.test.ts', 'e2e/background.spec.ts'],
  'docs/tanstack.md': ['src/reference/page-docs.test.ts'],
};

/** Number of snippets per document that are compiled, but not executed, and why. */
const NOT_RUN = {
  'docs/bundlers.md': 1, // The app starts the worker itself: e2e/examples executes that with each bundler.
  'docs/react.md': 1, // A query that waits for its argument: src/hooks/hooks.contract.ts tests that for each framework.
  'docs/solid.md': 1,
  'docs/svelte.md': 1,
  'docs/vue.md': 1,
};

/** The file of an example or test whose text the snippet must equal, if any. @param {string} before @param {string} code */
const fileOf = (before, code) =>
  FILE.exec(before)?.[1] ??
  readdirSync(join(root, 'in-process/examples'))
    .map((name) => `in-process/examples/${name}`)
    .find((file) => readFileSync(join(root, file), 'utf8') === code);

test('code in documents is executed by a test, or equals the file of an example', () => {
  for (const [name, tests] of Object.entries(RUN_BY))
    for (const file of tests)
      expect(existsSync(join(root, file)), `${file}, which runs ${name}`).toBe(true);
  /** @type {Record<string, number>} */
  const notRun = {};
  /** @type {string[]} */
  const different = [];
  for (const name of documents) {
    if (isGuide(name) || name.startsWith('docs/reference/') || Object.hasOwn(RUN_BY, name))
      continue;
    const text = readFileSync(join(root, name), 'utf8');
    for (const { index, 2: code = '' } of text.matchAll(FENCE)) {
      const file = fileOf(text.slice(0, index), code);
      if (file === undefined) notRun[name] = (notRun[name] ?? 0) + 1;
      else if (readFileSync(join(root, file), 'utf8') !== code)
        different.push(`${file} in ${name}`);
    }
  }
  expect(different, 'copy the file into the document').toEqual([]);
  expect(notRun).toEqual(NOT_RUN);
});

test('code that uses a value that may be undefined does not compile', () => {
  const code = `const { value } = await (await db.sync({ url: hub, sets: [] })).client.submit(q.Now());
    value.toString();
    export {};`;
  const path = join(root, 'docs/none.md:1.ts');
  expect(problemsIn(new Map([[path, code]]))).toEqual([
    "docs/none.md:2: 'value' is possibly 'undefined'.",
  ]);
});
