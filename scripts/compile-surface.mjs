// Compiles the public surface as an app's compiler would, for tests of its types and of its documentation.
import { join } from 'node:path';
import ts from 'typescript';
import { besideIndex, inNode, inProcess } from './bundle.mjs';
import { root } from './setup.mjs';

export const SURFACE = join(root, 'src/index.ts');

/** Options of a strict app, and nothing more. */
export const surfaceOptions = /** @type {import('typescript').CompilerOptions} */ ({
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
 * @param {ReadonlyMap<string, string>} [files] texts of further files, by path; they need not exist on disk
 * @param {readonly string[]} [others] further files on disk
 */
export function compileSurface(files = new Map(), others = []) {
  const host = ts.createCompilerHost(surfaceOptions);
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
  return ts.createProgram([SURFACE, ...others, ...files.keys()], surfaceOptions, host);
}
