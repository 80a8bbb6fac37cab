/** Runs the pieces of code in a document one after another. scripts/snippets.test.mjs checks that they compile. */
import { readFileSync } from 'node:fs';
import ts from 'typescript';

const FENCE = /^```ts\n([\s\S]*?)^```$/gm;
const IMPORT = /^import .*$/gm;
const DECLARED = /^(?:const|let) (?:(\w+)|\{([^}]*)\})/gm;

export interface Ran {
  readonly logged: readonly string[];
  /** The values that the piece declares, for the pieces after it. */
  readonly declared: Readonly<Record<string, unknown>>;
}

export const piecesOf = (name: string): readonly string[] => {
  const text = readFileSync(new URL(`../../../docs/${name}`, import.meta.url), 'utf8');
  return [...text.matchAll(FENCE)].map(([, code = '']) => code);
};

/** @param given the imports and predefined variables, by name. `console` is recorded unless it is given */
export async function runPiece(
  code: string,
  given: Readonly<Record<string, unknown>>,
): Promise<Ran> {
  const body = code.replaceAll(IMPORT, '');
  const names = [...body.matchAll(DECLARED)].flatMap(([, one, several]) =>
    (one ?? several ?? '').split(',').map((each) => each.replace(/^.*:/, '').trim()),
  );
  const logged: string[] = [];
  const log = (...line: readonly unknown[]): void => void logged.push(line.join(' '));
  const values: Readonly<Record<string, unknown>> = { console: { log, warn: log }, ...given };
  const free = Object.keys(values).filter((name) => !names.includes(name));
  const { outputText } = ts.transpileModule(
    `const piece = async () => {${body}\n; return { ${names.join(', ')} } };`,
    { compilerOptions: { target: ts.ScriptTarget.ES2023, module: ts.ModuleKind.ESNext } },
  );
  // oxlint-disable-next-line typescript/no-implied-eval -- the document is ours
  const program = new Function(...free, `${outputText}; return piece();`) as (
    ...all: readonly unknown[]
  ) => Promise<Ran['declared']>;
  const declared = await program(...free.map((name) => values[name]));
  return { logged, declared };
}
