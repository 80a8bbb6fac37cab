import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { Refusal } from '../errors.ts';
import { LIMITS } from '../limits.ts';
import { anyPlain, anyValue } from '../values/arbitrary.ts';
import {
  Action,
  Bytes,
  DateValue,
  Double,
  PENDING,
  Ref,
  Time,
  UnresolvedRef,
  Uuid,
  type Document,
  type Event,
  type Lambda,
  type Page,
  type SetValue,
  type Value,
} from '../values/value.ts';
import { renderValue, type RenderContext } from './wire.ts';

const GONE = 99;
const context: RenderContext = {
  names: {
    refToWire: ({ collection, id }) => (collection === GONE ? undefined : `"${collection}/${id}"`),
  },
  apiVersion: '4',
  pendingTs: 1_600_000_000_000_001,
};
const render = (value: Value, apiVersion = '4'): string =>
  renderValue(value, { ...context, apiVersion });

const ref = new Ref(0, 1024, 101n);
const gone = new Ref(0, GONE, 1n);
const index = new Ref(0, 3, 7n);
const lambda: Lambda = {
  kind: 'lambda',
  pattern: 'x',
  body: undefined,
  captures: new Map(),
  apiVersion: '4',
  wire: '"lambda":"x","expr":{"var":"x"}',
};
const match: SetValue = { kind: 'set', op: 'match', index, terms: ['a'] };
const natives: SetValue = {
  kind: 'set',
  op: 'documents',
  collection: new Ref(0, 1, 5n),
  native: true,
};
const setOf = (set: SetValue): string => render(set).replace(/^\{"@set":(.*)\}$/, '$1');

test('renderValue() writes scalars', () => {
  const cases: readonly (readonly [Value, string])[] = [
    [null, 'null'],
    [true, 'true'],
    [1, '1'],
    [2n ** 63n - 1n, '9223372036854775807'],
    [new Double(1), '1.0'],
    [1.5e10 + 0.5, '1.50000000005E10'],
    [Number.NaN, '"NaN"'],
    [Infinity, '"Infinity"'],
    [-Infinity, '"-Infinity"'],
    ['a"\ud800', '"a\\"?"'],
    [new Bytes(Uint8Array.of(255, 254)), '{"@bytes":"//4="}'],
    [new Time(1n), '{"@ts":"1970-01-01T00:00:00.000000001Z"}'],
    [new DateValue(0), '{"@date":"1970-01-01"}'],
    [new Uuid('a'), '{"@uuid":"a"}'],
    [new Action('add'), '"add"'],
    [PENDING, '1600000000000001'],
    [natives, '{"@ref":"1/5"}'],
    [ref, '{"@ref":"1024/101"}'],
    [new UnresolvedRef('collection', 'x', '{"id":"x"}'), '{"@ref":{"id":"x"}}'],
  ];
  for (const [value, text] of cases) expect(render(value)).toBe(text);
});

test('renderValue() writes arrays and objects in their order, with nulls', () => {
  const object = new Map<string, Value>([
    ['b', [1, null]],
    ['a', null],
    ['1', new Map()],
  ]);
  expect(render(object)).toBe('{"b":[1,null],"a":null,"1":{}}');
});

test('renderValue() wraps objects with a key that begins with @', () => {
  expect(render(new Map([['@ref', 1]]))).toBe('{"@obj":{"@ref":1}}');
  expect(
    render(
      new Map([
        ['a', 1],
        ['@', 2],
      ]),
    ),
  ).toBe('{"@obj":{"a":1,"@":2}}');
  expect(render(new Map([['a@', 1]]))).toBe('{"a@":1}');
});

test('renderValue() omits refs to deleted collections', () => {
  expect(render(gone)).toBe('null');
  expect(
    render(
      new Map<string, Value>([
        ['a', gone],
        ['b', 1],
        ['c', gone],
      ]),
    ),
  ).toBe('{"b":1}');
  expect(render([gone, 1, gone])).toBe('[1]');
});

const document = (more: Partial<Document> = {}): Document => ({
  kind: 'document',
  ref,
  ts: 5,
  created: false,
  fields: new Map([
    [
      'data',
      new Map<string, Value>([
        ['r', ref],
        ['g', gone],
      ]),
    ],
  ]),
  text: undefined,
  ...more,
});

test('renderValue() writes documents as ref, ts and members', () => {
  expect(render(document())).toBe(
    '{"ref":{"@ref":"1024/101"},"ts":5,"data":{"r":{"@ref":"1024/101"}}}',
  );
  expect(render(document({ text: '"data":{"x":1}', ts: PENDING }))).toBe(
    '{"ref":{"@ref":"1024/101"},"ts":1600000000000001,"data":{"x":1}}',
  );
  expect(render(document({ text: '', ref: gone }))).toBe('{"ts":5}');
  expect(render(document({ fields: new Map() }))).toBe('{"ref":{"@ref":"1024/101"},"ts":5}');
  expect(render(document({ text: '"data":{}' }), '2.0')).toBe(
    '{"ref":{"@ref":"1024/101"},"class":{"@ref":"1/1024"},"ts":5,"data":{}}',
  );
});

test('renderValue() writes events with the member names of the API version', () => {
  const event = (action: Event['action'], data: Value | undefined): Event => ({
    kind: 'event',
    ts: 5,
    action,
    document: ref,
    data,
  });
  const at4 = '{"ts":5,"action":"add","document":{"@ref":"1024/101"},"data":[1]}';
  expect(render(event('add', [1]))).toBe(at4);
  expect(render(event('add', [1]), '2.7')).toBe(at4);
  expect(render(event('add', [1]), '2.1')).toBe(at4.replace('document', 'instance'));
  expect(render(event('add', [1]), '2.0')).toBe(
    '{"ts":5,"action":"create","resource":{"@ref":"1024/101"},"values":[1]}',
  );
  expect(render(event('delete', null))).toBe(
    '{"ts":5,"action":"delete","document":{"@ref":"1024/101"},"data":null}',
  );
  expect(
    render({ kind: 'event', ts: 5, action: 'add', document: undefined, data: undefined }),
  ).toBe('{"ts":5,"action":"add"}');
});

