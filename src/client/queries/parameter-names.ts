import { UsageError } from '../errors.ts';

const COMMENTS = /\/\*[\s\S]*?\*\/|\/\/.*/g;
/** `x => …`, or the list between the first parentheses. */
const PARAMETERS = /^\s*(?:async\s+)?([\p{ID_Start}$_][\p{ID_Continue}$]*)\s*=>|^[^(]*\(([^)]*)\)/u;
const NAME = /^[\p{ID_Start}$_][\p{ID_Continue}$]*$/u;

/**
 * Names of a function's parameters, read from its source: they become the variables of a lambda.
 * @throws UsageError when a parameter is not a plain name
 */
export function parameterNames(body: (...args: never[]) => unknown): readonly string[] {
  // A parameter with a default value is none of `length`, and a function without any needs no reading.
  if (body.length === 0) return [];
  const [, single, several] = PARAMETERS.exec(String(body).replace(COMMENTS, ' ')) ?? [];
  if (single !== undefined) return [single];
  const names = (several ?? '').split(',').map((name) => name.trim());
  if (names.at(-1) === '') names.pop();
  for (const name of names) {
    if (!NAME.test(name)) {
      throw new UsageError(`A function in a query must have plain parameters: ${name}`);
    }
  }
  return names;
}
