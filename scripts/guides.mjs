// The TypeScript code of a guide, from top to bottom, is one program. It is type-checked (snippets.test.mjs) and executed
// (guides.test.mjs), so a reader who pastes all its pieces in order gets a program that works.
import ts from 'typescript';
import { entries, inProcess } from './bundle.mjs';

const LOGGED = /console\.log\(.*\);? +\/\/ (.*)$/;

/** The package as guides import it: `openDatabase` opens an in-memory database. */
const PACKAGE = 'virtual:burrowdb-of-guides';

/** Whether a document is a guide: all under docs/guides are, and two beside that folder. */
export const isGuide = (/** @type {string} */ path) =>
  /(?:^|\/)docs\/(?:guides\/[\w-]+|tour|recipes)\.md$/.test(path);

/**
 * The program of a guide. Lines keep their numbers, because lines that are not code become empty lines.
 * @param {string} markdown
 */
export function programOf(markdown) {
  let inside = /** @type {'text' | 'ts' | 'other'} */ ('text');
  const lines = markdown.split('\n').map((line) => {
    if (inside === 'text') {
      if (line.startsWith('```')) inside = line === '```ts' ? 'ts' : 'other';
      return '';
    }
    if (line === '```') inside = 'text';
    return inside === 'ts' ? line : '';
  });
  return lines.join('\n');
}

/**
 * Expected output by line number, from comments such as `console.log(value) // expected output`. If a line logs several times, its comment
 * has the outputs with ", then " between them.
 * @param {string} program
 */
export const shownIn = (program) =>
  new Map(
    program.split('\n').flatMap((line, index) => {
      const shown = LOGGED.exec(line)?.[1];
      return shown === undefined ? [] : [/** @type {const} */ ([index + 1, shown])];
    }),
  );

/** Compiles the program to a module in which `console.log` becomes `logged(line, value)`. @param {string} program */
function moduleOf(program) {
  const code = program
    .split('\n')
    .map((line, index) => line.replaceAll('console.log(', `globalThis.logged(${index + 1}, `))
    .join('\n');
  const { outputText } = ts.transpileModule(code, {
    compilerOptions: { target: ts.ScriptTarget.ES2023, module: ts.ModuleKind.ESNext },
  });
  return outputText.replaceAll(/from (['"])burrowdb\1/g, `from '${PACKAGE}'`);
}

/** Vite plugin with which tests import guides as modules. */
export const guidesAsModules = () => ({
  name: 'burrow:guides',
  enforce: /** @type {const} */ ('pre'),
  resolveId: (/** @type {string} */ id) => (id === PACKAGE ? `\0${PACKAGE}` : undefined),
  load: (/** @type {string} */ id) =>
    id === `\0${PACKAGE}`
      ? `export * from ${JSON.stringify(entries.index)}; export { openDatabase } from ${JSON.stringify(inProcess.testing)};`
      : undefined,
  transform: (/** @type {string} */ text, /** @type {string} */ id) =>
    isGuide(id) ? { code: moduleOf(programOf(text)), map: null } : undefined,
});
