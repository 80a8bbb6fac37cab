/** The secret in an `Authorization` header. Spec: auth 1.5. */
import { decodeBase64, encodeBase64 } from '../codec/base64.ts';
import { looksLikeAccessToken } from '../engine/access.ts';

/** Undefined: no header, an unknown scheme or invalid base64, all of which mean unauthenticated. */
export function secretOf(header: string | undefined): string | undefined {
  const [scheme, credentials, ...rest] = header?.trim().split(/\s+/) ?? [];
  if (credentials === undefined || rest.length > 0) return undefined;
  if (scheme === 'Bearer') return credentials;
  return scheme === 'Basic' ? secretOfBasic(credentials) : undefined;
}

/** A header holds no letters like those of `secret:кухня:admin`, and says what it was when it is refused: in `Basic` they are UTF-8. */
export function sendable(authorization: string): string {
  if (/^[ -~]*$/.test(authorization)) return authorization;
  const secret = new TextEncoder().encode(authorization.replace(/^Bearer /, ''));
  return `Basic ${encodeBase64(secret)}`;
}

/** The secret is the user name; a "password" after it would be its scope. */
function secretOfBasic(credentials: string): string | undefined {
  const bytes = decodeBase64(credentials.replace(/:$/, ''));
  if (!bytes) return undefined;
  const secret = new TextDecoder().decode(bytes).trim().replace(/:$/, '');
  // Tokens of identity providers are sent as `Bearer` only.
  return secret === '' || looksLikeAccessToken(secret) ? undefined : secret;
}
