/** Tokens of identity providers (JWT): parsing, and checks of their claims. Spec: auth 2.4. */
import { decodeBase64 } from '../../codec/base64.ts';
import { tryParseJson, type JsonObject } from '../../codec/json.ts';
import { utf8Text } from '../../codec/utf8.ts';
import { LIMITS } from '../../limits.ts';
import { Double } from '../../values/value.ts';
import type { Micros, ObjectValue, Value } from '../../values/value.ts';

export interface AccessToken {
  readonly issuer: string;
  readonly audiences: readonly string[];
  readonly claims: ObjectValue;
  /** When the token expires. */
  readonly until: Micros;
}

export const looksLikeAccessToken = (secret: string): boolean =>
  secret.startsWith('ey') && secret.includes('.');

/** Algorithms with a private key. Symmetric ones are excluded, because the published key could create a signature, and so is `none`. */
const ALGORITHMS: ReadonlySet<Value> = new Set(
  'RS256 RS384 RS512 PS256 PS384 PS512 ES256 ES384 ES512 EdDSA Ed25519'.split(' '),
);

/**
 * Parses a token and checks its times. Undefined if the text is not a token, or the token cannot be valid now. The signature is not
 * verified here.
 */
export function readAccessToken(text: string, now: Micros): AccessToken | undefined {
  if (text.length > LIMITS.accessTokenChars) return undefined;
  const [header, payload, signature, ...rest] = text.split('.');
  if (!header || !payload || !signature || rest.length > 0) return undefined;
  const head = objectIn(header);
  const claims = objectIn(payload);
  if (!head || !claims || !isUnderstood(head)) return undefined;
  const until = endOf(claims, now);
  const issuer = claims.get('iss');
  const audiences = [claims.get('aud')].flat() as readonly (Value | undefined)[];
  if (until === undefined || typeof issuer !== 'string' || !audiences.every(isText))
    return undefined;
  return { issuer, audiences, claims, until };
}

const isText = (value: Value | undefined): value is string => typeof value === 'string';

/** Whether the header can be processed. Extensions that it marks as critical must be understood, and none is. */
const isUnderstood = (head: ObjectValue): boolean =>
  ALGORITHMS.has(head.get('alg') ?? null) && !head.has('crit');

/** When the token expires. Undefined if it is not valid now. A token without `exp` is not valid: it could never be withdrawn. */
function endOf(claims: ObjectValue, now: Micros): Micros | undefined {
  const until = microsOf(claims.get('exp'));
  const from = claims.has('nbf') ? microsOf(claims.get('nbf')) : -Infinity;
  if (until === undefined || from === undefined) return undefined;
  return now < until && from - LIMITS.accessTokenLeewayMicros <= now ? until : undefined;
}

/**
 * Converts a NumericDate (seconds, possibly with a fraction) to µs. Values that mean "never" exceed the range of times, so the result is
 * limited.
 */
function microsOf(value: Value | undefined): Micros | undefined {
  const seconds = value instanceof Double ? value.value : value;
  if (typeof seconds !== 'number' && typeof seconds !== 'bigint') return undefined;
  return Math.min(Math.floor(Number(seconds) * 1_000_000), Number.MAX_SAFE_INTEGER);
}

function objectIn(part: string): JsonObject | undefined {
  const bytes = decodeBase64(part);
  const text = bytes && utf8Text(bytes);
  if (text === undefined) return undefined;
  const json = tryParseJson(text);
  return json instanceof Map ? json : undefined;
}
