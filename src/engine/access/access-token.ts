/** Tokens of identity providers (JWT): parsing, and checks of their claims. Spec: auth 2.4. */
import { decodeBase64 } from '../../codec/base64.ts';
import { JsonError, parseJson, type JsonObject } from '../../codec/json.ts';
import { utf8Text } from '../../codec/utf8.ts';
import { LIMITS } from '../../limits.ts';
import { Double } from '../../values/value.ts';
import type { Micros, ObjectValue, Value } from '../../values/value.ts';

export interface AccessToken {
  readonly issuer: string;
  readonly audiences: readonly string[];
  /** All claims. */
  readonly claims: ObjectValue;
  /** When it ends. */
  readonly until: Micros;
}

export const looksLikeAccessToken = (secret: string): boolean =>
  secret.startsWith('ey') && secret.includes('.');

/** Signatures that only the holder of a private key can make: a published key makes none, and no signature is none. */
const ALGORITHMS: ReadonlySet<Value> = new Set(
  'RS256 RS384 RS512 PS256 PS384 PS512 ES256 ES384 ES512 EdDSA Ed25519'.split(' '),
);

/** Undefined: no token, or one that cannot be valid now. Its signature is not verified here. */
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

/** What a header names as critical must be understood, and we understand nothing more. */
const isUnderstood = (head: ObjectValue): boolean =>
  ALGORITHMS.has(head.get('alg') ?? null) && !head.has('crit');

/** Undefined: it is not valid now. One that never ends would outlive everything that could withdraw it. */
function endOf(claims: ObjectValue, now: Micros): Micros | undefined {
  const until = microsOf(claims.get('exp'));
  const from = claims.has('nbf') ? microsOf(claims.get('nbf')) : -Infinity;
  if (until === undefined || from === undefined) return undefined;
  return now < until && from - LIMITS.accessTokenLeewayMicros <= now ? until : undefined;
}

/** Of a NumericDate: seconds, with or without a fraction. Some that mean never are past all our times. */
function microsOf(value: Value | undefined): Micros | undefined {
  const seconds = value instanceof Double ? value.value : value;
  if (typeof seconds !== 'number' && typeof seconds !== 'bigint') return undefined;
  return Math.min(Math.floor(Number(seconds) * 1_000_000), Number.MAX_SAFE_INTEGER);
}

function objectIn(part: string): JsonObject | undefined {
  const bytes = decodeBase64(part);
  const text = bytes && utf8Text(bytes);
  if (text === undefined) return undefined;
  try {
    const json = parseJson(text);
    return json instanceof Map ? json : undefined;
  } catch (reason) {
    if (reason instanceof JsonError) return undefined;
    throw reason;
  }
}
