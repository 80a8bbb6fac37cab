/**
 * The schema objects of one database, parsed from their rows. All rows of a kind are read as one range. Parsed definitions are cached as
 * long as the rows are, so a query with a warm cache parses nothing.
 */
import { collectionPrefix, decodeDocumentKey } from '../../codec/key.ts';
import { prefixRange } from '../../codec/ranges.ts';
import { unpackVersion } from '../../codec/row.ts';
import { parseStored } from '../../codec/stored.ts';
import type { Entry, Range, Row } from '../../store/port.ts';
import { Suspended, type Reader } from '../../store/reader.ts';
import { entriesIn, scan } from '../../store/scan.ts';
import { Ref } from '../../values/value.ts';
import type { CollectionId, DatabaseId, ObjectValue } from '../../values/value.ts';
import {
  collectionDefinitionOf,
  functionDefinitionOf,
  indexDefinitionOf,
  nativeCollection,
  roleDefinitionOf,
  sourceCovering,
} from './definitions.ts';
import type { CollectionDefinition, Definition, IndexDefinition } from './definitions.ts';
import { parseStoredLambda } from './stored-lambdas.ts';
import {
  isNative,
  NATIVE,
  NATIVE_KINDS,
  NATIVE_NAMES,
  nativeName,
  type NativeName,
  type SchemaName,
} from '../../values/native-kinds.ts';

/** Kinds of which all objects are read at once. Databases are not included because there may be many; see `databases.ts`. */
export type SchemaKind = Exclude<SchemaName, 'databases'>;

export const isSchemaKind = (name: NativeName | undefined): name is SchemaKind =>
  name !== undefined && name !== 'databases' && NATIVE_KINDS[name].isNamed;
export const SCHEMA_KINDS = NATIVE_NAMES.filter((name) => isSchemaKind(name));

/** Functions for the kinds whose definition has more than the common members. */
const MAKERS = {
  collections: collectionDefinitionOf,
  indexes: indexDefinitionOf,
  functions: functionDefinitionOf,
  roles: roleDefinitionOf,
} as const;

type Made = {
  readonly [K in keyof typeof MAKERS]: NonNullable<ReturnType<(typeof MAKERS)[K]>>;
};
type Definitions = { readonly [K in SchemaKind]: K extends keyof Made ? Made[K] : Definition };

const makers: {
  readonly [K in SchemaKind]?: (stored: Definition) => Definition | undefined;
} = MAKERS;

interface Part<D> {
  readonly list: readonly D[];
  readonly byName: ReadonlyMap<string, D>;
  readonly byId: ReadonlyMap<bigint, D>;
}
type Parts = { [K in SchemaKind]?: Part<Definitions[K]> | undefined };

export class Schema {
  readonly database: DatabaseId;
  private readonly present: Reader;
  private readonly base: Reader;
  /** Increases with every schema change that this query makes. */
  generation = 0;
  private now: Parts = {};
  private readonly before: Parts = {};
  private covering = new Map<CollectionId, readonly IndexDefinition[]>();
  /** Collections requested so far. Every document read requests its collection. */
  private collections = new Map<CollectionId, CollectionDefinition | undefined>();

  /**
   * @param present reads with this query's own writes: used to look up ids
   * @param base reads without them: used to look up names
   */
  constructor(database: DatabaseId, present: Reader, base: Reader) {
    this.database = database;
    this.present = present;
    this.base = base;
  }

  /** To be called when this query has changed a schema object of this database. */
  forget(): void {
    this.generation += 1;
    this.now = {};
    this.covering = new Map();
    this.collections = new Map();
  }

  /** The object with this name before this query. Spec: functions 4.3. */
  byName<K extends SchemaKind>(kind: K, name: string): Definitions[K] | undefined {
    return this.part(this.before, this.base, kind).byName.get(name);
  }

  /** Whether the collection existed before this query. */
  hadCollection(id: CollectionId): boolean {
    return isNative(id) || this.part(this.before, this.base, 'collections').byId.has(BigInt(id));
  }

  /** The object with this id, with this query's own changes. */
  byId<K extends SchemaKind>(kind: K, id: bigint): Definitions[K] | undefined {
    return this.part(this.now, this.present, kind).byId.get(id);
  }

  /** The present name of an object, or its old name if this query has deleted it. */
  nameById(kind: SchemaKind, id: bigint): string | undefined {
    const found = this.byId(kind, id) ?? this.part(this.before, this.base, kind).byId.get(id);
    return found?.name;
  }

  /** The object that has this name now, with this query's own changes. */
  namedNow<K extends SchemaKind>(kind: K, name: string): Definitions[K] | undefined {
    return this.part(this.now, this.present, kind).byName.get(name);
  }

