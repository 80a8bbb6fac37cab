/** Decides which logins unlock a database. */
import { tryParseJson, type Json } from '../../src/codec/json.ts';
import type { Credential } from '../../src/engine/host.ts';
import type { Engine } from '../../src/engine/engine.ts';
import type { Refusal } from '../../src/errors.ts';
import { refusalBody } from '../../src/engine/session.ts';
import { errorOf } from '../../src/http/answer-query.ts';
import type { UnlockCall, UnlockReply } from '../../src/host/open.ts';

export interface LoginHost {
  readonly engine: Pick<Engine, 'authenticate' | 'query'>;
  readonly rootSecret: string;
  /** Whether the login belongs to the owner of this copy of a hub's database. Undefined: the database is not a copy. */
  readonly isLoginOfCopy: (call: UnlockCall) => Promise<boolean | undefined>;
}

/** The reply has the form of a query's response: the secret that unlocks the database, or the errors. */
export async function tryLogin(
  { engine, rootSecret, isLoginOfCopy }: LoginHost,
  call: UnlockCall,
): Promise<UnlockReply> {
  if (!('secret' in call) && !isPlainUser(call.user)) {
    return refused(400, 'bad request', NOT_PLAIN);
  }
  const isOwner = await isLoginOfCopy(call);
  if (isOwner) return accepted('secret' in call ? call.secret : undefined);
  if ('secret' in call) return trySecret(engine, call.secret);
  // A copy of a hub's database contains no passwords.
  if (isOwner === false) return refused(400, 'authentication failed', WRONG);
  const params = JSON.stringify({ object: { password: call.password } });
  const answer = await engine.query({
    secret: rootSecret,
    query: `{"login":${call.user},"params":${params}}`,
    apiVersion: '4',
    allows: 'write',
  });
  const { status, body } = answer;
  if (status >= 300)
    return errorOf(answer).code === 'invalid ref'
      ? refused(400, 'authentication failed', NO_USERS)
      : { status, body };
  const { resource } = JSON.parse(body) as { readonly resource: { readonly secret: string } };
  return accepted(resource.secret);
}

const WRONG = 'The password is wrong, or this copy belongs to another user.';
const NO_USERS =
  'The collection or index of `user` does not exist here: check its name. A database that was locked before it had users cannot be unlocked, only deleted: `signOut({ forget: true })`.';
const NOT_PLAIN =
  'The `user` who unlocks a database must be a ref, or match() of an index with strings and numbers as terms.';

async function trySecret(
  engine: Pick<Engine, 'authenticate'>,
  secret: string,
): Promise<UnlockReply> {
  const credential = await engine.authenticate(secret);
  return credential && mayUnlock(credential)
    ? accepted(secret)
    : refused(401, 'unauthorized', 'This secret cannot unlock the database.');
}

/**
 * Whether a credential unlocks the database: a token, or a key with the role admin or server. Client keys and keys with other roles do
 * not, because they are part of the app, which anyone can read. A secret of a child database does not unlock its parent.
 */
const mayUnlock = ({ label, role, database }: Credential): boolean =>
  database.length === 0 &&
  (label.kind === 'token' || (label.kind === 'key' && (role === 'admin' || role === 'server')));

/**
 * The `user` expression is evaluated with all permissions before anyone has logged in. So it may only name a document: these forms
 * compute nothing.
 */
const PLAIN_FORMS: ReadonlySet<string> = new Set([
  'ref',
  'id',
  '@ref',
  'collection',
  'match',
  'index',
  'terms',
  'casefold',
  'lowercase',
]);

function isPlainUser(wire: string): boolean {
  // Parsed as the engine does: of duplicate members, the first is used.
  const json = tryParseJson(wire);
  return json !== undefined && isPlain(json);
}

function isPlain(json: Json): boolean {
  if (Array.isArray(json)) return json.every(isPlain);
  if (!(json instanceof Map)) return true;
  return [...json].every(([form, value]) => PLAIN_FORMS.has(form) && isPlain(value));
}

const accepted = (secret: string | undefined): UnlockReply => ({
  status: 200,
  body: JSON.stringify({ resource: secret === undefined ? {} : { secret } }),
});

function refused(
  status: number,
  code: Refusal['code'] | 'authentication failed',
  description: string,
): UnlockReply {
  return { status, body: refusalBody(code, description) };
}
