import { expect, test } from 'vitest';
import { Ref } from '../values/value.ts';
import { pureSession, shown } from './testing/pure-session.ts';
import { NATIVE } from '../values/native-kinds.ts';

const parcels = {
  '@ref': { id: 'parcels', collection: { '@ref': { id: 'collections' } } },
} as const;

test('literals of times, dates, bytes and UUIDs are returned unchanged', () => {
  for (const literal of [
    '{"@ts":"2020-01-01T00:00:00Z"}',
    '{"@date":"2020-01-01"}',
    '{"@bytes":"AQID/+4="}',
    '{"@uuid":"123e4567-e89b-12d3-a456-426614174000"}',
  ]) {
    expect(shown(literal)).toBe(literal);
  }
});

test('an invalid literal is an invalid expression at its position', () => {
  for (const literal of [
    { '@ts': '2020-01-01' },
    { '@ts': 5 },
    { '@date': '2020-02-30' },
    { '@bytes': '!' },
    { '@uuid': '12' },
    { '@set': {} },
    { '@set': { match: 1, size: 2 } },
    { '@ref': 'nowhere/1' },
    { '@query': 'x' },
    { '@query': { lambda: 'x', expr: { var: 'y' } } },
  ]) {
    expect(shown([literal])).toEqual(['invalid expression at [0]']);
  }
});

test('faults inside @ref have the position of the member, with `class` for both names of the collection', () => {
  expect(shown({ '@ref': { id: 'abc', collection: parcels } })).toEqual([
    'invalid expression at ["id"]',
  ]);
  expect(shown({ '@ref': { id: '9223372036854775808', class: parcels } })).toEqual([
    'invalid expression at ["id"]',
  ]);
  expect(shown({ '@ref': { id: '1', collection: { '@ref': { id: 'zebras' } } } })).toEqual([
    'invalid expression at ["class","id"]',
  ]);
  expect(shown({ '@ref': { id: '1', collection: parcels, database: parcels } })).toEqual([
    'invalid expression at ["database"]',
  ]);
});

test('undefined refs are rendered as given', () => {
  const index = '{"@ref":{"id":"by_x","collection":{"@ref":{"id":"indexes"}}}}';
  expect(shown(index)).toBe(index);
  const document = { '@ref': { id: 12, collection: parcels } };
  expect(shown(document)).toBe(`{"@ref":{"id":"12","collection":${JSON.stringify(parcels)}}}`);
});

test('legacy paths are read as refs', () => {
  expect(shown({ '@ref': 'classes/parcels' })).toBe(JSON.stringify(parcels));
  expect(shown({ '@ref': 'collections' })).toBe('{"@ref":{"id":"collections"}}');
  expect(shown({ '@ref': 'keys/7' })).toBe(
    '{"@ref":{"id":"7","collection":{"@ref":{"id":"keys"}}}}',
  );
  expect(shown({ '@ref': 'indexes/by_x/1' })).toEqual(['invalid expression at []']);
});

test('self stands for the ref that the session gives, or is refused', () => {
  const self = { '@ref': { id: 'self', collection: { '@ref': { id: 'tokens' } } } };
  expect(shown(self)).toEqual(['invalid expression at []']);
  const token = new Ref(0, NATIVE.tokens, 5n);
  const session = pureSession('4', {
    self: ({ id }) => (id === BigInt(NATIVE.tokens) ? token : undefined),
  });
  expect(shown(self, session)).toBe('{"@ref":{"id":"5","collection":{"@ref":{"id":"tokens"}}}}');
});

test('quote keeps function calls as data, and decodes escapes', () => {
  expect(shown({ quote: { add: [1, { '@date': '2020-01-01' }] } })).toBe(
    '{"add":[1,{"@date":"2020-01-01"}]}',
  );
  expect(shown({ quote: { a: { '@obj': { '@x': { '@ref': { id: 'keys' } } } } } })).toBe(
    '{"a":{"@obj":{"@x":{"@ref":{"id":"keys"}}}}}',
  );
});

test('set literals are returned unchanged', () => {
  const keys = '{"@ref":{"id":"keys"}}';
  for (const set of [
    `{"@set":{"documents":${keys}}}`,
    `{"@set":{"union":[{"@set":{"documents":${keys}}},${keys}]}}`,
    `{"@set":{"range":{"@set":{"documents":${keys}}},"from":[1],"to":["x"]}}`,
    `{"@set":{"events":{"documents":${keys}}}}`,
    `{"@set":{"filter":{"api_version":"4","lambda":"x","expr":true},"collection":{"@set":{"documents":${keys}}}}}`,
    `{"@set":{"reverse":{"@set":{"singleton":{"@ref":{"id":"1","collection":${keys}}}}}}}`,
  ]) {
    expect(shown(set)).toBe(set);
  }
});

test('a set literal with incompatible sets is refused at its position', () => {
  const keys = { '@ref': { id: 'keys' } };
  const documents = { '@set': { documents: keys } };
  const backwards = { '@set': { reverse: documents } };
  const session = pureSession('4', {
    shapeOf: (set) => ({ reversed: ['op' in set && set.op === 'reverse'], history: false }),
  });
  for (const op of ['union', 'intersection', 'difference']) {
    const literal = { '@set': { [op]: [documents, backwards] } };
    expect(shown([literal], session)).toEqual(['invalid expression at [0]']);
    expect(shown([{ '@set': { reverse: literal } }], session)).toEqual([
      'invalid expression at [0,"reverse"]',
    ]);
    expect(shown({ '@set': { [op]: [backwards, backwards] } }, session)).toContain(op);
  }
});

test('a lambda without a version tag is read as version 2.12', () => {
  const literal = (more: object): unknown => ({
    '@query': { lambda: 'x', expr: { contains_path: 'a', in: { var: 'x' } }, ...more },
  });
  expect(shown(literal({}))).toEqual(['invalid expression at ["expr"]']);
  expect(shown(literal({ api_version: '3' }))).toBe(
    '{"@query":{"api_version":"3","lambda":"x","expr":{"contains_path":"a","in":{"var":"x"}}}}',
  );
  expect(shown(literal({ api_version: '9' }))).toEqual(['invalid expression at []']);
});
