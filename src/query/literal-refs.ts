/** `@ref` literals. They are checked when they are parsed and resolved when they are evaluated. Spec: values 3. */
import type { Json, JsonObject } from '../codec/json.ts';
import { isInteger, isObject, Ref } from '../values/value.ts';
import { Deferred, expected, invalid } from './literal.ts';
import { at, type QueryPath } from './query-path.ts';
import type { LiteralSession } from './node.ts';
import {
  documentId,
  documentIdFault,
  documentRef,
  nativeNamed,
  nativeRef,
  schemaRef,
  type AnyRef,
} from './ref-build.ts';
import { type NativeName, type SchemaName, isSchemaName } from '../values/native-kinds.ts';

type RefLiteral =
  | { readonly kind: 'native'; readonly name: NativeName; readonly scope: RefLiteral | undefined }
  | {
      readonly kind: 'schema';
      readonly schema: SchemaName;
      readonly name: string;
      readonly scope: RefLiteral | undefined;
    }
  | { readonly kind: 'document'; readonly collection: RefLiteral; readonly id: bigint }
  | { readonly kind: 'self'; readonly collection: RefLiteral; readonly path: QueryPath };

/** Reads the content of `{"@ref":…}`. */
export function readRef(json: Json, path: QueryPath): Deferred {
  const literal = refLiteral(json, path);
  return new Deferred((session) => resolve(literal, session));
}

function refLiteral(json: Json, path: QueryPath): RefLiteral {
  if (typeof json === 'string') return pathLiteral(json, path) ?? invalid(path, 'Invalid ref.');
  if (!isObject(json) || !json.has('id')) return invalid(path, 'Invalid ref.');
  const collection = json.get('collection') ?? json.get('class');
  return collection === undefined
    ? nativeLiteral(json, path)
    : memberLiteral(json, collectionLiteral(collection, at(path, 'class')), path);
}

function nativeLiteral(json: JsonObject, path: QueryPath): RefLiteral {
  const id = json.get('id') ?? null;
  const name = typeof id === 'string' ? nativeNamed(id) : undefined;
  if (name === undefined) return invalid(at(path, 'id'), 'Invalid ref.');
  return { kind: 'native', name, scope: scopeLiteral(json, path) };
}

/** Reads a ref inside a ref: `{"@ref":…}`. */
function nestedLiteral(json: Json, path: QueryPath): RefLiteral {
  const inside = isObject(json) && json.size === 1 ? json.get('@ref') : undefined;
  return inside === undefined ? invalid(path, 'Invalid ref.') : refLiteral(inside, path);
}

const isCollection = (literal: RefLiteral): boolean =>
  literal.kind === 'native' || (literal.kind === 'schema' && literal.schema === 'collections');

function collectionLiteral(json: Json, path: QueryPath): RefLiteral {
  const literal = nestedLiteral(json, path);
  return isCollection(literal) ? literal : invalid(path, 'Collection Ref expected.');
}

function scopeLiteral(json: JsonObject, path: QueryPath): RefLiteral | undefined {
  const database = json.get('database');
  if (database === undefined) return undefined;
  const scope = nestedLiteral(database, at(path, 'database'));
  return scope.kind === 'schema' && scope.schema === 'databases'
    ? scope
    : invalid(at(path, 'database'), 'Database Ref expected.');
}

/** Reads a ref that names its collection: that of a schema object by name, or of a document by id. */
function memberLiteral(json: JsonObject, collection: RefLiteral, path: QueryPath): RefLiteral {
  const id = json.get('id') ?? null;
  if (collection.kind === 'native' && isSchemaName(collection.name)) {
    if (typeof id !== 'string') return expected('String', id, at(path, 'id'));
    const scope = scopeLiteral(json, path) ?? collection.scope;
    return { kind: 'schema', schema: collection.name, name: id, scope };
  }
  if (json.has('database')) {
    return invalid(at(path, 'database'), 'A document ref has the database of its collection.');
  }
  if (id === 'self') return { kind: 'self', collection, path };
  if (typeof id !== 'string' && !isInteger(id)) {
    return expected('Number or numeric String', id, at(path, 'id'));
  }
  const number = documentId(id);
  return typeof number === 'bigint'
    ? { kind: 'document', collection, id: number }
    : invalid(at(path, 'id'), documentIdFault(id, number));
}

/** Reads a legacy path: `classes/posts/12`, `indexes/by_name`, `keys`. */
function pathLiteral(path: string, queryPath: QueryPath): RefLiteral | undefined {
  const [first = '', second, third, ...rest] = path.split('/');
  const name = nativeNamed(first);
  if (name === undefined || rest.length > 0) return undefined;
  const native = { kind: 'native', name, scope: undefined } as const;
  if (second === undefined) return native;
  if (!isSchemaName(name)) {
    return third === undefined ? memberByPath(native, second, queryPath) : undefined;
  }
  if (second === '') return undefined;
  const schema = { kind: 'schema', schema: name, name: second, scope: undefined } as const;
  if (third === undefined) return schema;
  return name === 'collections' ? memberByPath(schema, third, queryPath) : undefined;
}

function memberByPath(collection: RefLiteral, id: string, path: QueryPath): RefLiteral | undefined {
  if (id === 'self') return { kind: 'self', collection, path };
  const number = documentId(id);
  return typeof number === 'bigint' ? { kind: 'document', collection, id: number } : undefined;
}

function resolve(literal: RefLiteral, session: LiteralSession): AnyRef {
  switch (literal.kind) {
    case 'native':
      return nativeRef(literal.name, resolveScope(literal.scope, session), session);
    case 'schema': {
      const scope = resolveScope(literal.scope, session);
      return schemaRef(literal.schema, literal.name, scope, session);
    }
    case 'document':
      return documentRef(resolve(literal.collection, session), literal.id, session);
    default:
      return resolveSelf(literal, session);
  }
}

const resolveScope = (scope: RefLiteral | undefined, session: LiteralSession): AnyRef | undefined =>
  scope && resolve(scope, session);

function resolveSelf(
  literal: Extract<RefLiteral, { readonly kind: 'self' }>,
  session: LiteralSession,
): AnyRef {
  const collection = resolve(literal.collection, session);
  const self = collection instanceof Ref ? session.self(collection) : undefined;
  return self ?? invalid(literal.path, 'Invalid ref.');
}
