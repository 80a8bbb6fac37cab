import { readFileSync } from 'node:fs';
import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { Refusal } from '../errors.ts';
import { anyLambda, anyPair, anyPlain, anyValue } from '../values/arbitrary.ts';
import { compareValues } from '../values/compare.ts';
import {
  Action,
  Bytes,
  DateValue,
  Double,
  integer,
  isArray,
  isKind,
  isObject,
  PENDING,
  Ref,
  Time,
  UnresolvedRef,
  Uuid,
  type Lambda,
  type Value,
} from '../values/value.ts';
import { wellFormed } from './json.ts';
import type { Cursor } from './ordered-bytes.ts';
import {
  encodeReversed,
  encodeValue,
  readValue,
  skipValue,
  TAG,
  type ReadLambda,
} from './ordered.ts';

const compareKeys = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);
const hex = (raw: string): string =>
  Array.from(raw, (unit) => unit.charCodeAt(0).toString(16).padStart(2, '0')).join('');
const raw = (bytes: string): string =>
  (bytes.match(/../g) ?? []).map((byte) => String.fromCharCode(Number.parseInt(byte, 16))).join('');

const readLambda = (wire: string, apiVersion: string): Lambda => ({
  kind: 'lambda',
  pattern: /"lambda":"(\w+)"/.exec(wire)?.[1] ?? '',
  body: undefined,
  captures: new Map(),
  apiVersion,
  wire,
});

const readAll = (key: string, read?: ReadLambda): Value => readValue({ key, at: 0, mask: 0 }, read);

test('encodeValue() has the order of compareValues()', () => {
  fc.assert(
    fc.property(anyPair(anyValue), ([a, b]) => {
      expect(compareKeys(encodeValue(a), encodeValue(b))).toBe(Math.sign(compareValues(a, b)));
    }),
    { numRuns: 3000 },
  );
});

test('encodeReversed() reverses the order', () => {
  fc.assert(
    fc.property(anyPair(anyPlain), ([a, b]) => {
      const [x, y] = [encodeReversed(encodeValue(a)), encodeReversed(encodeValue(b))];
      expect(compareKeys(x, y)).toBe(-Math.sign(compareValues(a, b)) + 0);
    }),
    { numRuns: 1000 },
  );
});

test('encodeValue() writes one byte per character', () => {
  fc.assert(
    fc.property(anyValue, (value) => {
      expect(Array.from(encodeValue(value)).every((unit) => unit <= '\u00ff')).toBe(true);
    }),
  );
});

test('encodeValue() never writes a prefix of another encoded value', () => {
  fc.assert(
    fc.property(anyPair(anyValue), ([a, b]) => {
      const [x, y] = [encodeValue(a), encodeValue(b)];
      expect(x.startsWith(y) || y.startsWith(x)).toBe(x === y);
    }),
    { numRuns: 2000 },
  );
});

/** The value without the differences that its ordered bytes do not record. */
function lossy(value: Value): Value {
  if (typeof value === 'string') return wellFormed(value);
  if (value instanceof Double) {
    const { value: number } = value;
    const isInt64 = number >= -(2 ** 63) && number < 2 ** 63 && !Object.is(number, -0);
    return isInt64 ? integer(BigInt(number)) : value;
  }
  if (isArray(value)) return value.map(lossy);
  if (!isObject(value)) return value;
  return new Map(
    [...value]
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .map(([key, each]) => [wellFormed(key), lossy(each)]),
  );
}

test('readValue() reverses encodeValue(), except for number types and member order', () => {
  fc.assert(
    fc.property(anyPlain, fc.string(), (value, before) => {
      const bytes = before + encodeValue(value);
      const cursor: Cursor = { key: `${bytes}tail`, at: before.length, mask: 0 };
      const decoded = readValue(cursor);
      expect(cursor.at).toBe(bytes.length);
      expect(encodeValue(decoded)).toBe(encodeValue(value));
      expect(decoded).toEqual(lossy(value));
    }),
    { numRuns: 1000 },
  );
});

test('readValue() reads pending times, unresolved refs and lambdas', () => {
  for (const value of [PENDING, new UnresolvedRef('index', 'a\0', '{"id":"a"}')]) {
    expect(readAll(encodeValue(value))).toEqual(value);
  }
  fc.assert(
    fc.property(anyLambda, (lambda) => {
      expect(readAll(encodeValue(lambda), readLambda)).toEqual(lambda);
    }),
  );
});

test('readValue() returns exact integers beyond 53 bits', () => {
  for (const value of [2n ** 63n - 1n, -(2n ** 63n), 2n ** 53n + 1n, 2n ** 53n]) {
    expect(readAll(encodeValue(value))).toBe(value);
  }
  expect(readAll(encodeValue(new Double(2 ** 63)))).toEqual(new Double(2 ** 63));
});

test('skipValue() moves the cursor as far as readValue()', () => {
  fc.assert(
    fc.property(anyValue, fc.constantFrom(0, 0xff), (value, mask) => {
      const encoded = encodeValue(value);
      const key = `${mask === 0xff ? encodeReversed(encoded) : encoded}x`;
      const reader: Cursor = { key, at: 0, mask };
      const skipper: Cursor = { key, at: 0, mask };
      readValue(reader, readLambda);
      skipValue(skipper);
      expect([reader.at, skipper.at]).toEqual([encoded.length, encoded.length]);
    }),
  );
});

