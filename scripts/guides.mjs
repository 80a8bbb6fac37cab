// The code of a guide: all of its TypeScript from top to bottom is one program. It is checked as that (snippets.test.mjs) and run
// (guides.test.mjs), so that a reader who pastes one piece after another has what runs here.
import ts from 'typescript';
import { entries, inProcess } from './bundle.mjs';

const LOGGED = /console\.log\(.*\);? +\/\/ (.*)$/;

/** The package as guides have it: databases are opened in memory. */
const PACKAGE = 'virtual:burrowdb-of-guides';

/** Guides by the path in the project: those under docs/guides, and two beside them. */
export const isGuide = (/** @type {string} */ path) =>
  /(?:^|\/)docs\/(?:guides\/[\w-]+|tour|recipes)\.md$/.test(path);

/**
 * The program of a guide. Its lines keep their numbers: those that are no code are empty.
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
 * What is said of what is logged: `console.log(value) // as it is shown`, by line. A value that is logged several times is shown as often,
 * with "then" between.
 * @param {string} program
 */
export const shownIn = (program) =>
  new Map(
    program.split('\n').flatMap((line, index) => {
      const shown = LOGGED.exec(line)?.[1];
      return shown === undefined ? [] : [/** @type {const} */ ([index + 1, shown])];
    }),
  );

/** As a module that calls `logged(line, value)` where it logs. @param {string} program */
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

/** Guides are imported as modules. */
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
