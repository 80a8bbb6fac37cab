/**
 * The caller of a token of an identity provider (JWT). The token names a database, whose access providers decide about it. Spec: auth 2.4.
 */
import { isArray, isKind, isObject } from '../../values/value.ts';
import type { DatabaseId, Lambda, ObjectValue, Ref, Value } from '../../values/value.ts';
import { readAccessToken, type AccessToken } from './access-token.ts';
import type { AccessGrant, Caller } from '../context/caller.ts';
import type { AuthenticationContext } from '../context/context.ts';
import type { EngineContext } from '../context/context.ts';
import {
  databaseByGlobalId,
  databaseById,
  databasePath,
  ROOT_DATABASE,
} from '../catalog/databases.ts';

/** Prefix of the audience of a database's tokens; the global id follows. */
const AUDIENCE_PREFIX = 'https://db.fauna.com/db/';

/** The audience of tokens for the query's database. Undefined if the database cannot have access providers. */
export function audienceOf({ reader, database, inputs }: EngineContext): string | undefined {
  if (database === ROOT_DATABASE) return inputs.rootAudience;
  const found = databaseById(reader, database);
  return found && AUDIENCE_PREFIX + found.globalId;
}

/**
 * Undefined when the token is not valid. Which of its roles apply is decided in `caller-roles.ts`.
 * @throws Suspended
 */
export function accessCaller(context: AuthenticationContext, text: string): Caller | undefined {
  const token = readAccessToken(text, context.snapshot);
  const database = token && databaseOfAudience(context, token);
  const path = database === undefined ? undefined : databasePath(context.reader, database);
  if (!token || database === undefined || !path) return undefined;
  const providers = context.schema(database).all('access_providers');
  const provider = providers.find(({ fields }) => fields.get('issuer') === token.issuer);
  const jwksUri = provider?.fields.get('jwks_uri');
  if (!provider || typeof jwksUri !== 'string') return undefined;
  if (!context.isSigned(text, jwksUri)) return undefined;
  return {
    label: { kind: 'provider', id: String(provider.ref.id) },
    database,
    path: path.map((each) => each.name),
    role: 'roles',
    ...grantOf(provider.fields, token),
    document: undefined,
    identity: undefined,
    isToken: false,
  };
}

/** The database that the audience names. Undefined if the audience names none, or several. */
function databaseOfAudience(
  { reader, rootAudience }: AuthenticationContext,
  { audiences }: AccessToken,
): DatabaseId | undefined {
  const ours = audiences.filter(
    (each) => each.startsWith(AUDIENCE_PREFIX) || each === rootAudience,
  );
  const [only] = ours;
  if (only === undefined || ours.length > 1) return undefined;
  if (only === rootAudience) return ROOT_DATABASE;
  return databaseByGlobalId(reader, only.slice(AUDIENCE_PREFIX.length))?.id;
}

function grantOf(
  provider: ObjectValue,
  { claims, until }: AccessToken,
): { readonly roles: readonly Ref[]; readonly grant: AccessGrant } {
  const roles: Ref[] = [];
  const conditional: { readonly role: Ref; readonly predicate: Lambda }[] = [];
  const given: Value = provider.get('roles') ?? [];
  for (const each of isArray(given) ? given : [given]) {
    const role = isObject(each) ? each.get('role') : each;
    const predicate = isObject(each) ? each.get('predicate') : undefined;
    if (!isKind(role, 'ref')) continue;
    if (isKind(predicate, 'lambda')) conditional.push({ role, predicate });
    else if (predicate === undefined) roles.push(role);
  }
  return { roles, grant: { claims, until, conditional } };
}
