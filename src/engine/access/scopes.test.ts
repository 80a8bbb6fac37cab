import { expect, test } from 'vitest';
import { parseScope } from './scopes.ts';

test('parseScope() reads roles, documents and paths', () => {
  expect(parseScope('server-readonly')).toEqual({
    kind: 'builtin',
    role: 'server-readonly',
    path: [],
  });
  expect(parseScope('a/b:client')).toEqual({ kind: 'builtin', role: 'client', path: ['a', 'b'] });
  expect(parseScope('@role/boss')).toEqual({ kind: 'role', name: 'boss', path: [] });
  const document = { kind: 'document', collection: 'users', id: 12n };
  expect(parseScope('@doc/users/12')).toEqual({ ...document, path: [] });
  expect(parseScope('collections/users/12')).toEqual({ ...document, path: [] });
  expect(parseScope('inner:classes/users/12')).toEqual({ ...document, path: ['inner'] });
  const last = 2n ** 63n - 1n;
  expect(parseScope(`@doc/users/${last}`)).toEqual({ ...document, id: last, path: [] });
  expect(parseScope(`@doc/users/${last + 1n}`)).toBe('malformed');
});

test('parseScope() ignores text that is not a scope, and refuses a scope with trailing text', () => {
  for (const text of ['', 'whatever', 'inner', 'inner:whatever', '@role/', '@doc/users', 'a//b']) {
    expect(parseScope(text), text).toBe('none');
  }
  for (const text of [
    'serverless',
    'admins',
    'inner:serverx',
    'admin:foo',
    '@role/a/b',
    '@doc/users/x',
    '@doc/users/99999999999999999999',
  ]) {
    expect(parseScope(text), text).toBe('malformed');
  }
});
