/** Identity functions: login, logout, passwords, and the document behind a secret. Spec: auth 2.2, functions 1.6. */
import { refOfKey } from '../../codec/key.ts';
import { described, fail, QueryFailure, type Step } from '../../errors.ts';
import { invalidType, loginFailed } from '../../fault-texts.ts';
import { positionOf, type QueryPath } from '../../query/query-path.ts';
import type { Logins, ReadTime } from '../../query/session.ts';
import { entriesIn } from '../../store/scan.ts';
import { type Ref, isKind } from '../../values/value.ts';
import type { Document, ObjectValue, SetValue, Value } from '../../values/value.ts';
import { secretDocument } from '../access/authenticate.ts';
import type { EngineContext } from '../context/context.ts';
import { IsolatedMeters } from '../context/meters.ts';
import { findCredentials, passwordHashOf } from '../access/credentials.ts';
import { documentOf, liveVersion } from '../documents/documents.ts';
import { NATIVE_INDEX, nativeRange } from '../catalog/native-indexes.ts';
import { failValidation, requireReadableRefs } from '../writes/params.ts';
import { firstRef } from '../sets/pages.ts';
import { comparePassword, type PasswordTarget } from '../access/password-attempt.ts';
import { parseSecret } from '../access/secrets.ts';
import { plainObject } from '../documents/stored-values.ts';
import { typeName } from '../../values/type-name.ts';
import { deleteDocument } from '../documents/write-version.ts';
import { requirePresent } from '../writes/write-checks.ts';
import { createIn } from '../writes/writes.ts';
import { NATIVE } from '../../values/native-kinds.ts';
import { isNativeCollectionRef } from '../../values/native-refs.ts';

type Target = Ref | SetValue;

/** The identity functions for the caller of one query. */
export class CallerIdentity implements Logins {
  private readonly context: EngineContext;

  constructor(context: EngineContext) {
    this.context = context;
  }

  identify(target: Target, password: string, path: QueryPath): boolean {
    const instance = instanceOf(this.context, target, path, 'identify');
    return isPassword(this.context, { target, instance }, password);
  }

  login(target: Target, params: ObjectValue, path: QueryPath, time: ReadTime): Document {
    const { context } = this;
    const position = positionOf(path);
    requirePresent(time, position);
    requireReadableRefs(context, params, path);
    const { password, fields } = loginParams(context, params, position);
    const found = instanceOf(context, target, path, 'login');
    const instance = found?.database === context.database ? found : undefined;
    // The password is compared even if there is no account: the response time of a refusal must not reveal whether an account exists.
    const isRight = isPassword(context, { target, instance }, password);
    if (!instance || !isRight) return failLogin(position);
    const token = new Map(fields).set('instance', instance);
    return createIn(context, NATIVE.tokens, undefined, token, position);
  }

  /** Ends the token in use, or all tokens of the identity. Returns false when there is no token to end. */
  logout(all: boolean): boolean {
    const { context } = this;
    const { identity, isToken, document } = context.caller;
    if (all ? !identity : !isToken) return false;
    context.inputs.refuseLogout?.();
    if (all && identity)
      for (const token of tokensOf(context, identity)) deleteDocument(context, token);
    else if (document && liveVersion(context, document, 'present'))
      deleteDocument(context, document);
    return true;
  }

  hasIdentity(): boolean {
    return identityOf(this.context) !== undefined;
  }

  identity(path: QueryPath): Value {
    const identity = identityOf(this.context);
    if (identity !== undefined) return identity;
    const text = 'Authentication does not contain an identity';
    return fail('missing identity', positionOf(path), text);
  }

  /** False for a key that is stored in another database: its document cannot be shown here. */
  hasToken(): boolean {
    const { caller, database } = this.context;
    return caller.grant !== undefined || caller.document?.database === database;
  }

  token(path: QueryPath): Value {
    const { document, grant } = this.context.caller;
    if (grant) return grant.claims;
    if (document && this.hasToken()) return document;
    return fail('invalid token', positionOf(path), 'Token metadata is not accessible.');
  }

