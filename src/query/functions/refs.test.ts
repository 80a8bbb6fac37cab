import { expect, test } from 'vitest';
import { shown } from '../testing/pure-session.ts';

const nowhere = { collection: 'nowhere' };

test('ref accepts ids as Integer or digits', () => {
  const inside = '{"@ref":{"id":"nowhere","collection":{"@ref":{"id":"collections"}}}}';
  for (const id of [12, '12', '0012']) {
    expect(shown({ ref: nowhere, id })).toBe(`{"@ref":{"id":"12","collection":${inside}}}`);
  }
  for (const id of ['12x', '', -1, '9223372036854775808', true, 1.5]) {
    expect(shown({ ref: nowhere, id })).toEqual(['invalid argument at ["id"]']);
  }
});

test('ref requires a collection whose documents have numeric ids', () => {
  expect(shown({ ref: { keys: null }, id: 5 })).toBe(
    '{"@ref":{"id":"5","collection":{"@ref":{"id":"keys"}}}}',
  );
  for (const ref of [{ databases: null }, { roles: null }, { index: 'x' }, 'nowhere']) {
    expect(shown({ ref, id: 5 })).toEqual(['invalid argument at ["ref"]']);
  }
});

test('names must be strings, and scopes must be databases', () => {
  expect(shown({ class: 5 })).toEqual(['invalid argument at ["class"]']);
  expect(shown({ index: 'a', scope: { database: 'b' } })).toEqual(['invalid ref at ["scope"]']);
  expect(shown({ index: 'a', scope: nowhere })).toEqual(['invalid ref at ["scope"]']);
});

test('native refs accept null or a database', () => {
  expect(shown({ classes: null })).toBe('{"@ref":{"id":"collections"}}');
  expect(shown({ keys: 5 })).toEqual(['invalid argument at ["keys"]']);
  expect(shown({ keys: { database: 'b' } })).toEqual(['invalid ref at ["keys"]']);
});
