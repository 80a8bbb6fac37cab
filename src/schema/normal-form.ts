/** A normal form for parameters that can be written in several ways, to compare wanted and stored objects. */
import { Double } from '../index.ts';
import type { Kind, Params } from './objects.ts';

/** Defaults of the members that are always compared. Other members, such as `data`, are compared if the schema has them. */
const DEFAULTS: Readonly<Record<Kind, Params>> = {
  collections: { history_days: null, ttl_days: null, permissions: null },
  indexes: {
    source: null,
    terms: [],
    values: [],
    unique: false,
    serialized: true,
    permissions: null,
  },
  functions: { body: null, role: null, permissions: null },
  roles: { privileges: [], membership: [] },
};

/** Other known members. A member in neither list is dropped when an object is written, as in the original. */
const OPTIONAL: Readonly<Record<Kind, readonly string[]>> = {
  collections: ['data'],
  indexes: ['data', 'partitions'],
  functions: ['data'],
  roles: ['data'],
};

/** The members of parameters that an object stores. */
export const membersOf = (kind: Kind): readonly string[] => [
  ...Object.keys(DEFAULTS[kind]),
  ...OPTIONAL[kind],
];

/** The members of an index that cannot be changed. */
export const STRUCTURE: readonly string[] = ['source', 'terms', 'values', 'partitions'];

/** The parameters of an object with defaults for all that the schema leaves out. */
export const completed = (kind: Kind, params: Params): Params => ({
  ...DEFAULTS[kind],
  // The default of CreateCollection; null means for ever.
  ...(kind === 'collections' && { history_days: 30 }),
  ...params,
});

/** The members whose normal forms differ. @param wanted as evaluated by the database, like `stored` */
export const differing = (kind: Kind, wanted: Params, stored: Params): readonly string[] =>
  Object.keys(wanted).filter(
    (member) =>
      membersOf(kind).includes(member) &&
      formOf(kind, member, wanted[member]) !== formOf(kind, member, stored[member]),
  );

function formOf(kind: Kind, member: string, value: unknown): string {
  const given = value ?? DEFAULTS[kind][member] ?? null;
  const plain = plainOf(given);
  const form = JSON.stringify(sorted(MEMBERS[member]?.(plain) ?? plain));
  // An object without members is stored as no value.
  return form === '{}' ? 'null' : form;
}

/** A value as plain JSON. */
export const plainOf = (value: unknown): unknown =>
  JSON.parse(
    JSON.stringify(value, function (this: Params, key, each: unknown) {
      // `each` has gone through `toJSON()`, which turns a Double into a plain number; `this[key]` is the value before that.
      return this[key] instanceof Double ? { '@double': each } : exact(each);
    }),
  );

/** A large integer as an object, because a JavaScript number cannot hold it exactly. */
function exact(value: unknown): unknown {
  if (typeof value !== 'bigint') return value;
  return Number.isSafeInteger(Number(value)) ? Number(value) : { '@integer': String(value) };
}

const MEMBERS: Readonly<Record<string, (plain: unknown) => unknown>> = {
  source: (plain) => listed(plain).map(sourceForm),
  terms: (plain) => listed(plain).map(partForm),
  values: (plain) => listed(plain).map(partForm),
  privileges: (plain) => listed(plain),
  membership: (plain) => listed(plain),
};

const listed = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : [value]);
export const isObject = (value: unknown): value is Params =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

const sourceForm = (source: unknown): unknown => {
  if (!isObject(source) || '@ref' in source) return { collection: [source] };
  const { collection, class: old, fields, ...rest } = source;
  const merged = Array.isArray(fields) ? (Object.assign({}, ...fields) as unknown) : fields;
  return {
    ...rest,
    collection: listed(collection ?? old),
    ...(merged !== undefined && { fields: merged }),
  };
};

const partForm = (part: unknown): unknown => {
  if (!isObject(part)) return part;
  const { field, mva, reverse, ...rest } = part;
  return {
    ...rest,
    ...(field !== undefined && { field: listed(field) }),
    ...(mva === false && { mva }),
    ...(reverse === true && { reverse }),
  };
};

/**
 * Sorts members, and names the parameters of lambdas by their depth, because each build of an app may name them differently. Leaves out
 * null, as stored objects do, except in lambdas: there it is an argument.
 * @param names names of the parameters of the lambdas around the value; undefined if there are no lambdas
 */
function sorted(value: unknown, names?: readonly string[]): unknown {
  const isKept = (each: unknown): boolean => names !== undefined || each !== null;
  if (Array.isArray(value)) return value.filter(isKept).map((each) => sorted(each, names));
  if (!isObject(value)) return value;
  if ('lambda' in value && 'expr' in value) {
    const given = listed(value['lambda']);
    const own = given.filter((name) => typeof name === 'string').filter((name) => name !== '_');
    const inner = [...(names ?? []), ...own];
    return {
      lambda: given.map((name) => (typeof name === 'string' ? byDepth(name, inner) : name)),
      expr: sorted(value['expr'], inner),
    };
  }
  const { var: name } = value;
  if (typeof name === 'string' && Object.keys(value).length === 1)
    return { var: byDepth(name, names) };
  return Object.fromEntries(
    Object.keys(value)
      .filter((key) => isKept(value[key]))
      .toSorted()
      .map((key) => [key, sorted(value[key], names)]),
  );
}

/** The name of a parameter by its depth; other names are returned unchanged. */
function byDepth(name: string, names: readonly string[] = []): string {
  const depth = names.lastIndexOf(name);
  return depth < 0 ? name : `#${depth}`;
}

/** Fingerprint of a schema's wire form. Equal schemas have equal fingerprints. */
export function fingerprintOf(wire: unknown): string {
  // 64-bit FNV-1a: it only distinguishes versions and is not meant for security.
  let hash = 0xcbf29ce484222325n;
  for (const byte of new TextEncoder().encode(JSON.stringify(sorted(wire))))
    hash = BigInt.asUintN(64, (hash ^ BigInt(byte)) * 0x100000001b3n);
  return hash.toString(16).padStart(16, '0');
}
