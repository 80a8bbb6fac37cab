/** Verifies signatures of access tokens (JWT) with the keys that identity providers publish. */
import { compactVerify, createLocalJWKSet, errors, type CompactVerifyGetKey } from 'jose';

/** Limits for fetching a key set: time in ms, and length in characters. */
export const KEYS_FETCH_MS = 5000;
export const KEYS_TEXT_MAX = 256 * 1024;

/**
 * @param keys a key set (JWKS) as text
 * @returns `'unknown key'` if the set has no key that fits the token
 */
export async function isSigned(token: string, keys: string): Promise<boolean | 'unknown key'> {
  try {
    await compactVerify(token, createLocalJWKSet(JSON.parse(keys)));
    return true;
  } catch (reason) {
    if (reason instanceof errors.JWKSNoMatchingKey) return 'unknown key';
    if (reason instanceof errors.JWKSMultipleMatchingKeys) return isSignedByAny(token, reason);
    return false;
  }
}

/** If the keys or the token have no key id, every key that fits is tried. */
async function isSignedByAny(
  token: string,
  keys: AsyncIterable<Exclude<Awaited<ReturnType<CompactVerifyGetKey>>, Uint8Array>>,
): Promise<boolean> {
  for await (const key of keys) {
    const isRight = await compactVerify(token, key).then(
      () => true,
      () => false,
    );
    if (isRight) return true;
  }
  return false;
}
