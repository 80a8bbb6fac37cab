/** Tokens of identity providers (JWT): fetches published keys, and checks signatures with them. */
import { compactVerify, createLocalJWKSet, errors, type CompactVerifyGetKey } from 'jose';
import type { AccessTokenPort } from '../src/engine/api.ts';

const FETCH_MS = 5000;
const TEXT_MAX = 256 * 1024;

export const createAccessTokens = (
  rootAudience: string | undefined,
  fetch: typeof globalThis.fetch = globalThis.fetch.bind(globalThis),
): AccessTokenPort => ({
  fetchKeys: (uri) => fetchKeys(uri, fetch),
  isSigned,
  ...(rootAudience !== undefined && { rootAudience }),
});

/** Nothing of the user goes along, and nobody may send us elsewhere. */
async function fetchKeys(uri: string, fetch: typeof globalThis.fetch): Promise<string> {
  const response = await fetch(uri, {
    credentials: 'omit',
    redirect: 'error',
    referrerPolicy: 'no-referrer',
    cache: 'no-cache',
    headers: { accept: 'application/json' },
    signal: AbortSignal.timeout(FETCH_MS),
  });
  if (!response.ok) throw new Error(`Keys cannot be fetched: status ${response.status}.`);
  const text = await response.text();
  if (text.length > TEXT_MAX) throw new Error('A set of keys is too large.');
  return text;
}

async function isSigned(token: string, keys: string): Promise<boolean | 'unknown key'> {
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
