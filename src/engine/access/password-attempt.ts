/** One login attempt: always the same work, counted for the account it targets. Spec: auth 2.1; docs/decisions/0007-passwords.md. */
import { encodeBase64Url } from '../../codec/base64.ts';
import { utf8Bytes } from '../../codec/utf8.ts';
import { storedText } from '../../codec/stored.ts';
import type { Ref, SetValue } from '../../values/value.ts';
import type { EngineContext } from '../context/context.ts';
import { normalised, passwordFault } from './passwords.ts';

export interface PasswordTarget {
  /** As the query put it. */
  readonly target: Ref | SetValue;
  /** The document that this comes to. */
  readonly instance: Ref | undefined;
}

/**
 * @param hash the password behind it is the right one; undefined: none is
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
  // Such a text was never set; bcrypt would compare only a part of it.
  const isPossible = text !== undefined && passwordFault(text) === undefined;
  if (!isPossible) return context.inputs.verify('', undefined, attempt);
  return context.inputs.verify(text, hash, attempt);
}

/** Hashes, because they are stored: terms of sets are names and addresses of people. */
function attemptOf({ inputs, database }: EngineContext, { target, instance }: PasswordTarget) {
  const nameOf = (text: string): string => encodeBase64Url(inputs.sha256(utf8Bytes(text)));
  const tried = nameOf(`${database} ${storedText(target)}`);
  if (!instance) return { target: tried, account: target.kind === 'ref' ? tried : nameOf(tried) };
  return { target: tried, account: nameOf(`${database} ${storedText(instance)}`) };
}
