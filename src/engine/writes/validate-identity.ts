/** Keys and tokens, and the passwords that params set. Spec: auth 1.2, 2.1, 2.3. */
import { isKind, isObject } from '../../values/value.ts';
import type { DatabaseId, ObjectValue, Ref, Value } from '../../values/value.ts';
import { globalIdOf } from '../access/authenticate.ts';
import { databaseById, databaseMeant } from '../catalog/databases.ts';
import {
  checkData,
  checkTtl,
  isString,
  optional,
  refuse,
  refuseMissing,
  refuseReference,
  refuseType,
  type Draft,
  type Kind,
} from './draft.ts';
import { isPasswordHash, normalised, passwordFault } from '../access/passwords.ts';
import { SECRET_RANDOM_BYTES, parseSecret, secretHash, secretText } from '../access/secrets.ts';
import { checkPriority } from './validate-databases.ts';
import { checkKeyRole } from './check-role.ts';
import { NATIVE, isNative } from '../../values/native-kinds.ts';

export const KEY: Kind = {
  refusesMisspelt: true,
  accepts: ['name', 'role', 'database', 'priority', 'data', 'ttl'],
  order: ['name', 'role', 'database', 'priority', 'data', 'ttl', 'hashed_secret'],
  kept: ['hashed_secret'],
  check(draft) {
    const { context, fields, mode } = draft;
    optional(draft, 'name', 'String', isString);
    const target = checkDatabase(draft);
    const role = fields.get('role');
    if (role === undefined) refuseMissing(draft, ['role']);
    else checkKeyRole(draft, role, context.schema(target));
    checkPriority(draft);
    checkData(draft);
    checkTtl(draft);
    if (mode === 'insert') fields.delete('hashed_secret');
    else checkSecretGiven(draft);
    if (mode === 'create' && draft.failures.length === 0) giveSecret(draft, 'key');
  },
};

/** Where the key is to open: here, or in a direct child. */
function checkDatabase(draft: Draft): DatabaseId {
  const { context, fields } = draft;
  const given = fields.get('database');
  if (given === undefined) return context.database;
  if (!isKind(given, 'ref') || given.collection !== NATIVE.databases) {
    refuseType(draft, ['database'], given, 'Database Ref');
  } else if (databaseById(context.reader, databaseMeant(given))?.parent !== context.database) {
    refuseReference(draft, ['database']);
  } else return databaseMeant(given);
  return context.database;
}

/** A secret may be brought along if it is one for this very key. */
function checkSecretGiven(draft: Draft): void {
  const { params, ref, fields, context } = draft;
  const given = params.get('secret') ?? undefined;
  if (given === undefined) return;
  const secret = typeof given === 'string' ? parseSecret(given) : undefined;
  if (secret?.kind !== 'key' || secret.id !== ref.id) {
    refuse(draft, ['secret'], 'invalid secret', 'The secret is not one of this key.');
  } else if (!fields.has('hashed_secret')) {
    fields.set('hashed_secret', secretHash(secret.random, context.inputs.sha256));
    draft.extras.set('secret', given);
  }
}

function giveSecret(draft: Draft, kind: 'key' | 'token'): void {
  const { context, ref, fields, extras } = draft;
  if (fields.has('hashed_secret')) return;
  const random = context.inputs.randomBytes(SECRET_RANDOM_BYTES);
  fields.set('hashed_secret', secretHash(random, context.inputs.sha256));
  const text =
    kind === 'key'
      ? secretText({ kind, id: ref.id, random })
      : secretText({
          kind,
          id: ref.id,
          databaseGlobalId: globalIdOf(context, ref.database),
          random,
        });
  extras.set('secret', text);
}

export const TOKEN: Kind = {
  accepts: ['instance', 'data', 'ttl'],
  order: ['instance', 'data', 'ttl', 'hashed_secret'],
  kept: [],
  hidden: ['hashed_secret'],
  check(draft) {
    checkInstance(draft);
    checkData(draft);
    checkTtl(draft);
    if (draft.mode !== 'update' && draft.failures.length === 0) giveSecret(draft, 'token');
  },
};

export function checkInstance(draft: Draft): void {
  const instance = draft.fields.get('instance');
  if (instance === undefined) refuseMissing(draft, ['instance']);
  else if (!isKind(instance, 'ref') || isSchemaRef(instance)) {
    refuseType(draft, ['instance'], instance, 'Ref');
  }
}

/** Only documents can be identities. */
const isSchemaRef = ({ collection }: Ref): boolean => isNative(collection);

export const setsAnyPassword = ({ context }: Draft): boolean =>
  context.permissions.may({ action: 'set_any_password' });

export type PasswordChange = { readonly password: string } | { readonly hash: string };

/** The password in the params; refused when it cannot be one. */
export function passwordChange(
  draft: Draft,
  params: ObjectValue,
  field: readonly string[],
  isServer: boolean,
): PasswordChange | undefined {
  const password = params.get('password') ?? undefined;
  const hash = isServer ? (params.get('hashed_password') ?? undefined) : undefined;
  if (password !== undefined) {
    const text = checkText(draft, password, [...field, 'password']);
    if (text === undefined) return undefined;
    const normal = normalised(text);
    const reason = passwordFault(normal);
    if (reason === undefined) return { password: normal };
    refuse(draft, [...field, 'password'], 'invalid password', reason);
    return undefined;
  }
  if (hash === undefined) return undefined;
  const path = [...field, 'hashed_password'];
  const text = checkText(draft, hash, path);
  if (text === undefined) return undefined;
  if (isPasswordHash(text)) return { hash: text };
  refuse(draft, path, 'invalid password', 'A bcrypt hash is expected.');
  return undefined;
}

function checkText(draft: Draft, value: Value, field: readonly string[]): string | undefined {
  if (typeof value === 'string') return value;
  refuseType(draft, field, value, 'String');
  return undefined;
}

/** @throws Suspended for the hash */
export function setPassword(
  { context, fields }: Pick<Draft, 'context' | 'fields'>,
  change: PasswordChange,
): void {
  const hash = 'hash' in change ? change.hash : context.inputs.hash(change.password);
  fields.set('hashed_password', hash);
}

/** The `credentials` member of a user document's params: what it changes, if anything. */
export function credentialsGiven(draft: Draft): PasswordChange | undefined {
  const given = draft.params.get('credentials') ?? undefined;
  if (given === undefined) return undefined;
  if (!isObject(given)) {
    refuseType(draft, ['credentials'], given, 'Map');
    return undefined;
  }
  return passwordChange(draft, given, ['credentials'], setsAnyPassword(draft));
}
