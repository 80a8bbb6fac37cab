/** Parsed definitions of schema objects, created from their stored fields. */
import { LIMITS } from '../../limits.ts';
import { Ref, asArray, isInteger, isKind, isObject } from '../../values/value.ts';
import type {
  CollectionId,
  DatabaseId,
  Lambda,
  Micros,
  ObjectValue,
  Value,
} from '../../values/value.ts';
import { NATIVE, nativeName, isNative } from '../../values/native-kinds.ts';

/** Who has access in addition to admin and server keys, by action. Spec: auth 3.7. */
export type LegacyPermissions = ReadonlyMap<string, 'public' | Ref>;

export interface Definition {
  readonly ref: Ref;
  readonly name: string;
  /** Valid time of the version that the definition was read from. */
  readonly ts: Micros;
  /** The stored fields. */
  readonly fields: ObjectValue;
}

export interface CollectionDefinition extends Definition {
  readonly id: CollectionId;
  /** Undefined: history is kept forever. */
  readonly historyDays: number | undefined;
  readonly ttlDays: number | undefined;
  /** No history is kept before this time, whatever `historyDays` is now. */
  readonly floor: Micros;
  readonly permissions: LegacyPermissions | undefined;
}

export interface IndexSource {
  /** `all`: every user-defined collection, including those created later. */
  readonly collections: ReadonlySet<CollectionId> | 'all';
  readonly bindings: ReadonlyMap<string, Lambda>;
}

/** A term or a value of an index. If both are set, `binding` takes precedence over `path`. */
export interface IndexField {
  readonly path: readonly (string | number)[] | undefined;
  readonly binding: string | undefined;
  readonly transform: 'casefold' | undefined;
  /** True: arrays are indexed element by element, and objects as null. False: arrays and objects are indexed as a whole. */
  readonly mva: boolean;
  readonly reverse: boolean;
}

export interface IndexDefinition extends Definition {
  /** The number of the index in the keys of its entries. */
  readonly id: number;
  readonly sources: readonly IndexSource[];
  readonly terms: readonly IndexField[];
  readonly values: readonly IndexField[];
  /** The `reverse` members of `values`. */
  readonly reverse: readonly boolean[];
  readonly unique: boolean;
  readonly active: boolean;
  /**
   * Documents stored before the index was created are not all indexed yet. Also true for an index that was set active before its build is
   * complete.
   */
  readonly isBuilding: boolean;
  readonly partitions: number;
  readonly permissions: LegacyPermissions | undefined;
}

export interface FunctionDefinition extends Definition {
  readonly body: Lambda;
  /** A built-in role, or a role of this database. The body runs with its permissions instead of the caller's. */
  readonly role: string | Ref | undefined;
  readonly permissions: LegacyPermissions | undefined;
}

export interface Privilege {
  readonly resource: Ref;
  readonly actions: ReadonlyMap<string, boolean | Lambda>;
}
export interface Membership {
  readonly resource: Ref;
  readonly predicate: Lambda | undefined;
}
export interface RoleDefinition extends Definition {
  readonly privileges: readonly Privilege[];
  readonly membership: readonly Membership[];
}

/** The ref of a collection itself. */
export const collectionRef = (database: DatabaseId, collection: CollectionId): Ref =>
  new Ref(database, NATIVE.collections, BigInt(collection));

/** The definition of a native collection, which has no settings. */
export const nativeCollection = (database: DatabaseId, id: CollectionId): CollectionDefinition => ({
  ref: collectionRef(database, id),
  name: nativeName(id) ?? '',
  ts: 0,
  fields: new Map(),
  id,
  historyDays: LIMITS.historyDaysDefault,
  ttlDays: undefined,
  floor: 0,
  permissions: undefined,
});

type Stored = Definition;

export function collectionDefinitionOf(stored: Stored): CollectionDefinition {
  const { fields } = stored;
  return {
    ...stored,
    id: Number(stored.ref.id),
    historyDays: integerAt(fields, 'history_days'),
    ttlDays: integerAt(fields, 'ttl_days'),
    floor: integerAt(fields, 'floor') ?? 0,
    permissions: permissionsAt(fields),
  };
}

export function indexDefinitionOf(stored: Stored): IndexDefinition {
  const { fields } = stored;
  const values = oneOrMany(fields.get('values')).map(fieldOf);
  return {
    ...stored,
    id: Number(stored.ref.id),
    sources: oneOrMany(fields.get('source')).map(sourceOf),
    terms: oneOrMany(fields.get('terms')).map(fieldOf),
    values,
    reverse: values.map((each) => each.reverse),
    unique: fields.get('unique') === true,
    active: fields.get('active') === true,
    isBuilding: fields.get('active') !== true || fields.get('building') === true,
    partitions: integerAt(fields, 'partitions') ?? 1,
    permissions: permissionsAt(fields),
  };
}

