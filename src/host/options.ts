/** Tables of options. A row has an option's type, default and check. Its TSDoc is its documentation, in editors and in docs/options.md. */

/** The type of an option's values, with a check. */
export interface OptionType<T> {
  /** Description of accepted values, to follow "must be" in messages. */
  readonly expected: string;
  readonly accepts: (given: unknown) => given is T;
  /** Set if error messages must not quote the value. */
  readonly isSecret?: true;
  /** Set if only leaving the option out means its default: undefined comes from a user who is not there, and must not choose other data. */
  readonly isWhose?: true;
}

export interface Option<T> extends Omit<OptionType<unknown>, 'accepts'> {
  readonly accepts: (given: unknown) => boolean;
  readonly defaultValue: T;
}

/** A row of a table. A row without a default is an option that must be given. */
export type OptionRow = Omit<Option<unknown>, 'defaultValue'> & Partial<Option<unknown>>;

/** A table inside a table is an option with members: `log.enabled`. */
export interface OptionTable {
  readonly [name: string]: OptionRow | OptionTable;
}

/** The type of an object with the value of each option. */
export type OptionValues<Table extends OptionTable> = {
  readonly [name in keyof Table]: Table[name] extends Option<infer Value>
    ? Value
    : Table[name] extends OptionTable
      ? OptionValues<Table[name]>
      : never;
};

/** The type of the options that callers pass: each may be left out. */
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

/** For options that another build may have written: takes each value that this build accepts, and the default for all others. */
export const acceptedOptions = <Table extends OptionTable>(
  table: Table,
  given: unknown,
): OptionValues<Table> =>
  // The only cast: TypeScript cannot relate the rows of a loop to their types.
  Object.fromEntries(
    Object.entries(table).map(([name, row]) => {
      const value = (Object(given) as Readonly<Record<string, unknown>>)[name];
      if (!isOption(row)) return [name, acceptedOptions(row, value)];
      return [name, row.accepts(value) ? value : row.defaultValue];
    }),
  ) as OptionValues<Table>;
