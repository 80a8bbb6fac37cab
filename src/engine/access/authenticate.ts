/** Authentication: finds the caller that a secret belongs to. Spec: auth 1, 2.3. */
import { refOfKey } from '../../codec/key.ts';
import { unreachable } from '../../errors.ts';
import type { Row } from '../../store/port.ts';
import type { Reader } from '../../store/reader.ts';
import { entriesIn } from '../../store/scan.ts';
import { Ref, integer, isArray, isKind } from '../../values/value.ts';
import type { DatabaseId, ObjectValue, Value } from '../../values/value.ts';
import { accessCaller } from './access-caller.ts';
import { looksLikeAccessToken } from './access-token.ts';
import type { Credential, EngineOptions } from '../context/host.ts';
import { isBuiltinRole, rootCaller, type Caller } from '../context/caller.ts';
import type { AuthenticationContext, StoreContext } from '../context/context.ts';
import {
  ROOT_DATABASE,
  databaseById,
  databaseByName,
  databaseIdOf,
  databasePath,
  namedSince,
} from '../catalog/databases.ts';
import { fieldsOf, isExpired, liveVersion, versionIn } from '../documents/documents.ts';
import type { HostAnswers } from '../transactions/host-answers.ts';
import { NATIVE_INDEX, nativeRange } from '../catalog/native-indexes.ts';
import { parseScope, type Scope } from './scopes.ts';
import { globalIdNumber, isRootSecret, isSameText, parseSecret, secretHash } from './secrets.ts';
import type { Secret } from './secrets.ts';

export type AuthenticationHost = Pick<
  EngineOptions,
  'sha256' | 'rootSecret' | 'accessTokens' | 'ownDocument'
>;

/** All members are listed because this object is created for every query: spreading another object into it takes longer than using it. */
export const authenticationContext = (
  { reader, snapshot, schema }: StoreContext,
  { sha256, rootSecret, accessTokens, ownDocument }: AuthenticationHost,
  answers: Pick<HostAnswers, 'isSigned'>,
): AuthenticationContext => ({
  reader,
  snapshot,
  schema,
  sha256,
  rootSecret,
  rootAudience: accessTokens?.rootAudience,
  ownDocument,
  isSigned: (token: string, jwksUri: string) => answers.isSigned(token, jwksUri),
});

/** Undefined when the secret, including its suffix, is not valid. @throws Suspended */
export function authenticate(context: AuthenticationContext, text: string): Caller | undefined {
  const colon = text.indexOf(':');
  const secret = colon < 0 ? text : text.slice(0, colon);
  const suffix = colon < 0 ? '' : text.slice(colon + 1);
  if (isRootSecret(secret, context.rootSecret, context.sha256)) {
    return scoped(context, ROOT_CALLER, suffix);
  }
  if (looksLikeAccessToken(text)) return accessCaller(context, text);
  const parsed = parseSecret(secret);
  if (!parsed) return undefined;
  const found = secretDocument(context, parsed);
  if (!found) return undefined;
  if (parsed.kind === 'token') return tokenCaller(context, found);
  const caller = keyCaller(context, found);
  return caller && scoped(context, caller, suffix);
}

const ROOT_CALLER = rootCaller(ROOT_DATABASE);

export interface SecretDocument {
  readonly ref: Ref;
  readonly fields: ObjectValue;
}

type SecretContext = StoreContext & Pick<AuthenticationContext, 'sha256'>;

/** Entries read at once. Different databases have keys or tokens with the same id only if somebody chose the id. */
const SAME_ID_AT_ONCE = 16;

/** The live key or token that a secret belongs to. If several have the id, the one whose hash matches. */
export function secretDocument(context: SecretContext, secret: Secret): SecretDocument | undefined {
  const index = secret.kind === 'key' ? NATIVE_INDEX.keys : NATIVE_INDEX.tokens;
  const range = nativeRange(index, ROOT_DATABASE, integer(secret.id), SAME_ID_AT_ONCE);
  for (const { row } of entriesIn(context.reader, range, 4)) {
    const document = row && documentOfSecret(context, row, secret);
    if (document) return document;
  }
  return undefined;
}

