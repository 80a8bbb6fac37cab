/** Signatures of tokens (JWT), checked with published keys. */
import { compactVerify, createLocalJWKSet, errors, type CompactVerifyGetKey } from 'jose';

/** @param keys a set of keys (JWKS) as text */
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

/** Keys without ids, or a token without one: each that fits is tried. */
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
