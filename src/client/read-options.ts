import {
  isOption,
  option,
  optional,
  type Option,
  type OptionRow,
  type OptionTable,
  type OptionType,
  type OptionValues,
} from '../host/options.ts';
import { noOption, noOptions } from '../values/wrong-options.ts';
import { UsageError } from './errors.ts';

/** Accepts any value that can be sent to the worker, so no function and no symbol. The receiver checks the value. */
export const anything: Option<unknown> = {
  expected: 'a value',
  accepts: (given) => !/^(?:f|sy)/.test(typeof given),
  defaultValue: undefined,
};

/** Accepts what `anything` does, except objects, which may contain functions. */
export const scalar: Option<unknown> = {
  expected: 'a string or a number',
  accepts: (given) => !anObject.accepts(given) && anything.accepts(given),
  defaultValue: undefined,
};

/** A string, which may be empty. */
export const anyText = optional<string>({
  expected: 'a string',
  accepts: (given) => typeof given === 'string',
});

/** Whether a value can be the user of a login. The receiver of the login checks the rest. */
export const isUser = (given: unknown): boolean =>
  given !== undefined && typeof given !== 'function';

export const list: OptionType<readonly unknown[]> = {
  expected: 'an array',
  accepts: Array.isArray,
};

export const anObject: OptionType<object> = {
  expected: 'an object',
  accepts: (given): given is object => typeof given === 'object' && given !== null,
};

export const callable: OptionType<() => unknown> = {
  expected: 'a function',
  accepts: (given): given is () => unknown => typeof given === 'function',
};

/** Null means no signal, as in `fetch`. */
export const abortSignal = optional<AbortSignal | null>({
  expected: 'an AbortSignal',
  accepts: (given): given is AbortSignal | null =>
    given === null || callable.accepts(Object(given).addEventListener),
});

/**
 * Returns the value of each option in a table: the given value, else the default.
 * @throws UsageError when an option is not in the table, its value is not accepted, or an option without a default is missing
 */
export const readOptions = <Table extends OptionTable>(
  table: Table,
  given: unknown,
): OptionValues<Table> => {
  requireObject(given);
  // The only cast: TypeScript cannot relate the rows of a loop to their types.
  return readTable(table, given, '', table) as OptionValues<Table>;
};

/** For options that may have any names. @throws UsageError when they are not an object */
export function requireObject(given: unknown): asserts given is object {
  if (!anObject.accepts(given)) throw new UsageError(noOptions(given));
}

const members = option<object>(anObject, {});

function readTable(table: OptionTable, given: object, prefix: string, root: OptionTable): object {
  const values = new Map<string, unknown>(Object.entries(given));
  for (const name of values.keys())
    if (!Object.hasOwn(table, name)) throw new UsageError(noOption(prefix + name, pathsIn(root)));
  const read = Object.entries(table).map(([name, row]) => {
    const path = prefix + name;
    const value = values.get(name);
    if (isOption(row)) return [name, acceptedValue(row, value, path, values.has(name))];
    return [name, readTable(row, acceptedValue(members, value, path) as object, `${path}.`, root)];
  });
  return Object.fromEntries(read) as object;
}

/** @throws UsageError */
export function acceptedValue(
  row: OptionRow,
  value: unknown,
  path: string,
  isGiven?: boolean,
): unknown {
  if (value === undefined && 'defaultValue' in row && !(isGiven && row.isWhose))
    return row.defaultValue;
  if (row.accepts(value)) return value;
  const but = row.isSecret ? '' : `, but is ${shown(value)}`;
  throw new UsageError(`The option \`${path}\` must be ${row.expected}${but}.`);
}

export const shown = (value: unknown): string =>
  typeof value === 'string'
    ? JSON.stringify(value)
    : anObject.accepts(value)
      ? anObject.expected
      : String(value);

/** Names of all options in a table, including nested ones: `log.enabled`. */
const pathsIn = (table: OptionTable): readonly string[] =>
  Object.entries(table).flatMap(([name, row]) =>
    isOption(row) ? [name] : [name, ...pathsIn(row).map((member) => `${name}.${member}`)],
  );