test('renderValue() writes pages as before, after and data', () => {
  const page = (more: Partial<Page>): Page => ({
    kind: 'page',
    before: undefined,
    after: undefined,
    data: [1],
    cursors: undefined,
    ...more,
  });
  expect(render(page({}))).toBe('{"data":[1]}');
  expect(render(page({ before: [ref], after: [2, ref], data: [] }))).toBe(
    '{"before":[{"@ref":"1024/101"}],"after":[2,{"@ref":"1024/101"}],"data":[]}',
  );
  const sourced = { kind: 'sourced', value: 1, sources: [match] } as const;
  expect(render(page({ data: [sourced] }))).toBe(
    '{"data":[{"value":1,"sources":[{"@set":{"match":{"@ref":"3/7"},"terms":"a"}}]}]}',
  );
});

test('renderValue() writes every set', () => {
  const inner = '{"@set":{"match":{"@ref":"3/7"},"terms":"a"}}';
  const bare = '{"api_version":"4","lambda":"x","expr":{"var":"x"}}';
  const cases: readonly (readonly [SetValue, string])[] = [
    [{ kind: 'set', op: 'match', index, terms: [] }, '{"match":{"@ref":"3/7"}}'],
    [
      { kind: 'set', op: 'match', index, terms: ['a', 1] },
      '{"match":{"@ref":"3/7"},"terms":["a",1]}',
    ],
    [{ kind: 'set', op: 'match', index, terms: [[1]] }, '{"match":{"@ref":"3/7"},"terms":[[1]]}'],
    [{ kind: 'set', op: 'documents', collection: ref }, '{"documents":{"@ref":"1024/101"}}'],
    [{ kind: 'set', op: 'singleton', ref }, '{"singleton":{"@ref":"1024/101"}}'],
    [{ kind: 'set', op: 'events', of: ref }, '{"events":{"@ref":"1024/101"}}'],
    [{ kind: 'set', op: 'events', of: match }, '{"events":{"match":{"@ref":"3/7"},"terms":"a"}}'],
    [{ kind: 'set', op: 'events', of: natives }, '{"events":{"@ref":"1/5"}}'],
    [{ kind: 'set', op: 'union', sets: [match, natives] }, `{"union":[${inner},{"@ref":"1/5"}]}`],
    [{ kind: 'set', op: 'union', sets: [match, match] }, `{"union":[${inner},${inner}]}`],
    [{ kind: 'set', op: 'intersection', sets: [match] }, `{"intersection":${inner}}`],
    [{ kind: 'set', op: 'difference', sets: [match, match] }, `{"difference":[${inner},${inner}]}`],
    [{ kind: 'set', op: 'distinct', set: match }, `{"distinct":${inner}}`],
    [{ kind: 'set', op: 'reverse', set: match }, `{"reverse":${inner}}`],
    [{ kind: 'set', op: 'filter', set: match, lambda }, `{"filter":${bare},"collection":${inner}}`],
    [{ kind: 'set', op: 'join', set: match, with: lambda }, `{"join":${inner},"with":${bare}}`],
    [
      { kind: 'set', op: 'join', set: match, with: index },
      `{"join":${inner},"with":{"@ref":"3/7"}}`,
    ],
    [{ kind: 'set', op: 'range', set: match, from: [1], to: [] }, `{"range":${inner},"from":[1]}`],
    [
      { kind: 'set', op: 'range', set: match, from: [], to: ['z'] },
      `{"range":${inner},"to":["z"]}`,
    ],
  ];
  for (const [set, text] of cases) expect(setOf(set)).toBe(text);
});

test('renderValue() adds the API version to a lambda, except if lambda and answer are both before version 3', () => {
  const untagged = '{"@query":{"lambda":"x","expr":{"var":"x"}}}';
  const tagged = (version: string): string =>
    `{"@query":{"api_version":"${version}","lambda":"x","expr":{"var":"x"}}}`;
  const old: Lambda = { ...lambda, apiVersion: '2.12' };
  expect(render(lambda)).toBe(tagged('4'));
  expect(render(lambda, '2.1')).toBe(tagged('4'));
  expect(render(old)).toBe(tagged('2.12'));
  expect(render(old, '2.12')).toBe(untagged);
});

test('renderValue() writes valid JSON for any value and version', () => {
  fc.assert(
    fc.property(
      anyValue,
      fc.constantFrom('2.0', '2.1', '2.7', '2.12', '3', '4', '5'),
      (value, version) => {
        expect(() => JSON.parse(render(value, version))).not.toThrow();
      },
    ),
    { numRuns: 500 },
  );
});

test('renderValue() refuses values nested too deeply', () => {
  const nested = (depth: number): Value => {
    let value: Value = 1;
    for (let level = 0; level < depth; level += 1)
      value = level % 2 ? [value] : new Map([['a', value]]);
    return value;
  };
  expect(() => render(nested(LIMITS.renderDepth))).not.toThrow();
  expect(() => render(nested(LIMITS.renderDepth + 1))).toThrow(Refusal);
  expect(() => render(nested(100_000))).toThrow(expect.objectContaining({ code: 'bad request' }));
});

test('renderValue() returns the same text for the same value', () => {
  fc.assert(
    fc.property(anyPlain, (value) => {
      expect(render(value)).toBe(render(value));
    }),
  );
});
