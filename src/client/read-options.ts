import { isOption, type Option, type OptionTable, type OptionValues } from '../host/options.ts';
import { noOption } from '../values/wrong-options.ts';
import { UsageError } from './errors.ts';
import { requireKnown } from './known-options.ts';

/**
 * The value of each option in a table: what was given, else the default.
 * @throws UsageError when an option is not in the table, or its value is not accepted
 */
export const readOptions = <Table extends OptionTable>(
  table: Table,
  given: object,
): OptionValues<Table> => {
  requireKnown(given);
  // The one cast: TypeScript cannot relate the rows of a loop to their types.
  return readTable(table, given, '', pathsIn(table)) as OptionValues<Table>;
};

function readTable(
  table: OptionTable,
  given: object,
  prefix: string,
  known: readonly string[],
): object {
  const values = new Map<string, unknown>(Object.entries(given));
  for (const name of values.keys())
    if (!Object.hasOwn(table, name)) throw new UsageError(noOption(prefix + name, known));
  const read = Object.entries(table).map(([name, row]) => {
    const path = prefix + name;
    const value = values.get(name);
    if (isOption(row)) return [name, valueOf(row, value, path)];
    return [name, readTable(row, membersOf(value, path), `${path}.`, known)];
  });
  return Object.fromEntries(read) as object;
}

function valueOf(row: Option<unknown>, value: unknown, path: string): unknown {
  if (value === undefined) return row.defaultValue;
  if (row.accepts(value)) return value;
  throw wrongValue(path, row.expected, row.isSecret ? '' : `, but is ${shown(value)}`);
}

function membersOf(value: unknown = {}, path: string): object {
  if (typeof value === 'object' && value !== null) return value;
  throw wrongValue(path, 'an object', `, but is ${shown(value)}`);
}

const wrongValue = (path: string, expected: string, but: string): UsageError =>
  new UsageError(`The option \`${path}\` must be ${expected}${but}.`);

const shown = (value: unknown): string =>
  typeof value === 'string'
    ? JSON.stringify(value)
    : typeof value === 'object' && value !== null
      ? 'an object'
      : String(value);

/** Members of options too: `log.enabled`. */
const pathsIn = (table: OptionTable): readonly string[] =>
  Object.entries(table).flatMap(([name, row]) =>
    isOption(row) ? [name] : [name, ...pathsIn(row).map((member) => `${name}.${member}`)],
  );