function documentOfSecret(
  context: SecretContext,
  row: Row,
  secret: Secret,
): SecretDocument | undefined {
  const version = versionIn(row);
  if (isExpired(version, context.snapshot)) return undefined;
  const ref = refOfKey(row.key);
  const fields = fieldsOf(context, ref, version);
  const hash = fields.get('hashed_secret');
  if (typeof hash !== 'string') return undefined;
  if (!isSameText(secretHash(secret.random, context.sha256), hash)) return undefined;
  if (secret.kind === 'token' && globalIdOf(context, ref.database) !== secret.databaseGlobalId) {
    return undefined;
  }
  return { ref, fields };
}

/** The number of a database's global id. Zero for the root. */
export function globalIdOf(context: Pick<StoreContext, 'reader'>, database: DatabaseId): bigint {
  const path = databasePath(context.reader, database);
  return globalIdNumber(path?.at(-1)?.globalId ?? '');
}

function keyCaller(
  context: AuthenticationContext,
  { ref, fields }: SecretDocument,
): Caller | undefined {
  const target = fields.get('database');
  const database = isKind(target, 'ref') ? databaseIdOf(target) : ref.database;
  const path = databasePath(context.reader, database);
  if (!path) return undefined;
  const role = fields.get('role');
  return {
    label: { kind: 'key', id: String(ref.id) },
    database,
    path: path.map((each) => each.name),
    role: isBuiltinRole(role) ? role : 'roles',
    roles: isBuiltinRole(role) ? [] : rolesOf(context, database, role),
    document: ref,
    identity: undefined,
    isToken: false,
  };
}

/** Resolves names and refs of roles. Those that are not roles of `database` are left out. */
function rolesOf(
  context: StoreContext,
  database: DatabaseId,
  role: Value | undefined,
): readonly Ref[] {
  const roles: Ref[] = [];
  const given = role === undefined ? [] : isArray(role) ? role : [role];
  for (const each of given) {
    const schema = context.schema(database);
    const found =
      typeof each === 'string'
        ? schema.byName('roles', each)
        : isKind(each, 'ref') && each.database === database
          ? schema.byId('roles', each.id)
          : undefined;
    if (found) roles.push(found.ref);
  }
  return roles;
}

function tokenCaller(
  context: AuthenticationContext,
  { ref, fields }: SecretDocument,
): Caller | undefined {
  const identity = fields.get('instance');
  const path = databasePath(context.reader, ref.database);
  if (!path || !isKind(identity, 'ref')) return undefined;
  if (!liveVersion(context, identity, 'present')) return undefined;
  return {
    label: { kind: 'token', id: String(ref.id) },
    database: ref.database,
    path: path.map((each) => each.name),
    role: 'roles',
    roles: [],
    document: ref,
    identity,
    isToken: true,
    readsOwnDocument: readsOwnDocument(context),
  };
}

const readsOwnDocument = ({ ownDocument }: AuthenticationContext): boolean =>
  ownDocument !== 'by role';

/** Applies the scope of a key, which selects another role, database or document. Spec: auth 1.4. */
function scoped(
  context: AuthenticationContext,
  caller: Caller,
  suffix: string,
): Caller | undefined {
  const scope = parseScope(suffix);
  if (scope === 'none') return caller;
  if (scope === 'malformed') return undefined;
  const mayScope =
    caller.role === 'admin' ||
    (caller.role === 'server' && scope.kind === 'document' && scope.path.length === 0);
  if (!mayScope) return undefined;
  let database = caller.database;
  for (const name of scope.path) {
    const child = databaseByName(context.reader, database, name);
    if (!child) return undefined;
    database = child.id;
  }
  return inScope(context, { ...caller, database, path: [...caller.path, ...scope.path] }, scope);
}

function inScope(context: AuthenticationContext, caller: Caller, scope: Scope): Caller | undefined {
  const schema = context.schema(caller.database);
  switch (scope.kind) {
    case 'builtin':
      return { ...caller, role: scope.role };
    case 'role': {
      const role = schema.byName('roles', scope.name);
      return role && { ...caller, role: 'roles', roles: [role.ref] };
    }
    case 'document': {
      const collection = schema.byName('collections', scope.collection);
      if (!collection) return undefined;
      const identity = new Ref(caller.database, collection.id, scope.id);
      if (!liveVersion(context, identity, 'present')) return undefined;
      return { ...caller, role: 'roles', identity, readsOwnDocument: readsOwnDocument(context) };
    }
    default:
      return unreachable(scope);
  }
}

export const credentialOf = (
  reader: Reader,
  { label, role, identity, database, path }: Caller,
): Credential => ({
  label,
  role,
  identity,
  database: path,
  globalId: databaseById(reader, database)?.globalId ?? '',
  since: namedSince(reader, database),
});
