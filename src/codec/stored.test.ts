import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { Refusal } from '../errors.ts';
import { LIMITS } from '../limits.ts';
import { anyLambda, anyPlain, anySet, anyUnresolved } from '../values/arbitrary.ts';
import {
  Action,
  Double,
  isArray,
  isKinded,
  isObject,
  PENDING,
  Ref,
  type Lambda,
  type Value,
} from '../values/value.ts';
import { JsonError } from './json.ts';
import { parseStored, storedNeedsNames, storedText, type StoredHooks } from './stored.ts';
import { renderValue } from './wire.ts';

const hooks: StoredHooks = {
  database: 7,
  lambda: (wire, apiVersion): Lambda => ({
    kind: 'lambda',
    pattern: /"lambda":"(\w+)"/.exec(wire)?.[1] ?? '',
    body: undefined,
    captures: new Map(),
    apiVersion,
    wire,
  }),
};
const DATABASE = 7;

/** The value with lone surrogates replaced, as in its stored text. */
function wellFormed(value: Value): Value {
  if (typeof value === 'string') return value.replace(/\p{Surrogate}/gu, '?');
  if (isArray(value)) return value.map(wellFormed);
  if (isObject(value)) return new Map([...value].map(([key, each]) => [key, wellFormed(each)]));
  if (!isKinded(value) || value.kind !== 'set') return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, part]) => [
      key,
      key === 'op' || key === 'kind' ? part : wellFormed(part as Value),
    ]),
  ) as unknown as Value;
}

test('parseStored() reverses storedText()', () => {
  fc.assert(
    fc.property(
      fc.oneof({ arbitrary: anyPlain, weight: 4 }, anySet, anyLambda, anyUnresolved),
      fc.constantFrom(DATABASE, undefined),
      (value, database) => {
        expect(parseStored(storedText(value, database), hooks)).toEqual(wellFormed(value));
      },
    ),
    { numRuns: 2000 },
  );
});

const hasOwnText = (value: Value): boolean => {
  if (isArray(value)) return value.some(hasOwnText);
  if (isObject(value)) return [...value.values()].some(hasOwnText);
  if (value instanceof Double) return !Number.isFinite(value.value);
  if (typeof value === 'number') return !Number.isFinite(value);
  return isKinded(value) && value.kind === 'ref';
};

test('storedText() is the wire text, except where storedNeedsNames() is true', () => {
  const rendering = { names: { refToWire: () => 'null' }, apiVersion: '4', pendingTs: 9 };
  fc.assert(
    fc.property(anyPlain, (value) => {
      const text = storedText(value, DATABASE);
      const needsNames = storedNeedsNames(text);
      expect(needsNames || !hasOwnText(value)).toBe(true);
      expect(needsNames || text === renderValue(value, rendering)).toBe(true);
    }),
    { numRuns: 1000 },
  );
});

test('storedNeedsNames() looks for tags, not for text that mentions them', () => {
  expect(storedNeedsNames('{"data":{"a":"\\"@ref\\" x","t":{"@ts":"…"}}}')).toBe(false);
  expect(storedNeedsNames('{"a":{"@ref":{"c":1,"i":"2"}}}')).toBe(true);
});

test('storedText() omits the database of refs if it is the given one', () => {
  const ref = new Ref(7, 1024, 101n);
  expect(storedText(ref, 7)).toBe('{"@ref":{"c":1024,"i":"101"}}');
  expect(storedText(ref)).toBe('{"@ref":{"c":1024,"i":"101","d":7}}');
  expect(parseStored('{"@ref":{"c":1024,"i":"101"}}', hooks)).toEqual(ref);
});

test('storedText() stores documents, events, pages and actions as plain data', () => {
  const ref = new Ref(7, 1024, 1n);
  const text = (value: Value): string => storedText(value, DATABASE);
  const inner = '{"@ref":{"c":1024,"i":"1"}}';
  expect(
    text({
      kind: 'document',
      ref,
      ts: 9,
      created: true,
      fields: new Map([['data', 1]]),
      text: '"data":1',
    }),
  ).toBe(`{"ref":${inner},"ts":9,"data":1}`);
  expect(text({ kind: 'event', ts: 5, action: 'add', document: ref, data: [1] })).toBe(
    `{"ts":5,"action":"add","document":${inner},"data":[1]}`,
  );
  expect(
    text({ kind: 'page', before: undefined, after: [1], data: [2], cursors: () => [[2]] }),
  ).toBe('{"after":[1],"data":[2]}');
  expect(text({ kind: 'sourced', value: 1, sources: [] })).toBe('{"value":1,"sources":[]}');
  expect(text(new Action('update'))).toBe('"update"');
});

test('storedText() writes the forms in docs/store-format.md', () => {
  const index = new Ref(7, 3, 2n);
  const set = { kind: 'set', op: 'match', index, terms: ['a'] } as const;
  const lambda = hooks.lambda('"lambda":"x","expr":1', '4');
  const text = (value: Value): string => storedText(value, DATABASE);
  expect(text(set)).toBe('{"@set":{"op":"match","index":{"@ref":{"c":3,"i":"2"}},"terms":["a"]}}');
  expect(text(lambda)).toBe('{"@query":{"v":"4","w":"\\"lambda\\":\\"x\\",\\"expr\\":1"}}');
  expect(text(Number.NaN)).toBe('{"@double":"NaN"}');
  expect(text(new Map([['@ref', 1]]))).toBe('{"@obj":{"@ref":1}}');
});

test('storedText() refuses values nested too deeply for parseStored()', () => {
  const nested = (depth: number, wrap: (value: Value) => Value): Value => {
    let value: Value = new Ref(7, 1024, 1n);
    for (let level = 0; level < depth; level += 1) value = wrap(value);
    return value;
  };
  const inArray = nested(LIMITS.jsonDepth, (value) => [value]);
  expect(parseStored(storedText(inArray, DATABASE), hooks)).toEqual(inArray);
  const escaped = nested(LIMITS.jsonDepth / 2, (value) => new Map([['@', value]]));
  expect(parseStored(storedText(escaped, DATABASE), hooks)).toBeInstanceOf(Map);
  for (const value of [[inArray], new Map([['@', escaped]])]) {
    expect(() => storedText(value, DATABASE)).toThrow(Refusal);
  }
});

test('storedText() refuses a pending time', () => {
  expect(() => storedText(PENDING)).toThrow('commit time');
});

test('parseStored() refuses malformed text', () => {
  for (const text of [
    '{"@ref":{"c":1024}}',
    '{"@ref":"x"}',
    '{"@ref":{"c":1024,"i":"x1"}}',
    '{"@ts":"yesterday"}',
    '{"@date":"2020-02-30"}',
    '{"@bytes":"*"}',
    '{"@set":{"op":"match"}}',
    '{"@set":{"op":"filter","set":1}}',
    '{"@set":{"op":"shuffle"}}',
    '{"@query":{}}',
    '{"@double":"one"}',
    '{"@other":1}',
    '{"@other":"x"}',
  ]) {
    expect(() => parseStored(text, hooks)).toThrow(
      expect.objectContaining({ code: 'local_data_loss' }),
    );
  }
  expect(() => parseStored('{"a":', hooks)).toThrow(JsonError);
});
