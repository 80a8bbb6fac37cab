/** The part of the schema that a device needs: what its sets consist of, and what its roles grant privileges on. Sent before documents. */
import { documentKey } from '../../../codec/key.ts';
import { packVersion, unpackVersion, type StoredVersion } from '../../../codec/row.ts';
import { hexHash, type Sha256 } from '../../../codec/sha256.ts';
import type { EngineContext } from '../../../engine/context.ts';
import {
  type FunctionDefinition,
  type LegacyPermissions,
  type RoleDefinition,
  collectionOfDocument,
  isSameRef,
  parseStoredLambda,
} from '../../../engine/catalog.ts';
import { fieldsOf, bodyOf } from '../../../engine/documents.ts';
import { eachElement } from '../../../query/collect-needs.ts';
import type { Reader } from '../../../store/reader.ts';
import { type CollectionId, type Ref } from '../../../values/value.ts';
import { NATIVE } from '../../../values/native-kinds.ts';
import type { Pulled } from '../../protocol/messages.ts';
import type { PulledDocument } from '../../protocol/identifiers.ts';
import { rolesInForce } from '../rights/caller-facts.ts';
import type { DeviceCaller } from '../rights/device-caller.ts';
import type { ResolvedRequest } from '../sets/requested-sets.ts';

type SchemaAnswer = NonNullable<Pulled['schema']>;

/** @throws Suspended */
export function schemaFor(
  reader: Reader,
  device: DeviceCaller,
  sets: readonly ResolvedRequest[],
  sha256: Sha256,
): SchemaAnswer {
  const refs = neededBy(device, sets);
  const documents = eachElement(refs, (ref) => documentOf(reader, device, ref)).flat();
  return { version: hexHash(JSON.stringify(documents), sha256), documents };
}

/** Collections, indexes, functions, roles, in this order. */
function neededBy(device: DeviceCaller, sets: readonly ResolvedRequest[]): readonly Ref[] {
  const { context, caller } = device;
  const schema = context.schema(context.database);
  const isAdmin = caller.role === 'admin';
  if (isAdmin || caller.role === 'server' || caller.role === 'server-readonly') {
    const kinds = ['collections', 'indexes', 'functions'] as const;
    const shared = kinds.flatMap((kind) => schema.all(kind).map(({ ref }) => ref));
    return isAdmin ? [...shared, ...schema.all('roles').map(({ ref }) => ref)] : shared;
  }
  const roles = rolesInForce(device);
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

/** Ids of the schema objects of one kind on which roles grant privileges. */
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
  sets: readonly ResolvedRequest[],
): ReadonlySet<number> =>
  new Set([
    ...granted(context, roles, NATIVE.indexes),
    ...sets.flatMap(({ parts }) => parts.flatMap(({ index }) => index?.id ?? [])),
  ]);

function collectionsOf(
  context: EngineContext,
  roles: readonly RoleDefinition[],
  sets: readonly ResolvedRequest[],
  indexes: ReadonlySet<number>,
): ReadonlySet<CollectionId> {
  const schema = context.schema(context.database);
  const needed = new Set(granted(context, roles, NATIVE.collections));
  for (const { part } of sets.flatMap(({ parts }) => parts))
    if (part.kind !== 'index') needed.add(part.collection);
  // For an index over all collections, not every collection is needed.
  for (const index of schema.all('indexes')) {
    if (!indexes.has(index.id)) continue;
    for (const { collections } of index.sources)
      if (collections !== 'all') for (const id of collections) needed.add(id);
  }
  const { identity } = context.caller;
  if (identity) needed.add(identity.collection);
  for (const { id, permissions } of schema.all('collections'))
    if (grantsAny(permissions, identity)) needed.add(id);
  return needed;
}

function mayCall(
  context: EngineContext,
  roles: readonly RoleDefinition[],
  { ref, permissions }: FunctionDefinition,
): boolean {
  if (grantsAny(permissions, context.caller.identity)) return true;
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

/** Whether legacy permissions grant the identity any access. */
const grantsAny = (
  permissions: LegacyPermissions | undefined,
  identity: Ref | undefined,
): boolean =>
  [...(permissions?.values() ?? [])].some(
    (guest) =>
      guest === 'public' ||
      (identity !== undefined &&
        (isSameRef(guest, identity) || isSameRef(guest, collectionOfDocument(identity)))),
  );

function documentOf(reader: Reader, device: DeviceCaller, ref: Ref): readonly PulledDocument[] {
  const key = documentKey(ref.database, ref.collection, ref.id);
  const row = reader.row({ space: 'documents', key });
  if (!row) return [];
  const version = { ...unpackVersion(String(row.value)), added: undefined };
  const sent =
    ref.collection === NATIVE.functions ? functionForDevice(device, ref, version) : version;
  return [[ref.collection, String(ref.id), packVersion(sent)]];
}

/** A function with a role of its own runs only at the hub. Except for admins, its body is replaced by one that aborts. */
function functionForDevice(
  { context, caller }: DeviceCaller,
  ref: Ref,
  version: StoredVersion,
): StoredVersion {
  const fields = fieldsOf(context, ref, version);
  if (caller.role === 'admin' || !fields.has('role')) return version;
  const body = parseStoredLambda('"lambda":"_","expr":{"abort":"hub only"}', '4');
  return { ...version, ...bodyOf(new Map([...fields, ['body', body]]), ref.database) };
}
