import { expect, test } from 'vitest';
import { LIMITS } from '../../limits.ts';
import { readAccessToken } from './access-token.ts';

const part = (value: unknown): string => Buffer.from(JSON.stringify(value)).toString('base64url');
const token = (claims: object): string =>
  [{ alg: 'RS256' }, { iss: 'i', aud: 'a', ...claims }].map(part).join('.') + '.x';

test('readAccessToken() accepts a token before the µs at which it expires, and from `nbf` less the leeway on', () => {
  const exp = 1_000_000;
  const end = exp * 1_000_000;
  const reads = (claims: object, now: number) => readAccessToken(token(claims), now)?.until;
  expect(reads({ exp }, end - 1)).toBe(end);
  expect(reads({ exp }, end)).toBeUndefined();
  const nbf = 900_000;
  const begin = nbf * 1_000_000 - LIMITS.accessTokenLeewayMicros;
  expect(reads({ exp, nbf }, begin)).toBe(end);
  expect(reads({ exp, nbf }, begin - 1)).toBeUndefined();
});
