/**
 * One password attempt. It always takes the same work, and is counted for the account that it targets. Spec: auth 2.1;
 * docs/decisions/0007-passwords.md.
 */
import { encodeBase64Url } from '../../codec/base64.ts';
import { utf8Bytes } from '../../codec/utf8.ts';
import { storedText } from '../../codec/stored.ts';
import type { Ref, SetValue } from '../../values/value.ts';
import type { EngineContext } from '../context/context.ts';
import { normalised, passwordFault } from './passwords.ts';

export interface PasswordTarget {
  /** The target as the query denotes it. */
  readonly target: Ref | SetValue;
  /** The document that the target resolves to. */
  readonly instance: Ref | undefined;
}

/**
 * Whether the password matches the hash.
 * @param hash undefined if there is no password; the result is then false
 * @throws Suspended, Refusal `too many requests`
 */
export function comparePassword(
  context: EngineContext,
  passwordTarget: PasswordTarget,
  password: string | undefined,
  hash: string | undefined,
): boolean {
  const attempt = attemptOf(context, passwordTarget);
  const text = password === undefined ? undefined : normalised(password);
  // Such a text was never accepted as a password, and bcrypt would compare only a part of it.
  const isPossible = text !== undefined && passwordFault(text) === undefined;
  if (!isPossible) return context.inputs.verify('', undefined, attempt);
  return context.inputs.verify(text, hash, attempt);
}

/** Names under which the attempt is counted. They are stored, so they are hashed: terms of sets can be names and addresses of people. */
function attemptOf({ inputs, database }: EngineContext, { target, instance }: PasswordTarget) {
  const nameOf = (text: string): string => encodeBase64Url(inputs.sha256(utf8Bytes(text)));
  const tried = nameOf(`${database} ${storedText(target)}`);
  if (!instance) return { target: tried, account: target.kind === 'ref' ? tried : nameOf(tried) };
  return { target: tried, account: nameOf(`${database} ${storedText(instance)}`) };
}
