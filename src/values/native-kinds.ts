/** The native collections: one row each, with all properties that other rooms need. Their members are *native kinds*. */

export interface NativeKindRow {
  /** Number of the collection. Never change it: stored keys contain it. */
  readonly number: number;
  /** Wire key of the expression that makes a ref to a member by name. For members known by id: their name in error texts. */
  readonly singular: string;
  /** As in "Collection already exists." */
  readonly label: string;
  /** As in "Collection Ref expected". Spec: values 2. */
  readonly refType: string;
  /** Its members are schema objects, identified by name. */
  readonly isNamed: boolean;
  /** Only an admin key may read or write its members. */
  readonly isAdminOnly: boolean;
  /** A container database may have members of it. */
  readonly isAllowedInContainer: boolean;
  /** Number of its first member. Undefined: ids are not sequential, or start at 1. */
  readonly firstNumber?: number;
  /** Fields that the database itself adds to a member. Exports leave them out. */
  readonly derived?: readonly string[];
}

/** Collections below this number are native. */
export const FIRST_USER_COLLECTION = 1024;
/** Indexes below this number are native. */
export const FIRST_USER_INDEX = 32_768;

const schemaObject = { isNamed: true, isAdminOnly: false, isAllowedInContainer: false } as const;
const identity = {
  isNamed: false,
  isAdminOnly: false,
  isAllowedInContainer: false,
  refType: 'Ref',
} as const;

/** In the order in which exports create them: a schema object refers only to kinds before its own, except functions and roles. */
export const NATIVE_KINDS = {
  collections: {
    ...schemaObject,
    number: 1,
    singular: 'collection',
    label: 'Collection',
    refType: 'Collection Ref',
    firstNumber: FIRST_USER_COLLECTION,
  },
  databases: {
    ...schemaObject,
    number: 2,
    singular: 'database',
    label: 'Database',
    refType: 'Database Ref',
    isAdminOnly: true,
    isAllowedInContainer: true,
  },
  indexes: {
    ...schemaObject,
    number: 3,
    singular: 'index',
    label: 'Index',
    refType: 'Index Ref',
    firstNumber: FIRST_USER_INDEX,
    derived: ['active'],
  },
  functions: {
    ...schemaObject,
    number: 4,
    singular: 'function',
    label: 'Function',
    refType: 'Function Ref',
  },
  roles: {
    ...schemaObject,
    number: 5,
    singular: 'role',
    label: 'Role',
    refType: 'Ref',
    isAdminOnly: true,
  },
  keys: {
    ...identity,
    number: 6,
    singular: 'key',
    label: 'Key',
    isAdminOnly: true,
    isAllowedInContainer: true,
  },
  tokens: { ...identity, number: 7, singular: 'token', label: 'Token' },
  credentials: { ...identity, number: 8, singular: 'credentials', label: 'Credentials' },
  access_providers: {
    ...schemaObject,
    number: 9,
    singular: 'access_provider',
    label: 'Access provider',
    refType: 'Ref',
    isAdminOnly: true,
    derived: ['audience'],
  },
} as const satisfies Readonly<Record<string, NativeKindRow>>;

type Kinds = typeof NATIVE_KINDS;
export type NativeName = keyof Kinds;

/** Native collections whose members are identified by name. */
export type SchemaName = {
  [Name in NativeName]: Kinds[Name]['isNamed'] extends true ? Name : never;
}[NativeName];

/** The kinds that make up the schema of a database. Child databases are not part of it: each has a schema of its own. */
export type OwnSchemaName = Exclude<SchemaName, 'databases'>;

/** Kinds of objects that an unresolved ref can name. */
export type NativeSingular = Kinds[NativeName]['singular'];

export const NATIVE_NAMES = Object.keys(NATIVE_KINDS) as readonly NativeName[];

export const OWN_SCHEMA_NAMES = NATIVE_NAMES.filter(
  (name): name is OwnSchemaName => NATIVE_KINDS[name].isNamed && name !== 'databases',
);

/** Internal numbers of the native collections. */
export const NATIVE = Object.fromEntries(
  NATIVE_NAMES.map((name) => [name, NATIVE_KINDS[name].number]),
) as { readonly [Name in NativeName]: Kinds[Name]['number'] };

const NAMES_BY_NUMBER: ReadonlyMap<number, NativeName> = new Map(
  NATIVE_NAMES.map((name) => [NATIVE_KINDS[name].number, name]),
);

export const nativeName = (collection: number): NativeName | undefined =>
  NAMES_BY_NUMBER.get(collection);

export const nativeKind = (collection: number): NativeKindRow | undefined => {
  const name = NAMES_BY_NUMBER.get(collection);
  return name && NATIVE_KINDS[name];
};

/** Numbers of the native collections that satisfy a condition. */
export const nativeNumbers = (holds: (row: NativeKindRow) => boolean): ReadonlySet<number> =>
  new Set(NATIVE_NAMES.filter((name) => holds(NATIVE_KINDS[name])).map((name) => NATIVE[name]));

export const isSchemaName = (name: string): name is SchemaName =>
  Object.hasOwn(NATIVE_KINDS, name) && NATIVE_KINDS[name as NativeName].isNamed;

export const isNative = (collection: number): boolean => collection < FIRST_USER_COLLECTION;