test('readValue() reads reversed bytes', () => {
  fc.assert(
    fc.property(anyPlain, (value) => {
      const key = encodeReversed(encodeValue(value));
      const decoded = readValue({ key, at: 0, mask: 0xff });
      expect(encodeValue(decoded)).toBe(encodeValue(value));
    }),
  );
});

const VECTORS: readonly (readonly [Value, string])[] = [
  [new Double(-0), '107fffffffffffffff8000'],
  [0, '1080000000000000008000'],
  [1, '10bff00000000000008000'],
  [new Double(1), '10bff00000000000008000'],
  [-1.5, '104007ffffffffffff8000'],
  [2n ** 63n - 1n, '10c3e00000000000007fff'],
  [2n ** 53n + 1n, '10c3400000000000008001'],
  [Number.NaN, '10fff80000000000008000'],
  [Infinity, '10fff00000000000008000'],
  [new Bytes(Uint8Array.of(0, 255)), '1800ffff0001'],
  ['', '200001'],
  ['a\0b', '206100ff620001'],
  ['é～😀', '20c3a9efbd9ef09f98800001'],
  ['\ud800', '203f0001'],
  [new Action('create'), '206372656174650001'],
  [[], '2804'],
  [[null, 'a'], '28782061000104'],
  [
    new Map<string, Value>([
      ['b', 1],
      ['a', true],
    ]),
    '3020610001702062000110bff0000000000000800004',
  ],
  [new Ref(7, 1024, 101n), '3880000000000000650000040000000007'],
  [new UnresolvedRef('index', 'x', '{}'), '3c696e64657800017800017b7d0001'],
  [new Time(-1n), '407fffffffffffffff3b9ac9ff'],
  [new DateValue(-1), '487fffffffffffffff'],
  [readLambda('"w"', '4'), '502277220001340001'],
  [PENDING, '58'],
  [
    new Uuid('00000000-0000-0000-0000-000000000000'),
    `60${hex('00000000-0000-0000-0000-000000000000')}0001`,
  ],
  [false, '68'],
  [true, '70'],
  [null, '78'],
];

test('encodeValue() writes the bytes in docs/store-format.md', () => {
  for (const [value, bytes] of VECTORS) expect(hex(encodeValue(value))).toBe(bytes);
});

test('docs/store-format.md lists every tag and the bytes of every kind', () => {
  const register = readFileSync(new URL('../../docs/store-format.md', import.meta.url), 'utf8');
  const shown = new Set(register.match(/`[0-9a-f]+`/g));
  for (const tag of Object.values(TAG))
    expect(shown).toContain(`\`${hex(String.fromCharCode(tag))}\``);
  for (const [, bytes] of VECTORS) expect(shown).toContain(`\`${bytes}\``);
});

test('the test vectors contain every tag', () => {
  const seen = new Set(VECTORS.map(([, bytes]) => Number.parseInt(bytes.slice(0, 2), 16)));
  expect([...seen, TAG.end].sort((a, b) => a - b)).toEqual(
    Object.values(TAG).sort((a, b) => a - b),
  );
});

test('readValue() refuses malformed bytes with a message that names the error', () => {
  const cases: readonly (readonly [string, string])[] = [
    ['', 'ends early'],
    ['77', 'unknown tag 77'],
    ['10bff0', 'ends early'],
    ['2061', 'text without an end'],
    ['20ff0001', 'invalid UTF-8'],
    ['20eda0800001', 'invalid UTF-8'],
    ['2878', 'ends early'],
    ['3010bff0', 'a member without a key'],
    ['48ffffffffffffffff', 'beyond 53 bits'],
    ['502277220001340001', 'a lambda where none is read'],
  ];
  for (const [bytes, message] of cases) {
    const decode = (): unknown => readAll(raw(bytes));
    expect(decode).toThrow(Refusal);
    expect(decode).toThrow(message);
  }
  expect(() => readAll('\u0120')).toThrow('no byte');
});

test('skipValue() refuses malformed bytes', () => {
  for (const bytes of ['', '77', '10bff0', '2061', '2878', '38000001']) {
    expect(() => skipValue({ key: raw(bytes), at: 0, mask: 0 })).toThrow(Refusal);
  }
});

test('encodeValue() encodes documents, events, pages and sets as objects', () => {
  const ref = new Ref(0, 1024, 1n);
  const page = {
    kind: 'page',
    before: undefined,
    after: [1],
    data: [2],
    cursors: undefined,
  } as const;
  expect(encodeValue(page)).toBe(
    encodeValue(
      new Map([
        ['after', [1]],
        ['data', [2]],
      ]),
    ),
  );
  const set = { kind: 'set', op: 'singleton', ref } as const;
  expect(encodeValue(set)).toBe(encodeValue(new Map([['@set', new Map([['singleton', ref]])]])));
  expect(isKind(readAll(encodeValue(set)), 'set')).toBe(false);
});
