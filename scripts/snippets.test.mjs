// The code in README.md and docs/ compiles under `strict` against the public surface. Some of it is run as well: worker/readme.browser.test.ts,
// e2e/readme-sync.spec.ts, src/reference/*.test.ts, scripts/guides.test.mjs.
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import ts from 'typescript';
import { expect, test } from 'vitest';
import { q } from '../src/index.ts';
import { root } from './setup.mjs';
import { compileSurface } from './compile-surface.mjs';
import { isGuide, programOf } from './guides.mjs';

const PRELUDE = ['docs/snippets.d.ts', 'docs/svelte-files.d.ts'].map((name) => join(root, name));
const FENCE = /^```(ts|js|tsx|vue|svelte)\n([\s\S]*?)^```$/gm;
/** What is checked of a component in a language of its own; its template is not. */
const SCRIPT = /<script[^>]*>\n([\s\S]*?)<\/script>/;

const documents = [
  'README.md',
  'ARCHITECTURE.md',
  'CHANGELOG.md',
  ...readdirSync(join(root, 'docs'), { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.md'))
    .map((name) => `docs/${name}`),
];

/** Examples of the reference are written without `q.`. On the first line, so that lines keep their numbers. */
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
    const given = name.startsWith('docs/reference/') ? builders : '';
    return {
      path: join(root, `${name}:${line}.${language === 'tsx' ? 'tsx' : 'ts'}`),
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

test('code that takes what may be undefined does not', () => {
  const code = `const { value } = await (await db.sync({ url: hub, sets: [] })).client.submit(q.Now());
    value.toString();
    export {};`;
  const path = join(root, 'docs/none.md:1.ts');
  expect(problemsIn(new Map([[path, code]]))).toEqual([
    "docs/none.md:2: 'value' is possibly 'undefined'.",
  ]);
});
