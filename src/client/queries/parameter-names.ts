import { UsageError } from '../errors.ts';

const COMMENTS = /\/\*[\s\S]*?\*\/|\/\/.*/g;
/** `x => …`, or the list between the first parentheses. */
const PARAMETERS = /^\s*(?:async\s+)?([\p{ID_Start}$_][\p{ID_Continue}$]*)\s*=>|^[^(]*\(([^)]*)\)/u;
const NAME = /^[\p{ID_Start}$_][\p{ID_Continue}$]*$/u;

/**
 * Names of a function's parameters, read from its source: they become the variables of a lambda.
 * @throws UsageError when there is none, or one is not a plain name
 */
export function parameterNames(body: (...args: never[]) => unknown): readonly string[] {
  const [, single, several = ''] = PARAMETERS.exec(String(body).replace(COMMENTS, ' ')) ?? [];
  if (single !== undefined) return [single];
  const names = several
    .replace(/,\s*$/, '')
    .split(',')
    .map((name) => name.trim());
  if (names.every((name) => NAME.test(name))) return names;
  throw new UsageError(
    `A function in a query takes plain names as parameters, not (${several.trim()}).`,
  );
}
