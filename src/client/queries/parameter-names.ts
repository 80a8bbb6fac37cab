const COMMENTS = /\/\*[\s\S]*?\*\/|\/\/.*/g;
/** Matches `x => …`, or the list between the first parentheses. */
const PARAMETERS = /^\s*(?:async\s+)?([\p{ID_Start}$_][\p{ID_Continue}$]*)\s*=>|^[^(]*\(([^)]*)\)/u;
const NAME = /^[\p{ID_Start}$_][\p{ID_Continue}$]*$/u;

/**
 * Names of a function's parameters, read from its source: they become the variables of a lambda. Undefined if there is no parameter, or not
 * all of them are plain names.
 */
export function parameterNames(body: (...args: never[]) => unknown): readonly string[] | undefined {
  const [, single, several = ''] = PARAMETERS.exec(String(body).replace(COMMENTS, ' ')) ?? [];
  if (single !== undefined) return [single];
  const names = several
    .replace(/,\s*$/, '')
    .split(',')
    .map((name) => name.trim());
  return names.every((name) => NAME.test(name)) ? names : undefined;
}
