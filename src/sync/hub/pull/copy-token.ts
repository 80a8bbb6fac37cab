/**
 * What the hub must know of a copy when it asks again, told by the copy itself: kept here by the id of the device, it would be true of
 * only one of two copies that have the same, and of none that has taken another. It widens nothing: a false one brings more comparisons,
 * or spares the device some that are for its own good.
 */
import { hexOfBytes } from '../../../codec/hex.ts';
import { utf8Bytes } from '../../../codec/utf8.ts';
import type { Micros } from '../../../values/value.ts';

export interface CopyToken {
  /** When the answer was made that it came with. */
  readonly at: Micros;
  /** When rights that go by the clock were last found to be due. */
  readonly timed: Micros;
  /** Of the roles that were in force. */
  readonly roles: string;
}

/** @param nonce no two answers have the same token */
export const tokenText = ({ at, timed, roles }: CopyToken, nonce: Uint8Array): string =>
  `${hexOfBytes(nonce)}.${at}.${timed}.${roles}`;

/** Undefined: none was given, or it is not one of ours. */
export function readToken(text: string | undefined): CopyToken | undefined {
  const found = /^[\da-f]+\.(\d+)\.(\d+)\.([\da-f]+)$/.exec(text ?? '');
  if (!found) return undefined;
  const [, at, timed, roles = ''] = found;
  return { at: Number(at), timed: Number(timed), roles };
}

const ROLES_DIGITS = 32;

export const digestOfRoles = (
  roles: readonly string[],
  sha256: (bytes: Uint8Array) => Uint8Array,
): string => hexOfBytes(sha256(utf8Bytes(roles.join(' ')))).slice(0, ROLES_DIGITS);
