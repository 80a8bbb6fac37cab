// The public surface as the compiler of an app sees it: for tests of what is said of it and of what it says.
import { join } from 'node:path';
import ts from 'typescript';
import { besideIndex, inNode, inProcess } from './bundle.mjs';
import { root } from './setup.mjs';

export const SURFACE = join(root, 'src/index.ts');

/** What an app has that is strict, and nothing more. */
const options = /** @type {import('typescript').CompilerOptions} */ ({
  strict: true,
  target: ts.ScriptTarget.ES2023,
  module: ts.ModuleKind.ESNext,
  moduleResolution: ts.ModuleResolutionKind.Bundler,
  moduleDetection: ts.ModuleDetectionKind.Force,
  lib: ['lib.es2023.d.ts', 'lib.dom.d.ts', 'lib.dom.iterable.d.ts', 'lib.dom.asynciterable.d.ts'],
  types: [],
  skipLibCheck: true,
  allowImportingTsExtensions: true,
  declaration: true,
  emitDeclarationOnly: true,
  stripInternal: true,
  rootDir: root,
  jsx: ts.JsxEmit.ReactJSX,
  paths: {
    burrowdb: [SURFACE],
    ...Object.fromEntries(
      Object.entries({ ...besideIndex, ...inProcess, ...inNode }).map(([name, path]) => [
        `burrowdb/${name}`,
        [path],
      ]),
    ),
  },
});

/**
 * @param {ReadonlyMap<string, string>} [files] more of them, by path, that need not be on the disk
 * @param {readonly string[]} [others] that are
 */
export function compileSurface(files = new Map(), others = []) {
  const host = ts.createCompilerHost(options);
  const fileExists = host.fileExists.bind(host);
  const readFile = host.readFile.bind(host);
  host.fileExists = (path) => files.has(path) || fileExists(path);
  host.readFile = (path) => files.get(path) ?? readFile(path);
  const getSourceFile = host.getSourceFile.bind(host);
  host.getSourceFile = (path, ...more) => {
    const text = files.get(path);
    return text === undefined
      ? getSourceFile(path, ...more)
      : ts.createSourceFile(path, text, ts.ScriptTarget.ES2023, true);
  };
  return ts.createProgram([SURFACE, ...others, ...files.keys()], options, host);
}
