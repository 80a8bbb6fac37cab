/** For tokens of identity providers (JWT): fetches the provider's published keys and verifies signatures with them. */
import { isSigned, KEYS_FETCH_MS, KEYS_TEXT_MAX } from '../../hosts/signatures.ts';
import type { AccessTokenPort } from '../../src/engine/host.ts';

export const createAccessTokens = (
  rootAudience: string | undefined,
  fetch: typeof globalThis.fetch = globalThis.fetch.bind(globalThis),
): AccessTokenPort => ({
  fetchKeys: (uri) => fetchKeys(uri, fetch),
  isSigned,
  ...(rootAudience !== undefined && { rootAudience }),
});

/** Sends no credentials and no referrer, and rejects redirects. */
async function fetchKeys(uri: string, fetch: typeof globalThis.fetch): Promise<string> {
  const response = await fetch(uri, {
    credentials: 'omit',
    redirect: 'error',
    referrerPolicy: 'no-referrer',
    cache: 'no-cache',
    headers: { accept: 'application/json' },
    signal: AbortSignal.timeout(KEYS_FETCH_MS),
  });
  if (!response.ok)
    throw new Error(
      `The key set of the identity provider could not be fetched: status ${response.status}.`,
    );
  const text = await response.text();
  if (text.length > KEYS_TEXT_MAX)
    throw new Error('The key set of the identity provider is too large.');
  return text;
}
