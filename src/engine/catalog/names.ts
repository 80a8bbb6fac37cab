/** Resolves names to refs, and writes refs as text of any API version. Spec: values 1 and 3. */
import { quote } from '../../codec/json.ts';
import { isAtLeast, type ApiVersion, type Names } from '../../query/session.ts';
import type { Reader, Writer } from '../../store/reader.ts';
import { Ref, UnresolvedRef } from '../../values/value.ts';
import type { DatabaseId } from '../../values/value.ts';
import {
  ROOT_DATABASE,
  databaseById,
  databaseByName,
  databaseIdOf,
  databasePath,
} from './databases.ts';
import { collectionRef } from './definitions.ts';
import { SCHEMA_COLLECTIONS } from './refs.ts';
import type { Schema } from './schema.ts';
import {
  NATIVE,
  type NativeName,
  type SchemaName,
  NATIVE_KINDS,
  nativeName,
  isNative,
} from '../../values/native-kinds.ts';
import { isSchemaKind } from './schema.ts';

interface NamesContext {
  readonly reader: Reader;
  readonly writer: Writer | undefined;
  readonly database: DatabaseId;
  readonly apiVersion: ApiVersion;
  readonly schema: (database: DatabaseId) => Schema;
}

export class ContextNames implements Names {
  readonly ofAnswer: ContextNames;
  private readonly context: NamesContext;
  private readonly isPath: boolean;
  /** `class` before API version 2.7. */
  private readonly collectionKey: string;
  private readonly collectionsId: string;
  /** The text of refs of collections. A page needs the same text for every document. */
  private readonly collectionTexts = new Map<string, string | undefined>();
  /** The collection text that was used last: the documents of a page are usually of one collection. */
  private last:
    | {
        readonly database: DatabaseId;
        readonly collection: number;
        readonly generation: number;
        readonly text: string | undefined;
      }
    | undefined = undefined;

  /** @param ofAnswer names of the query itself, when these are the names of a function of another database */
  constructor(context: NamesContext, ofAnswer?: ContextNames) {
    this.context = context;
    this.ofAnswer = ofAnswer ?? this;
    const isOld = !isAtLeast(context.apiVersion, '2.7');
    this.isPath = context.apiVersion === '2.0';
    this.collectionKey = isOld ? 'class' : 'collection';
    this.collectionsId = isOld ? 'classes' : 'collections';
  }

  ref(kind: SchemaName, name: string, scope: Ref | undefined): Ref | UnresolvedRef {
    const database = this.databaseOf(scope);
    const found = this.found(kind, name, database);
    if (found) return found;
    const text = this.ofAnswer.memberText(kind, name, database);
    return new UnresolvedRef(NATIVE_KINDS[kind].singular, name, text ?? quote(name));
  }

  native(name: NativeName, scope: Ref | undefined): Ref {
    return collectionRef(this.databaseOf(scope), NATIVE[name]);
  }

  refToWire(ref: Ref): string | undefined {
    const { database, collection, id } = ref;
    if (collection === NATIVE.collections) return this.collectionText(database, Number(id));
    if (SCHEMA_COLLECTIONS.has(collection)) {
      const name = this.nameOf(ref);
      const kind = nativeName(collection);
      return name === undefined || !kind ? undefined : this.memberText(kind, name, database);
    }
    const parent = this.collectionText(database, collection);
    if (parent === undefined) return undefined;
    if (this.isPath) return `${parent.slice(0, -1)}/${id}"`;
    return `{"id":"${id}","${this.collectionKey}":{"@ref":${parent}}}`;
  }

  get database(): DatabaseId {
    return this.context.database;
  }

  inVersion(apiVersion: ApiVersion): ContextNames {
    const { reader, writer, database, schema } = this.context;
    return new ContextNames({ reader, writer, database, schema, apiVersion });
  }