/** The source of an index that covers a collection. A source that names the collection takes precedence over one that covers all. */
export function sourceCovering(
  index: Pick<IndexDefinition, 'sources'>,
  collection: CollectionId,
): IndexSource | undefined {
  const named = index.sources.find(
    (each) => each.collections !== 'all' && each.collections.has(collection),
  );
  if (named || isNative(collection)) return named;
  return index.sources.find((each) => each.collections === 'all');
}

export function functionDefinitionOf(stored: Stored): FunctionDefinition | undefined {
  const { fields } = stored;
  const body = fields.get('body');
  const role = fields.get('role');
  if (!isKind(body, 'lambda')) return undefined;
  return {
    ...stored,
    body,
    role: typeof role === 'string' || isKind(role, 'ref') ? role : undefined,
    permissions: permissionsAt(fields),
  };
}

export function roleDefinitionOf(stored: Stored): RoleDefinition {
  const { fields } = stored;
  return {
    ...stored,
    privileges: oneOrMany(fields.get('privileges')).flatMap(privilegeOf),
    membership: oneOrMany(fields.get('membership')).flatMap(membershipOf),
  };
}

/** The elements of a field that holds one value or an array of values. */
export const oneOrMany = (value: Value | undefined): readonly Value[] =>
  value === undefined || value === null ? [] : asArray(value);

function sourceOf(value: Value): IndexSource {
  if (!isObject(value)) return { collections: collectionsOf(value), bindings: new Map() };
  const bindings = new Map<string, Lambda>();
  for (const fields of oneOrMany(value.get('fields'))) {
    if (!isObject(fields)) continue;
    for (const [name, each] of fields) if (isKind(each, 'lambda')) bindings.set(name, each);
  }
  return { collections: collectionsOf(value.get('collection') ?? null), bindings };
}

const collectionsOf = (value: Value): IndexSource['collections'] =>
  value === '_'
    ? 'all'
    : new Set(
        oneOrMany(value)
          .filter((each): each is Ref => isKind(each, 'ref'))
          .map((ref) => Number(ref.id)),
      );

function fieldOf(value: Value): IndexField {
  const fields: ObjectValue = isObject(value) ? value : new Map();
  const binding = fields.get('binding');
  const field = fields.get('field');
  return {
    path: field === undefined ? undefined : oneOrMany(field).map(stepOf),
    binding: typeof binding === 'string' ? binding : undefined,
    transform: fields.get('transform') === 'casefold' ? 'casefold' : undefined,
    mva: fields.get('mva') !== false,
    reverse: fields.get('reverse') === true,
  };
}

const stepOf = (value: Value): string | number =>
  typeof value === 'string' ? value : isInteger(value) ? Number(value) : '';

function privilegeOf(value: Value): Privilege[] {
  if (!isObject(value)) return [];
  const resource = value.get('resource');
  const given = value.get('actions');
  if (!isKind(resource, 'ref')) return [];
  const actions = new Map<string, boolean | Lambda>();
  if (given !== undefined && isObject(given)) {
    for (const [name, each] of given)
      if (typeof each === 'boolean' || isKind(each, 'lambda')) actions.set(name, each);
  }
  return [{ resource, actions }];
}

function membershipOf(value: Value): Membership[] {
  if (!isObject(value)) return [];
  const resource = value.get('resource');
  const predicate = value.get('predicate');
  if (!isKind(resource, 'ref')) return [];
  return [{ resource, predicate: isKind(predicate, 'lambda') ? predicate : undefined }];
}

/** The `permissions` field of a collection, index, function or document. */
export function permissionsAt(fields: ObjectValue): LegacyPermissions | undefined {
  const given = fields.get('permissions');
  if (given === undefined || !isObject(given)) return undefined;
  const permissions = new Map<string, 'public' | Ref>();
  for (const [action, each] of given)
    if (each === 'public' || isKind(each, 'ref')) permissions.set(action, each);
  return permissions;
}

/** Undefined if the field is missing or not an integer. */
export function integerAt(fields: ObjectValue, name: string): number | undefined {
  const value = fields.get(name);
  return value !== undefined && isInteger(value) ? Number(value) : undefined;
}
