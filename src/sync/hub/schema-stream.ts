/** The schema as far as a device needs it: what its sets are made of, and what its roles grant anything on. It comes before the documents. */
import { hexOfBytes } from '../../codec/hex.ts';
import { documentKey } from '../../codec/key.ts';
import { packVersion, unpackVersion, type StoredVersion } from '../../codec/row.ts';
import { utf8Bytes } from '../../codec/utf8.ts';
import type { EngineContext } from '../../engine/context.ts';
import {
  type FunctionDefinition,
  type LegacyPermissions,
  type RoleDefinition,
  collectionOfDocument,
  isSameRef,
} from '../../engine/catalog.ts';
import { fieldsOf, bodyOf } from '../../engine/documents.ts';
import { eachElement } from '../../query/collect-needs.ts';
import type { Reader } from '../../store/reader.ts';
import { type CollectionId, type Ref } from '../../values/value.ts';
import type { Pulled, PulledDocument } from '../protocol.ts';
import { rolesInForce, type Asker } from './asker.ts';
import type { AskedSet } from './asked-sets.ts';
import { NATIVE } from '../../values/native-kinds.ts';

type SchemaAnswer = NonNullable<Pulled['schema']>;

/** @throws Suspended */
export function schemaFor(
  reader: Reader,
  asker: Asker,
  sets: readonly AskedSet[],
  sha256: (bytes: Uint8Array) => Uint8Array,
): SchemaAnswer {
  const refs = neededBy(asker, sets);
  const documents = eachElement(refs, (ref) => documentOf(reader, asker, ref)).flat();
  const digest = sha256(utf8Bytes(JSON.stringify(documents)));
  const version = hexOfBytes(digest);
  return { version, documents };
}

/** Collections, indexes, functions, roles; of each kind in order. */
function neededBy(asker: Asker, sets: readonly AskedSet[]): readonly Ref[] {
  const { context, caller } = asker;
  const schema = context.schema(context.database);
  const isAdmin = caller.role === 'admin';
  if (isAdmin || caller.role === 'server' || caller.role === 'server-readonly') {
    const kinds = ['collections', 'indexes', 'functions'] as const;
    const shared = kinds.flatMap((kind) => schema.all(kind).map(({ ref }) => ref));
    return isAdmin ? [...shared, ...schema.all('roles').map(({ ref }) => ref)] : shared;
  }
  const roles = rolesInForce(asker);
  const indexes = indexesOf(context, roles, sets);
  const collections = collectionsOf(context, roles, sets, indexes);
  const functions = schema.all('functions').filter((each) => mayCall(context, roles, each));
  return [
    ...schema.all('collections').filter(({ id }) => collections.has(id)),
    ...schema.all('indexes').filter(({ id }) => indexes.has(id)),
    ...functions,
    ...roles,
  ].map(({ ref }) => ref);
}

/** What roles grant anything on, of one kind. */
const granted = (
  { database }: EngineContext,
  roles: readonly RoleDefinition[],
  kind: CollectionId,
): readonly number[] =>
  roles
    .flatMap(({ privileges }) => privileges)
    .filter(({ actions }) => [...actions.values()].some((given) => given !== false))
    .map(({ resource }) => resource)
    .filter((resource) => resource.database === database && resource.collection === kind)
    .map(({ id }) => Number(id));

const indexesOf = (
  context: EngineContext,
  roles: readonly RoleDefinition[],
  sets: readonly AskedSet[],
): ReadonlySet<number> =>
  new Set([
    ...granted(context, roles, NATIVE.indexes),
    ...sets.flatMap(({ parts }) => parts.flatMap(({ index }) => index?.id ?? [])),
  ]);

function collectionsOf(
  context: EngineContext,
  roles: readonly RoleDefinition[],
  sets: readonly AskedSet[],
  indexes: ReadonlySet<number>,
): ReadonlySet<CollectionId> {
  const schema = context.schema(context.database);
  const needed = new Set(granted(context, roles, NATIVE.collections));
  for (const { part } of sets.flatMap(({ parts }) => parts))
    if (part.kind !== 'index') needed.add(part.collection);
  // An index over all collections tells of those that are needed for something else.
  for (const index of schema.all('indexes')) {
    if (!indexes.has(index.id)) continue;
    for (const { collections } of index.sources)
      if (collections !== 'all') for (const id of collections) needed.add(id);
  }
  const { identity } = context.caller;
  if (identity) needed.add(identity.collection);
  for (const { id, permissions } of schema.all('collections'))
    if (letsIn(permissions, identity)) needed.add(id);
  return needed;
}

function mayCall(
  context: EngineContext,
  roles: readonly RoleDefinition[],
  { ref, permissions }: FunctionDefinition,
): boolean {
  if (letsIn(permissions, context.caller.identity)) return true;
  return roles.some(({ privileges }) =>
    privileges.some(
      ({ resource, actions }) =>
        resource.database === context.database &&
        resource.collection === NATIVE.functions &&
        resource.id === ref.id &&
        (actions.get('call') ?? false) !== false,
    ),
  );
}

/** To whatever it is. */
const letsIn = (permissions: LegacyPermissions | undefined, identity: Ref | undefined): boolean =>
  [...(permissions?.values() ?? [])].some(
    (guest) =>
      guest === 'public' ||
      (identity !== undefined &&
        (isSameRef(guest, identity) || isSameRef(guest, collectionOfDocument(identity)))),
  );

function documentOf(reader: Reader, asker: Asker, ref: Ref): readonly PulledDocument[] {
  const key = documentKey(ref.database, ref.collection, ref.id);
  const row = reader.row({ space: 'documents', key });
  if (!row) return [];
  const version = { ...unpackVersion(String(row.value)), added: undefined };
  const sent = ref.collection === NATIVE.functions ? shownFunction(asker, ref, version) : version;
  return [[ref.collection, String(ref.id), packVersion(sent)]];
}

/** A function with rights of its own runs here only: others than admins get its name and role, and a body that says so. */
function shownFunction(
  { context, caller }: Asker,
  ref: Ref,
  version: StoredVersion,
): StoredVersion {
  const fields = fieldsOf(context, ref, version);
  if (caller.role === 'admin' || !fields.has('role')) return version;
  const body = context.lambdas.parse('"lambda":"_","expr":{"abort":"hub only"}', '4');
  return { ...version, ...bodyOf(new Map([...fields, ['body', body]]), ref.database) };
}
