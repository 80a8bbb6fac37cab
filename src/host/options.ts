/** Tables of options: a row gives an option its type, default and check; its TSDoc is its documentation, in editors and in docs/options.md. */

/** What an option accepts. */
export interface OptionType<T> {
  /** As it is said after "must be". */
  readonly expected: string;
  readonly accepts: (given: unknown) => given is T;
  /** Not quoted when it is refused. */
  readonly isSecret?: true;
}

export interface Option<T> extends Pick<OptionType<unknown>, 'expected' | 'isSecret'> {
  readonly accepts: (given: unknown) => boolean;
  readonly defaultValue: T;
}

/** A row of a table. One without a default is a type alone: it must be given. */
export type OptionRow = Omit<Option<unknown>, 'defaultValue'> & Partial<Option<unknown>>;

/** A table in a table is an option with members: `log.enabled`. */
export interface OptionTable {
  readonly [name: string]: OptionRow | OptionTable;
}

/** The value of each option. */
export type OptionValues<Table extends OptionTable> = {
  readonly [name in keyof Table]: Table[name] extends Option<infer Value>
    ? Value
    : Table[name] extends OptionTable
      ? OptionValues<Table[name]>
      : never;
};

/** What callers may leave out. */
export type GivenOptions<Table extends OptionTable> = {
  readonly [name in keyof Table]?: Table[name] extends Option<infer Value>
    ? Exclude<Value, undefined>
    : Table[name] extends OptionTable
      ? GivenOptions<Table[name]>
      : never;
};

export const isOption = (row: OptionRow | OptionTable): row is OptionRow =>
  typeof row['accepts'] === 'function';

export const option = <T>(type: OptionType<T>, defaultValue: NoInfer<T>): Option<T> => ({
  ...type,
  defaultValue,
});

export const optional = <T>(type: OptionType<T>): Option<T | undefined> => ({
  ...type,
  defaultValue: undefined,
});

export const flag: OptionType<boolean> = {
  expected: 'true or false',
  accepts: (given) => typeof given === 'boolean',
};

export const text: OptionType<string> = {
  expected: 'a string that is not empty',
  accepts: (given): given is string => typeof given === 'string' && given !== '',
};

export const integer = (min: number, max = Number.MAX_SAFE_INTEGER): OptionType<number> => ({
  expected: `an integer ${max < Number.MAX_SAFE_INTEGER ? `from ${min} to ${max}` : `of ${min} or more`}`,
  accepts: (given): given is number =>
    Number.isInteger(given) && Number(given) >= min && Number(given) <= max,
});

export const oneOf = <const T extends string>(...choices: readonly T[]): OptionType<T> => ({
  expected: choices.map((choice) => `'${choice}'`).join(' or '),
  accepts: (given): given is T => choices.some((choice) => choice === given),
});

/** Of what another build may have written: each option that this one accepts; the others have their defaults. */
export const acceptedOptions = <Table extends OptionTable>(
  table: Table,
  given: unknown,
): OptionValues<Table> =>
  // The one cast: TypeScript cannot relate the rows of a loop to their types.
  Object.fromEntries(
    Object.entries(table).map(([name, row]) => {
      const value = (Object(given) as Readonly<Record<string, unknown>>)[name];
      if (!isOption(row)) return [name, acceptedOptions(row, value)];
      return [name, row.accepts(value) ? value : row.defaultValue];
    }),
  ) as OptionValues<Table>;
