/** The secret in an `Authorization` header. Spec: auth 1.5. */
import { decodeBase64, encodeBase64 } from '../codec/base64.ts';
import { utf8Bytes } from '../codec/utf8.ts';
import { looksLikeAccessToken } from '../engine/access.ts';

/** The secret, or undefined if the header is missing, has an unknown scheme or has invalid base64: all mean unauthenticated. */
export function secretOf(header: string | undefined): string | undefined {
  const [scheme, credentials, ...rest] = header?.trim().split(/\s+/) ?? [];
  if (credentials === undefined || rest.length > 0) return undefined;
  if (scheme === 'Bearer') return credentials;
  return scheme === 'Basic' ? secretOfBasic(credentials) : undefined;
}

/** Header values cannot contain characters such as those of `secret:кухня:admin`; such a secret is sent as UTF-8 in `Basic`. */
export function sendable(authorization: string): string {
  if (/^[ -~]*$/.test(authorization)) return authorization;
  const secret = utf8Bytes(authorization.replace(/^Bearer /, ''));
  return `Basic ${encodeBase64(secret)}`;
}

/** The secret is the user name. A "password" after it would be the scope of the secret. */
function secretOfBasic(credentials: string): string | undefined {
  const bytes = decodeBase64(credentials.replace(/:$/, ''));
  if (!bytes) return undefined;
  const secret = new TextDecoder().decode(bytes).trim().replace(/:$/, '');
  // Tokens of identity providers are accepted only as `Bearer`.
  return secret === '' || looksLikeAccessToken(secret) ? undefined : secret;
}
