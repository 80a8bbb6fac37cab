import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { hideSecretTexts, mayHoldSecret } from '../engine/access.ts';
import { QUERY_KEPT_CHARACTERS, redactQuery } from './redact.ts';

const redacted = (query: unknown): unknown => {
  const text = redactQuery(JSON.stringify(query), true);
  return text === undefined ? undefined : JSON.parse(text);
};

test('redactQuery() keeps a query without secrets unchanged', () => {
  const query = '{ "get": {"ref": {"collection":"notes"}, "id": "1"}, "n": 1.0 }';
  expect(redactQuery(query, true)).toBe(query);
});

test('redactQuery() hides the values of members named like a password or secret', () => {
  const login = {
    login: { match: { index: 'users' }, terms: 'ann' },
    params: { object: { password: 'pa55' } },
  };
  expect(redacted(login)).toEqual({ ...login, params: { object: { password: '***' } } });
  expect(redacted({ identify: 'x', password: 'pa55' })).toEqual({ identify: 'x', password: '***' });
  expect(redacted({ key_from_secret: 'fnA' })).toEqual({ key_from_secret: '***' });
  expect(redacted({ object: { hashed_password: 'h', current_password: 1, pwd: 'p' } })).toEqual({
    object: { hashed_password: '***', current_password: '***', pwd: '***' },
  });
});

test('redactQuery() hides all values if a password is an expression', () => {
  const query = {
    let: [{ pw: 'hunter2' }],
    in: { identify: { var: 'me' }, password: { var: 'pw' } },
  };
  expect(redacted(query)).toEqual({
    let: [{ pw: '***' }],
    in: { identify: { var: '***' }, password: '***' },
  });
  const built = { create: 'u', params: { to_object: [['password', 'hunter2']] } };
  expect(redacted(built)).toEqual({ create: '***', params: { to_object: [['***', '***']] } });
});

test('redactQuery() hides arguments of stored functions', () => {
  expect(redacted({ call: 'sign_up', arguments: ['ann', 'hunter2', 7, true] })).toEqual({
    call: 'sign_up',
    arguments: ['***', '***', '***', true],
  });
  const indirect = { let: [{ p: 'hunter2' }], in: { call: 'f', arguments: [{ var: 'p' }] } };
  expect(JSON.stringify(redacted(indirect))).not.toContain('hunter2');
});

test('redactQuery() hides a secret in plain data', () => {
  for (const x of [
    'burrow-root-abcdefgh',
    'fnAEaBcDeFgHiJkLmNoPqRsTuVwXyZ0123456789',
    '$sha256$Oy0B_nhdZnAxoWKyoEQ6C8rOx6-RxyTjlgUT1o8A_iE',
  ])
    expect(redacted({ object: { x } })).toEqual({ object: { x: '***' } });
});

test('redactQuery() recognises member names with escapes', () => {
  expect(redactQuery(String.raw`{"\u0070assword":"pa55"}`, true)).toBe('{"password":"***"}');
});

test('redactQuery() keeps nothing of a text that is not JSON or is too long', () => {
  expect(redactQuery('secret fnAExxxx', false)).toBeUndefined();
  expect(redactQuery('[1,', false)).toBeUndefined();
  expect(redactQuery('', true)).toBeUndefined();
  expect(redactQuery(`"${'a'.repeat(QUERY_KEPT_CHARACTERS)}"`, true)).toBeUndefined();
});

test('the search for secrets takes time in proportion to the length of the text', () => {
  for (const begun of ['ey', 'ey-', 'ey.', 'a-', 'a.ey-', '$a', 'basic ', 'fnA-']) {
    const text = begun.repeat(500_000 / begun.length);
    const start = performance.now();
    hideSecretTexts(text);
    mayHoldSecret(text.toUpperCase());
    // Quadratic time would be more than a minute.
    expect(performance.now() - start, begun).toBeLessThan(2000);
  }
  expect(hideSecretTexts('ey-eyes-eyJhbGciOi.x.y z')).toBe('*** z');
  expect(hideSecretTexts('eyes.ey-eyJhbGciOi eyJhbGciOi')).toBe('eyes.ey-eyJhbGciOi eyJhbGciOi');
  expect(['a eyJ.', 'a-eyJ-.', 'ey.', 'eyJ'].map(mayHoldSecret)).toEqual([
    true,
    true,
    false,
    false,
  ]);
});

test('hideSecretTexts() hides keys, tokens, hashes and header values within a text', () => {
  const hash = '$2a$10$abcdefghijklmnopqrstuuabcdefghijklmnopqrstuvwxyzABCDE';
  for (const secret of [
    'fnAEaBcDeFgHiJkLmNoPqRsTuVwXyZ0123456789',
    'fnEEaBcDeFgHiJkLmNoPqRsTuVwXyZ0123456789-_abcdefgh',
    'kqnPAVaBcDeFgHiJkLmNoPqRsTuVwXyZ01234567890',
    'eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.abc-def',
    'burrow-root-aBcDeFgHiJkLmNoPqRsTuVwXyZ0123456789-_ab',
    hash,
    '$sha256$Oy0B_nhdZnAxoWKyoEQ6C8rOx6-RxyTjlgUT1o8A_iE',
    'Basic Zm5BRW9rZWxzZTo=',
    'bearer abc.def',
  ]) {
    expect(hideSecretTexts(`x ${secret} y`)).not.toContain(secret.slice(-8));
  }
  expect(hideSecretTexts('a function of eyes')).toBe('a function of eyes');
});

test('redactQuery() never keeps a password, wherever it is nested', () => {
  const canary = 'cAnArY';
  const query = fc.letrec((tie) => ({
    any: fc.oneof(
      { maxDepth: 5 },
      fc.string(),
      fc.array(tie('any'), { maxLength: 3 }),
      fc.dictionary(fc.string(), tie('any'), { maxKeys: 3 }),
      fc.record({ login: tie('any'), params: fc.constant({ object: { password: canary } }) }),
      fc.record({ call: fc.constant('f'), arguments: fc.constant([canary]) }),
    ),
  })).any;
  fc.assert(
    fc.property(query, (value) => {
      expect(redactQuery(JSON.stringify(value), true) ?? '').not.toContain(canary);
    }),
  );
});
