/**
 * What the hub must know of a copy at its next pull, stored by the copy itself. If the hub stored it by device id, it would be right for
 * only one of two copies with the same id, and lost if a copy takes a new id. A token does not extend rights: a forged one only causes more
 * comparisons, or skips some that would benefit the device itself.
 */
import { encodeBase64Url } from '../../../codec/base64.ts';
import { hexHash, type Sha256 } from '../../../codec/sha256.ts';
import type { Micros } from '../../../values/value.ts';

export interface CopyToken {
  /** Snapshot of the answer that contained the token. */
  readonly at: Micros;
  /** When a comparison was last due because rights depend on time. */
  readonly timed: Micros;
  /** Digest of the roles that applied. */
  readonly roles: string;
}

export const NONCE_BYTES = 6;

/** @param nonce makes each token unique */
export const tokenText = ({ at, timed, roles }: CopyToken, nonce: Uint8Array): string =>
  [encodeBase64Url(nonce), at.toString(36), timed.toString(36), roles].join('~');

const TOKEN = /^[\w-]+~([\da-z]+)~([\da-z]+)~([\da-f]+)$/;

/** Undefined if there is no token, or it is not in the format of a hub. */
export function readToken(text: string | undefined): CopyToken | undefined {
  const [, at, timed, roles] = TOKEN.exec(text ?? '') ?? [];
  return at && timed && roles
    ? { at: parseInt(at, 36), timed: parseInt(timed, 36), roles }
    : undefined;
}

/** The token for another copy with the same snapshot, whose rights have not changed. */
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

export const digestOfRoles = (roles: readonly string[], sha256: Sha256): string =>
  hexHash(roles.join(' '), sha256).slice(0, ROLES_DIGITS);
