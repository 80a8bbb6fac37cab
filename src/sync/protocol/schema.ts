/**
 * Schemas of messages. A schema validates a value that was parsed from JSON, and determines its type: a message is declared once, and
 * device and hub both read it by that declaration. The result is a copy: it has no members that the schema does not name, and `null`
 * in a list of optional values becomes `undefined`, which JSON does not have.
 */

/** Validates and copies a value. @param path of the value in the message, for the error @throws SchemaMismatch */
export type Schema<T> = (value: unknown, path: string) => T;

export type TypeOf<S> = S extends Schema<infer T> ? T : never;

/** The value does not have the form that its schema requires, or exceeds its limits. */
export class SchemaMismatch extends Error {}

const mismatch = (path: string, expected: string): never => {
  throw new SchemaMismatch(`${path}: expected ${expected}.`);
};

/** Returns the value itself if it is valid. */
/* @__NO_SIDE_EFFECTS__ */
export const valid =
  <T>(isValid: (value: unknown) => value is T, expected: string): Schema<T> =>
  (value, path) =>
    isValid(value) ? value : mismatch(path, expected);

/* @__NO_SIDE_EFFECTS__ */
export const text = (max = Infinity): Schema<string> =>
  valid(
    (value): value is string => typeof value === 'string' && value.length <= max,
    `a string of at most ${max} characters`,
  );

/* @__NO_SIDE_EFFECTS__ */
export const textLike = (pattern: RegExp, expected: string): Schema<string> =>
  valid((value): value is string => typeof value === 'string' && pattern.test(value), expected);

/* @__NO_SIDE_EFFECTS__ */
export const integer = (
  min = Number.MIN_SAFE_INTEGER,
  max = Number.MAX_SAFE_INTEGER,
): Schema<number> =>
  valid(
    (value): value is number =>
      Number.isInteger(value) && (value as number) >= min && (value as number) <= max,
    `an integer from ${min} to ${max}`,
  );

/* @__NO_SIDE_EFFECTS__ */
export const oneOf = <const T extends readonly unknown[]>(...values: T): Schema<T[number]> =>
  valid((value): value is T[number] => values.includes(value), `one of ${values.join(', ')}`);

/* @__NO_SIDE_EFFECTS__ */
export const list =
  <T>(of: Schema<T>, max = Infinity): Schema<readonly T[]> =>
  (value, path) =>
    Array.isArray(value) && value.length <= max
      ? value.map((each, i) => of(each, `${path}.${i}`))
      : mismatch(path, `an array of at most ${max} elements`);

/* @__NO_SIDE_EFFECTS__ */
export const tuple =
  <T extends readonly unknown[]>(
    ...of: { readonly [I in keyof T]: Schema<T[I]> }
  ): Schema<Readonly<T>> =>
  (value, path) =>
    (Array.isArray(value) && value.length === of.length
      ? of.map((schema, i) => schema(value[i], `${path}.${i}`))
      : mismatch(path, `an array of ${of.length} elements`)) as unknown as T;

/** The value may be missing, but its type is explicit: `T | undefined`. */
/* @__NO_SIDE_EFFECTS__ */
export const maybe =
  <T>(of: Schema<T>): Schema<T | undefined> =>
  (value, path) =>
    value === undefined || value === null ? undefined : of(value, path);

/** A member that may be absent, in the type too. */
/* @__NO_SIDE_EFFECTS__ */
export const optional = <T>(of: Schema<T>): Optional<T> => ({ optional: maybe(of) });

interface Optional<T> {
  readonly optional: Schema<T | undefined>;
}

type Members = Readonly<Record<string, Schema<unknown> | Optional<unknown>>>;

type ObjectOf<M extends Members> = {
  readonly [K in keyof M as M[K] extends Schema<unknown> ? K : never]: TypeOf<M[K]>;
} & {
  readonly [K in keyof M as M[K] extends Schema<unknown> ? never : K]?: M[K] extends Optional<
    infer T
  >
    ? T | undefined
    : never;
};

/** @param members called when the first value is read: so a bundle can leave out schemas that it does not use */
/* @__NO_SIDE_EFFECTS__ */
export const object = <const M extends Members>(members: () => M): Schema<Plain<ObjectOf<M>>> => {
  let entries: [string, Members[string]][] | undefined;
  return (value, path) => {
    if (typeof value !== 'object' || value === null || Array.isArray(value))
      return mismatch(path, 'an object');
    entries ??= Object.entries(members());
    const read: Record<string, unknown> = {};
    for (const [name, schema] of entries) {
      const given: unknown = (value as Record<string, unknown>)[name];
      const isOptional = typeof schema !== 'function';
      if (isOptional && given === undefined) continue;
      read[name] = (isOptional ? schema.optional : schema)(given, `${path}.${name}`);
    }
    return read as Plain<ObjectOf<M>>;
  };
};

/** Turns an intersection into one object type. */
type Plain<T> = { readonly [K in keyof T]: T[K] };

/** The schema named by the member `kind` of the value. Trying each schema, as `anyOf` does, would create an error with a stack for each. */
/* @__NO_SIDE_EFFECTS__ */
export const byKind =
  <const M extends Readonly<Record<string, Schema<unknown>>>>(of: M): Schema<TypeOf<M[keyof M]>> =>
  (value, path) => {
    const { kind } = Object(value) as { readonly kind?: unknown };
    return typeof kind === 'string' && Object.hasOwn(of, kind)
      ? (of[kind]?.(value, path) as TypeOf<M[keyof M]>)
      : mismatch(`${path}.kind`, `one of ${Object.keys(of).join(', ')}`);
  };

/** The first schema that accepts the value. */
/* @__NO_SIDE_EFFECTS__ */
export const anyOf =
  <T extends readonly unknown[]>(
    ...of: { readonly [I in keyof T]: Schema<T[I]> }
  ): Schema<T[number]> =>
  (value, path) => {
    let found = '';
    for (const schema of of) {
      try {
        return schema(value, path);
      } catch (reason) {
        if (!(reason instanceof SchemaMismatch)) throw reason;
        found += ` ${reason.message}`;
      }
    }
    throw new SchemaMismatch(found.trim());
  };

/** Like `of`, with a further condition on the whole value. */
/* @__NO_SIDE_EFFECTS__ */
export const where =
  <T>(of: Schema<T>, isValid: (value: T) => boolean, expected: string): Schema<T> =>
  (value, path) => {
    const read = of(value, path);
    return isValid(read) ? read : mismatch(path, expected);
  };
