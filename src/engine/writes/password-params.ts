/** Reads the passwords that params set. Spec: auth 2.1. */
import { isObject } from '../../values/value.ts';
import type { ObjectValue, Value } from '../../values/value.ts';
import { isPasswordHash, normalised, passwordFault } from '../access/passwords.ts';
import { refuse, refuseType, type Draft } from './draft.ts';
import { refuseMisspelt } from './misspelt.ts';

export const setsAnyPassword = ({ context }: Draft): boolean =>
  context.permissions.may({ action: 'set_any_password' });

export type PasswordChange = { readonly password: string } | { readonly hash: string };

/** The password or password hash in the params, if there is one. An invalid one is reported as a failure. */
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

/** @throws Suspended until the host has computed the hash */
export function setPassword(
  { context, fields }: Pick<Draft, 'context' | 'fields'>,
  change: PasswordChange,
): void {
  const hash = 'hash' in change ? change.hash : context.inputs.hash(change.password);
  fields.set('hashed_password', hash);
}

/** The change that the `credentials` field of a user document's params asks for, if any. */
export function credentialsGiven(draft: Draft): PasswordChange | undefined {
  const given = draft.params.get('credentials') ?? undefined;
  if (given === undefined) return undefined;
  if (!isObject(given)) {
    refuseType(draft, ['credentials'], given, 'Map');
    return undefined;
  }
  refuseMisspelt(draft, given, ['password', 'hashed_password'], ['credentials']);
  return passwordChange(draft, given, ['credentials'], setsAnyPassword(draft));
}