  /** Names for a function of `database` that the same query calls. */
  within(database: DatabaseId): ContextNames {
    const { reader, writer, schema, apiVersion } = this.context;
    return new ContextNames({ reader, writer, database, schema, apiVersion }, this.ofAnswer);
  }

  private databaseOf(scope: Ref | undefined): DatabaseId {
    return scope ? databaseIdOf(scope) : this.context.database;
  }

  private found(kind: SchemaName, name: string, database: DatabaseId): Ref | undefined {
    const { schema, reader, writer } = this.context;
    if (kind !== 'databases') return schema(database).byName(kind, name)?.ref;
    const child = databaseByName(writer?.base ?? reader, database, name);
    return child && new Ref(database, NATIVE.databases, BigInt(child.id));
  }

  /** The present name. Objects that this query created have a name already; for those it deleted, the old name is returned. */
  private nameOf({ database, collection, id }: Ref): string | undefined {
    const { reader, writer, schema } = this.context;
    if (collection === NATIVE.databases) {
      const number = Number(id);
      const child = databaseById(reader, number) ?? (writer && databaseById(writer.base, number));
      return child?.parent === database ? child.name : undefined;
    }
    const kind = nativeName(collection);
    return isSchemaKind(kind) ? schema(database).nameById(kind, id) : undefined;
  }

  private collectionText(database: DatabaseId, collection: number): string | undefined {
    const { generation } = this.context.schema(database);
    const { last } = this;
    const isLast = last?.database === database && last.collection === collection;
    if (isLast && last.generation === generation) return last.text;
    const known = `${database} ${collection} ${generation}`;
    const text = this.collectionTexts.has(known)
      ? this.collectionTexts.get(known)
      : this.freshCollectionText(database, collection);
    this.collectionTexts.set(known, text);
    this.last = { database, collection, generation, text };
    return text;
  }

  private freshCollectionText(database: DatabaseId, collection: number): string | undefined {
    if (isNative(collection)) return this.nativeText(nativeName(collection), database);
    const name = this.nameOf(collectionRef(database, collection));
    return name === undefined ? undefined : this.memberText('collections', name, database);
  }

  private nativeText(name: NativeName | undefined, database: DatabaseId): string | undefined {
    const scope = this.scopeText(database);
    if (!name || scope === undefined) return undefined;
    const id = name === 'collections' ? this.collectionsId : name;
    if (this.isPath) return `"${id}"`;
    return scope === '' ? `{"id":"${id}"}` : `{"id":"${id}","database":{"@ref":${scope}}}`;
  }

  /** The text of the ref of a schema object of `database`. */
  private memberText(kind: NativeName, name: string, database: DatabaseId): string | undefined {
    const scope = this.scopeText(database);
    if (scope === undefined) return undefined;
    const id = kind === 'collections' ? this.collectionsId : kind;
    if (this.isPath) return quote(`${id}/${name}`);
    const members = `"id":${quote(name)},"${this.collectionKey}":{"@ref":{"id":"${id}"}}`;
    return scope === '' ? `{${members}}` : `{${members},"database":{"@ref":${scope}}}`;
  }

  /**
   * The text of the ref of a database below the query's own. Empty for the query's own database. Undefined if `database` is not below it.
   */
  private scopeText(database: DatabaseId): string | undefined {
    const { database: own, reader } = this.context;
    if (database === own) return '';
    const path = databasePath(reader, database) ?? [];
    const start = own === ROOT_DATABASE ? 0 : path.findIndex((each) => each.id === own) + 1;
    if (path.length === 0 || (own !== ROOT_DATABASE && start === 0)) return undefined;
    let text = '';
    for (const { name } of path.slice(start)) {
      const members = `"id":${quote(name)},"${this.collectionKey}":{"@ref":{"id":"databases"}}`;
      text = text === '' ? `{${members}}` : `{${members},"database":{"@ref":${text}}}`;
    }
    return text;
  }
}
