/** Refs of documents, schema objects and native collections. Spec: functions 1.7. */
import { fail } from '../../errors.ts';
import { typeExpected } from '../../fault-texts.ts';
import { isInteger, Ref, UnresolvedRef } from '../../values/value.ts';
import {
  databaseRef,
  optional,
  param,
  positionAt,
  refuseUnresolved,
  string,
  wrongType,
} from '../casts.ts';
import { COVERED } from '../costs.ts';
import { define, type PureContext } from '../define.ts';
import type { Cast, FunctionRow } from '../function-row.ts';
import { idOf } from '../navigate.ts';
import {
  documentId,
  documentIdFault,
  documentRef,
  nativeRef,
  schemaRef,
  type AnyRef,
} from '../ref-build.ts';
import type { ApiVersion } from '../session.ts';
import {
  NATIVE,
  type NativeName,
  type SchemaName,
  nativeNumbers,
} from '../../values/native-kinds.ts';
import { isNativeCollectionRef } from '../../values/native-refs.ts';

const SCHEMA_COLLECTIONS = nativeNumbers((kind) => kind.isNamed);

/** A collection whose documents have numeric ids. A ref to a collection that does not exist is accepted. */
const documentCollection: Cast<AnyRef> = (value, where) => {
  if (value instanceof UnresolvedRef && value.what === 'collection') return value;
  if (!(value instanceof Ref) || value.collection !== NATIVE.collections) {
    return wrongType('Collection Ref', value, where);
  }
  return isNativeCollectionRef(value) && SCHEMA_COLLECTIONS.has(Number(value.id))
    ? fail(
        'invalid argument',
        positionAt(where),
        typeExpected('Regular Class Ref', 'Schema Class Ref'),
      )
    : value;
};

const id: Cast<bigint> = (value, where) => {
  if (typeof value !== 'string' && !isInteger(value)) {
    return wrongType('Number or numeric String', value, where);
  }
  const number = documentId(value);
  return typeof number === 'bigint'
    ? number
    : fail('invalid argument', positionAt(where), documentIdFault(value, number));
};

const scope = optional(databaseRef, 'Database Ref');

const ref = define(
  'pure',
  { ref: param(documentCollection, 'Collection Ref'), id: param(id, 'Integer or String'), scope },
  COVERED,
  (args, context) => documentRef(inScope(args.ref, args.scope, context), args.id, context.session),
);

/** The collection with the same name in another database. */
function inScope(collection: AnyRef, database: Ref | undefined, { session }: PureContext): AnyRef {
  if (!database || collection instanceof UnresolvedRef) return collection;
  const name = idOf(collection, session);
  return typeof name === 'string' ? schemaRef('collections', name, database, session) : collection;
}

/** A row for `collection("posts")` or a similar function, by its wire key. */
const byName = (key: string, kind: SchemaName, since: ApiVersion = '2.0'): FunctionRow =>
  define(
    'pure',
    {
      [key]: param<unknown>(string, 'String'),
      scope: optional<unknown>(databaseRef, 'Database Ref'),
    },
    COVERED,
    (args, context) =>
      // The casts guarantee a string and a Ref.
      schemaRef(kind, args[key] as string, args['scope'] as Ref | undefined, context.session),
    { since },
  );

const databaseOrNull: Cast<Ref | undefined> = (value, where) => {
  if (value === null) return undefined;
  if (value instanceof Ref && value.collection === NATIVE.databases) return value;
  return value instanceof UnresolvedRef
    ? refuseUnresolved(value, where)
    : wrongType('Database Ref or Null', value, where);
};

/** A row for `collections()` or a similar function, by its wire key. */
const native = (key: string, name: NativeName, since: ApiVersion = '2.0'): FunctionRow =>
  define(
    'pure',
    { [key]: param(databaseOrNull, 'Database Ref or Null') },
    COVERED,
    (args, context) => nativeRef(name, args[key], context.session),
    { since },
  );

export const refRows: readonly FunctionRow[] = [
  ref,
  byName('collection', 'collections'),
  byName('class', 'collections'),
  byName('database', 'databases'),
  byName('index', 'indexes'),
  byName('function', 'functions'),
  byName('role', 'roles'),
  byName('access_provider', 'access_providers', '4'),
  native('collections', 'collections'),
  native('classes', 'collections'),
  native('databases', 'databases'),
  native('indexes', 'indexes'),
  native('functions', 'functions'),
  native('roles', 'roles'),
  native('keys', 'keys'),
  native('tokens', 'tokens'),
  native('credentials', 'credentials'),
  native('access_providers', 'access_providers', '4'),
];
