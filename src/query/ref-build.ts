/** Makes refs from names. A ref is resolved, or unresolved with the text that it renders as. Spec: values 3. */
import { quote } from '../codec/json.ts';
import { Ref, UnresolvedRef } from '../values/value.ts';
import { isAtLeast, type ApiVersion, type ReadSession } from './session.ts';
import { type NativeName, type SchemaName, NATIVE_KINDS } from '../values/native-kinds.ts';

type NamesSession = Pick<ReadSession, 'names' | 'apiVersion'>;
export type AnyRef = Ref | UnresolvedRef;

/** The native collection with this id. `classes` is an old name of `collections`. */
export const nativeNamed = (id: string): NativeName | undefined => {
  const name = id === 'classes' ? 'collections' : id;
  return Object.hasOwn(NATIVE_KINDS, name) ? (name as NativeName) : undefined;
};

const isOld = (version: ApiVersion): boolean => !isAtLeast(version, '2.7');

const nativeText = (name: NativeName, version: ApiVersion): string =>
  `{"@ref":{"id":"${name === 'collections' && isOld(version) ? 'classes' : name}"}}`;

const membersText = (
  id: string,
  collection: string,
  scope: UnresolvedRef | undefined,
  version: ApiVersion,
): string => {
  const database = scope ? `,"database":{"@ref":${scope.wire}}` : '';
  return `{"id":${quote(id)},"${isOld(version) ? 'class' : 'collection'}":${collection}${database}}`;
};

/** The result of `collection("posts")` and similar functions. */
export function schemaRef(
  kind: SchemaName,
  name: string,
  scope: AnyRef | undefined,
  session: NamesSession,
): AnyRef {
  if (!(scope instanceof UnresolvedRef)) return session.names.ref(kind, name, scope);
  const { apiVersion } = session;
  const wire = membersText(name, nativeText(kind, apiVersion), scope, apiVersion);
  return new UnresolvedRef(scope.what, scope.name, wire);
}

/** The result of `collections()` and similar functions. */
export function nativeRef(
  name: NativeName,
  scope: AnyRef | undefined,
  session: NamesSession,
): AnyRef {
  if (!(scope instanceof UnresolvedRef)) return session.names.native(name, scope);
  const id = name === 'collections' && isOld(session.apiVersion) ? 'classes' : name;
  const wire = `{"id":"${id}","database":{"@ref":${scope.wire}}}`;
  return new UnresolvedRef(scope.what, scope.name, wire);
}

/** The ref of a document. Whether the document exists is not checked. */
export function documentRef(collection: AnyRef, id: bigint, session: NamesSession): AnyRef {
  if (collection instanceof Ref) {
    return new Ref(collection.database, Number(collection.id), id);
  }
  const { what, name, wire } = collection;
  // In version 2.0 the text is a path.
  const text = wire.startsWith('"')
    ? `${wire.slice(0, -1)}/${id}"`
    : membersText(String(id), `{"@ref":${wire}}`, undefined, session.apiVersion);
  return new UnresolvedRef(what, name, text);
}

const ID_MAX = 2n ** 63n - 1n;
const DIGITS = /^[0-9]+$/;

/** The id of a document from an Integer or its digits, or the reason why it is invalid. */
export function documentId(id: string | number | bigint): bigint | 'not a number' | 'too large' {
  if (typeof id === 'string' && !DIGITS.test(id)) return 'not a number';
  // Texts far longer than the largest id are not parsed.
  if (typeof id === 'string' && id.length > 1000) return 'too large';
  const number = BigInt(id);
  if (number < 0n) return 'not a number';
  return number > ID_MAX ? 'too large' : number;
}

export const documentIdFault = (
  id: string | number | bigint,
  reason: 'not a number' | 'too large',
): string =>
  reason === 'too large'
    ? `The id provided is too large: '${id}'`
    : `Number or numeric String expected, non-numeric '${id}' provided.`;
