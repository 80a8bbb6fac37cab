/**
 * What the hub needs to know of a copy at its next pull, carried by the copy itself: stored at the hub by device id, it would be right for
 * only one of two copies that share an id, and lost for one that takes a new id. A token widens no rights: a forged one causes more
 * comparisons, or skips some that are for the good of the device.
 */
import { encodeBase64Url } from '../../../codec/base64.ts';
import { hexOfBytes } from '../../../codec/hex.ts';
import { utf8Bytes } from '../../../codec/utf8.ts';
import type { Micros } from '../../../values/value.ts';

export interface CopyToken {
  /** When the answer was made that it came with. */
  readonly at: Micros;
  /** When a comparison was last due because rights depend on time. */
  readonly timed: Micros;
  /** Digest of the roles that were in force. */
  readonly roles: string;
}

export const NONCE_BYTES = 6;

/** @param nonce makes each token different */
export const tokenText = ({ at, timed, roles }: CopyToken, nonce: Uint8Array): string =>
  [encodeBase64Url(nonce), at.toString(36), timed.toString(36), roles].join('~');

const TOKEN = /^[\w-]+([.~])([\da-z]+)\1([\da-z]+)\1([\da-f]+)$/;

/** Undefined: none was given, or it is none of ours. */
export function readToken(text: string | undefined): CopyToken | undefined {
  const [, separator, at, timed, roles] = TOKEN.exec(text ?? '') ?? [];
  if (!at || !timed || !roles) return undefined;
  // Hubs of earlier builds wrote decimal digits between dots, and a longer digest.
  const radix = separator === '~' ? 36 : 10;
  return {
    at: parseInt(at, radix),
    timed: parseInt(timed, radix),
    roles: roles.slice(0, ROLES_DIGITS),
  };
}

/** For another copy at the same time, of whose rights nothing has changed. */
export function renewedToken(
  token: string | undefined,
  other: string | undefined,
  nonce: Uint8Array,
): string | undefined {
  const known = readToken(token);
  const at = readToken(other)?.at;
  return known && at !== undefined ? tokenText({ ...known, at }, nonce) : undefined;
}

const ROLES_DIGITS = 8;

export const digestOfRoles = (
  roles: readonly string[],
  sha256: (bytes: Uint8Array) => Uint8Array,
): string => hexOfBytes(sha256(utf8Bytes(roles.join(' ')))).slice(0, ROLES_DIGITS);