  /** All objects of a kind in the order of their creation, with this query's own changes. */
  all<K extends SchemaKind>(kind: K): readonly Definitions[K][] {
    return this.part(this.now, this.present, kind).list;
  }

  /** The collection with this id, which may be native. */
  collection(id: CollectionId): CollectionDefinition | undefined {
    const known = this.collections.get(id);
    if (known) return known;
    const found = this.readCollection(id);
    this.collections.set(id, found);
    return found;
  }

  private readCollection(id: CollectionId): CollectionDefinition | undefined {
    if (!isNative(id)) return this.byId('collections', BigInt(id));
    return nativeName(id) ? nativeCollection(this.database, id) : undefined;
  }

  index(ref: Ref): IndexDefinition | undefined {
    return ref.collection === NATIVE.indexes ? this.byId('indexes', ref.id) : undefined;
  }

  /** Indexes that contain entries of a collection's documents, active or not. */
  indexesOf(collection: CollectionId): readonly IndexDefinition[] {
    let indexes = this.covering.get(collection);
    if (!indexes) {
      indexes = this.all('indexes').filter((index) => sourceCovering(index, collection));
      this.covering.set(collection, indexes);
    }
    return indexes;
  }

  private part<K extends SchemaKind>(parts: Parts, reader: Reader, kind: K): Part<Definitions[K]> {
    const known: Part<Definitions[K]> | undefined = parts[kind];
    if (known) return known;
    const part = this.read(reader, kind);
    (parts as Record<SchemaKind, unknown>)[kind] = part;
    return part;
  }

  private read<K extends SchemaKind>(reader: Reader, kind: K): Part<Definitions[K]> {
    const range = rangeOf(this.database, kind);
    try {
      const first = reader.range(range);
      if (first.length < range.limit) return this.remembered(kind, first);
      return this.remembered(kind, [...entriesIn(reader, range)]);
    } catch (reason) {
      if (!(reason instanceof Suspended)) throw reason;
      // Most queries need several kinds, so all kinds are fetched together.
      const kin = SCHEMA_KINDS.map((each) => rangeOf(this.database, each));
      throw new Suspended([
        ...reason.needs,
        ...kin.map((each) => ({ kind: 'range', range: each }) as const),
      ]);
    }
  }

  private remembered<K extends SchemaKind>(
    kind: K,
    entries: readonly Entry[],
  ): Part<Definitions[K]> {
    // The list is the result of one range, so it contains one kind only.
    const known = partsByEntries.get(entries) as Part<Definitions[K]> | undefined;
    if (known) return known;
    const list: Definitions[K][] = [];
    for (const { row } of entries) {
      const definition = row && this.definitionOf(kind, row);
      if (definition) list.push(definition);
    }
    const part: Part<Definitions[K]> = {
      list,
      byName: new Map(list.map((each) => [each.name, each])),
      byId: new Map(list.map((each) => [each.ref.id, each])),
    };
    partsByEntries.set(entries, part);
    return part;
  }

  private definitionOf<K extends SchemaKind>(kind: K, row: Row): Definitions[K] | undefined {
    if (definitionsByRow.has(row)) {
      return definitionsByRow.get(row) as Definitions[K] | undefined;
    }
    const { collection, id } = decodeDocumentKey(row.key);
    const version = unpackVersion(String(row.value));
    const fields = parseStored(version.body, {
      lambda: parseStoredLambda,
      database: this.database,
    }) as ObjectValue;
    const name = fields.get('name');
    const stored = {
      ref: new Ref(this.database, collection, id),
      name: typeof name === 'string' ? name : '',
      ts: version.ts,
      fields,
    };
    const make = makers[kind];
    const definition = (make ? make(stored) : stored) as Definitions[K] | undefined;
    definitionsByRow.set(row, definition);
    return definition;
  }
}

/** Returns a function that creates the schema of each database once. For `present` and `base`, see `Schema`. */
export function schemasOver(present: Reader, base: Reader): (database: DatabaseId) => Schema {
  const schemas = new Map<DatabaseId, Schema>();
  return (database) => {
    const known = schemas.get(database);
    if (known) return known;
    const made = new Schema(database, present, base);
    schemas.set(database, made);
    return made;
  };
}

const partsByEntries = new WeakMap<readonly Entry[], unknown>();
const definitionsByRow = new WeakMap<Row, unknown>();

const CHUNK = 10_000;

const rangeOf = (database: DatabaseId, kind: SchemaKind): Range =>
  scan('documents', prefixRange(collectionPrefix(database, NATIVE[kind])), { limit: CHUNK });