  /** The key or token that a secret belongs to. Error texts do not contain the secret. */
  keyFromSecret(text: string, path: QueryPath): Document {
    const { context } = this;
    const secret = parseSecret(text);
    const found = secret && secretDocument({ ...context, sha256: context.inputs.sha256 }, secret);
    const live =
      found && context.permissions.may({ action: 'read', ref: found.ref })
        ? liveVersion(context, found.ref, 'present')
        : undefined;
    if (live) return documentOf(context, live.ref, live.version);
    return fail('instance not found', positionOf(path), 'No key found for that secret.', {
      status: 400,
    });
  }
}

/** The document itself, or the first element of a set. Reads at present, also inside an outer `at`. */
const instanceOf = (
  context: EngineContext,
  target: Target,
  path: QueryPath,
  key: string,
): Ref | undefined =>
  isKind(target, 'ref') && !isNativeCollectionRef(target)
    ? target
    : firstRef(withWholeMatches(context, target), target, 'present', path, key);

/**
 * Callers that may read an index may log in through it although they may not read the user's document, because nothing of the document is
 * shown. This does not apply where the match is part of another set: which element comes first would reveal hidden elements, and a lambda
 * would receive their values. Spec: auth 3.7.
 */
function withWholeMatches(context: EngineContext, target: Target): EngineContext {
  if (!isKind(target, 'set') || target.op !== 'match') return context;
  const { meters, permissions } = context;
  // The same is counted whether or not a user is found: metrics must not reveal whether the user exists.
  meters.countRead('the set of a login', 0);
  return {
    ...context,
    meters: new IsolatedMeters(meters.budget, meters.work),
    permissions: {
      may: (request) =>
        permissions.may(
          request.action === 'read_all_of_index' ? { ...request, action: 'read_index' } : request,
        ),
    },
  };
}

/**
 * Whether the password is that of the instance. Takes the same time when the instance has no password or does not exist.
 * @throws Suspended, Refusal `too many requests`
 */
function isPassword(
  context: EngineContext,
  passwordTarget: PasswordTarget,
  password: string | undefined,
): boolean {
  const { instance } = passwordTarget;
  const found = instance && findCredentials(context, instance);
  // The same is counted for every caller: metrics must not reveal whether there are credentials.
  context.meters.countRead(`credentials ${instance?.collection} ${instance?.id}`, 0);
  return comparePassword(
    context,
    passwordTarget,
    password,
    found && passwordHashOf(context, found),
  );
}

function loginParams(
  context: EngineContext,
  params: ObjectValue,
  position: readonly Step[],
): { readonly password: string | undefined; readonly fields: ObjectValue } {
  const fields = new Map(plainObject(params, context.commitTs));
  const password = fields.get('password') ?? undefined;
  if (password !== undefined && typeof password !== 'string') {
    const text = described(invalidType(typeName(password), 'String'));
    return failValidation([{ field: ['password'], code: 'invalid type', ...text }], position);
  }
  fields.delete('secret');
  return { password, fields };
}

function failLogin(position: readonly Step[]): never {
  throw new QueryFailure([loginFailed(position)]);
}

const TOKENS_AT_ONCE = 256;

function tokensOf({ reader }: EngineContext, identity: Ref): readonly Ref[] {
  const index = NATIVE_INDEX.tokensByInstance;
  const range = nativeRange(index, identity.database, identity, TOKENS_AT_ONCE);
  return Array.from(entriesIn(reader, range, 4), ({ key }) => refOfKey(key));
}

/** The document that the credential acts as, or, for a token of an identity provider, the user that the token names (`sub`). */
const identityOf = ({ caller }: EngineContext): Value | undefined =>
  caller.identity ?? caller.grant?.claims.get('sub') ?? undefined;

/** Resolves `{"@ref":{"id":"self",…}}`: the caller's token, credentials or identity document. */
export function selfIn(context: EngineContext, collection: Ref): Ref | undefined {
  const { caller, database } = context;
  const { identity } = caller;
  if (collection.database !== database || collection.collection !== NATIVE.collections) {
    return undefined;
  }
  switch (Number(collection.id)) {
    case NATIVE.tokens:
      return caller.isToken ? caller.document : undefined;
    case NATIVE.credentials:
      return identity && findCredentials(context, identity)?.ref;
    case identity?.collection:
      return identity;
    default:
      return undefined;
  }
}
