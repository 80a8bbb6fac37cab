/** The text form of secrets, and the hashes that are stored instead. Spec: auth 1.1; decisions. */
import { decodeBase64, encodeBase64Url } from '../../codec/base64.ts';
import { utf8Bytes } from '../../codec/utf8.ts';
import type { Sha256 } from '../../codec/sha256.ts';

const KEY_MARK = [0x7e, 0x70] as const;
const TOKEN_MARK = [0x7e, 0x71] as const;
/** 160 random bits cannot be guessed, so a fast hash is sufficient. */
export const SECRET_RANDOM_BYTES = 20;

export type Secret = {
  readonly id: bigint;
  readonly random: Uint8Array;
} & ({ readonly kind: 'key' } | { readonly kind: 'token'; readonly databaseGlobalId: bigint });

export function secretText(secret: Secret): string {
  const mark = secret.kind === 'key' ? KEY_MARK : TOKEN_MARK;
  const numbers = secret.kind === 'key' ? [secret.id] : [secret.id, secret.databaseGlobalId];
  return encodeBase64Url(
    Uint8Array.from([...mark, ...numbers.flatMap(int64Bytes), ...secret.random]),
  );
}

/** Undefined for texts that were never issued: wrong length, mark or alphabet. */
export function parseSecret(text: string): Secret | undefined {
  // The decoder accepts two alphabets and padding, but secrets are issued in one form only.
  if (!/^[A-Za-z0-9_-]+$/.test(text)) return undefined;
  const bytes = decodeBase64(text);
  if (!bytes || encodeBase64Url(bytes) !== text) return undefined;
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const isMarked = (mark: readonly number[]) => mark.every((byte, i) => bytes[i] === byte);
  if (isMarked(KEY_MARK) && bytes.length === 30) {
    return { kind: 'key', id: view.getBigInt64(2), random: bytes.slice(10) };
  }
  if (isMarked(TOKEN_MARK) && bytes.length === 38) {
    return {
      kind: 'token',
      id: view.getBigInt64(2),
      databaseGlobalId: view.getBigInt64(10),
      random: bytes.slice(18),
    };
  }
  return undefined;
}

/** Whether a text starts like a token: a cheap guess, not a check. */
export const looksLikeToken = (secret: string): boolean => /^fn[EF]/.test(secret);

function int64Bytes(value: bigint): number[] {
  const view = new DataView(new ArrayBuffer(8));
  view.setBigInt64(0, value);
  return [...new Uint8Array(view.buffer)];
}

/** The stored hash of a secret, shown as `hashed_secret`. */
export const secretHash = (random: Uint8Array, sha256: Sha256): string =>
  `$sha256$${encodeBase64Url(sha256(random))}`;

/** The hash of a root secret, which a host may store. */
export const hashOfRootSecret = (secret: string, sha256: Sha256): string =>
  secretHash(utf8Bytes(secret), sha256);

export const isRootSecret = (
  given: string,
  known: string | { readonly hash: string },
  sha256: Sha256,
): boolean =>
  typeof known === 'string'
    ? isSameText(given, known)
    : isSameText(hashOfRootSecret(given, sha256), known.hash);

/** Compares two texts. The time depends only on the length of `given`, not on where the texts begin to differ. */
export function isSameText(given: string, known: string): boolean {
  let difference = given.length ^ known.length;
  for (let i = 0; i < given.length; i++) {
    difference |= given.charCodeAt(i) ^ known.charCodeAt(i % (known.length || 1));
  }
  return difference === 0;
}

const GLOBAL_ID_DIGITS = 'abcdefghijklmnopqrstuvwxyz234567';

/** The text of a database's global id: 13 characters, letters and digits. */
export function globalIdText(id: bigint): string {
  let text = '';
  for (let rest = BigInt.asUintN(64, id), i = 0; i < 13; i++, rest >>= 5n) {
    text = GLOBAL_ID_DIGITS.charAt(Number(rest & 31n)) + text;
  }
  return text;
}

/** The number of a global id. Zero, which no database except the root has, for invalid texts. */
export function globalIdNumber(text: string): bigint {
  let id = 0n;
  for (const digit of text) {
    const value = GLOBAL_ID_DIGITS.indexOf(digit);
    if (value < 0) return 0n;
    id = (id << 5n) | BigInt(value);
  }
  return BigInt.asIntN(64, id);
}
