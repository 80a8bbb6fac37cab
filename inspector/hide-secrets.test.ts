import { expect, test } from 'vitest';
import { hideSecretTexts as hideInEngine } from '../src/engine/access.ts';
import { q, queryText } from '../src/index.ts';
import { problemOf } from './context.ts';
import { hideSecretTexts, mayHoldSecret, shownQuery, shownValue } from './hide-secrets.ts';

const SECRETS = [
  'fnAFPzJkE1ACAAmDoxGAU8RjBmmAaBcbBjyRzhIx',
  'burrow-root-0123456789abcdef',
  '$2a$10$abcdefghijklmnopqrstuvwxyz0123456789ABCDEFGHIJKLMNOPQ',
  'eyJhbGciOiJSUzI1NiJ9.eyJzdWIiOiIxIn0.c2lnbmF0dXJl',
  'Bearer abcdefgh',
];

test('hideSecretTexts() hides the same secrets as the engine, and the secret of a sync', () => {
  for (const secret of SECRETS) {
    expect(hideSecretTexts(`x ${secret}`)).toBe('x ***');
    expect(hideInEngine(`x ${secret}`)).toBe('x ***');
  }
  expect(hideSecretTexts('burrow-sync-0123456789abcdef')).toBe('***');
});

test('shownValue() hides members with the name of a secret, at any depth', () => {
  const key = { secret: 'short', data: [{ password: 'p', hashed_secret: 'x', n: 5 }] };
  expect(shownValue(key)).toBe(
    '{ secret: "***", data: [{ password: "***", hashed_secret: "***", n: 5 }] }',
  );
});

test('shownQuery() returns FQL text without secrets', () => {
  expect(shownQuery(queryText(q.Get(q.Ref(q.Collection('a'), '1'))))).toBe(
    'Get(Ref(Collection("a"), "1"))',
  );
  expect(shownQuery(JSON.stringify({ key_from_secret: SECRETS[0] }))).not.toContain(SECRETS[0]);
  expect(shownQuery(undefined)).toBe('(not kept)');
});

test('problemOf() returns the message of an error without its secrets', () => {
  for (const secret of SECRETS) expect(problemOf(new Error(`not ${secret}`))).toBe('not ***');
});

test('mayHoldSecret() is true for queries with a password or a secret', () => {
  expect(mayHoldSecret('Login(user, { password: "x" })')).toBe(true);
  expect(mayHoldSecret(`KeyFromText("${SECRETS[0]}")`)).toBe(true);
  expect(mayHoldSecret('Paginate(Documents(Collection("notes")))')).toBe(false);
});

test('the search for secrets takes time in proportion to the length of the text', () => {
  const start = performance.now();
  hideSecretTexts('ey-'.repeat(200_000));
  expect(performance.now() - start).toBeLessThan(2000);
});
