import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { LIMITS } from '../limits.ts';
import { anyDouble, anyInteger, anyString, anyWellFormedString } from '../values/arbitrary.ts';
import { Double } from '../values/value.ts';
import { JsonError, parseJson, quote, stringifyJson, wellFormed, type Json } from './json.ts';

/** The value that `JSON.parse` would have returned. */
function toPlain(json: Json): unknown {
  if (json instanceof Double) return json.value;
  if (typeof json === 'bigint') return Number(json);
  if (Array.isArray(json)) return json.map(toPlain);
  if (json instanceof Map) {
    return Object.fromEntries([...json].map(([key, value]) => [key, toPlain(value as Json)]));
  }
  return json;
}

const { json: anyJson } = fc.letrec<{ json: Json }>((tie) => ({
  json: fc.oneof(
    { depthSize: 'small' },
    fc.constantFrom(null, true, false),
    anyInteger,
    anyDouble.filter((value) => Number.isFinite(value instanceof Double ? value.value : value)),
    anyWellFormedString,
    fc.array(tie('json'), { maxLength: 4 }),
    fc
      .array(fc.tuple(anyWellFormedString, tie('json')), { maxLength: 4 })
      .map((members) => new Map(members)),
  ),
}));

test('parseJson() agrees with JSON.parse on valid texts', () => {
  fc.assert(
    fc.property(
      fc.jsonValue({ noUnicodeString: false }),
      fc.constantFrom(0, 1, '\t'),
      (value, space) => {
        const text = JSON.stringify(value, null, space);
        fc.pre(!/\d{19}/.test(text));
        expect(toPlain(parseJson(text))).toEqual(JSON.parse(text));
      },
    ),
    { numRuns: 500 },
  );
});

test('parseJson() refuses the same texts as JSON.parse', () => {
  const pieces = [
    ['{', '}', '[', ']', ',', ':', '"', '\\', '"a"', '1', '0', '-', '.', 'e', '+', ' ', '\n'],
    ['true', 'null', 'fals', '\\u00', '\\u0041', '\\x', '\u0001', '01', '-0', '1.5', '2e3'],
  ].flat();
  const faultOf = (parse: (text: string) => unknown, text: string): unknown => {
    try {
      parse(text);
      return undefined;
    } catch (error) {
      return error;
    }
  };
  fc.assert(
    fc.property(fc.array(fc.constantFrom(...pieces), { maxLength: 6 }), (some) => {
      const text = some.join('');
      fc.pre(!/\d{16}/.test(text));
      const [ours, theirs] = [faultOf(parseJson, text), faultOf(JSON.parse, text)];
      expect(ours instanceof JsonError).toBe(theirs instanceof SyntaxError);
      expect(ours === undefined).toBe(theirs === undefined);
    }),
    { numRuns: 5000 },
  );
});

test('stringifyJson() is the inverse of parseJson()', () => {
  fc.assert(
    fc.property(anyJson, (json) => {
      const text = stringifyJson(json);
      expect(parseJson(text)).toEqual(json);
      expect(stringifyJson(parseJson(text))).toBe(text);
    }),
    { numRuns: 1000 },
  );
});

test('parseJson() distinguishes int64 from double', () => {
  const cases: readonly (readonly [string, Json])[] = [
    ['1', 1],
    ['-0', 0],
    ['1.0', new Double(1)],
    ['1e2', new Double(100)],
    ['1E-2', 0.01],
    ['-0.0', new Double(-0)],
    ['1e400', Infinity],
    ['9007199254740991', 9007199254740991],
    ['9007199254740992', 9007199254740992n],
    ['9223372036854775807', 9223372036854775807n],
    ['-9223372036854775808', -9223372036854775808n],
    ['9223372036854775808.0', new Double(2 ** 63)],
  ];
  for (const [text, value] of cases) expect(parseJson(text)).toStrictEqual(value);
});

test('stringifyJson() writes infinity as a number too large for a double', () => {
  const text = stringifyJson(parseJson('[1e400,-1e400]'));
  expect(JSON.parse(text)).toEqual([Infinity, -Infinity]);
  expect(parseJson(text)).toEqual([Infinity, -Infinity]);
});

test('parseJson() refuses integers outside int64, of any length', () => {
  for (const text of ['9223372036854775808', '-9223372036854775809', '1'.repeat(100_000)]) {
    expect(() => parseJson(`[${text}]`)).toThrow(
      expect.objectContaining({ reason: 'integer range', offset: 1 }),
    );
  }
});

test('parseJson() keeps the order of members, and the first of duplicate members', () => {
  const json = parseJson('{"b":1,"2":2,"1":3,"b":4,"__proto__":5}');
  expect([...(json as ReadonlyMap<string, Json>)]).toEqual([
    ['b', 1],
    ['2', 2],
    ['1', 3],
    ['__proto__', 5],
  ]);
});

test('parseJson() replaces lone surrogates by ? and keeps pairs', () => {
  expect(parseJson(String.raw`"\ud800x\ude00\ud83d\ude00"`)).toBe('?x?😀');
  expect(parseJson('"\ud800"')).toBe('?');
  expect(parseJson(String.raw`"😀\ude00"`)).toBe('😀?');
  expect(parseJson(String.raw`{"\udfff":"\\\/\b\f\n\r\t\"A"}`)).toEqual(
    new Map([['?', '\\/\b\f\n\r\t"A']]),
  );
});

test('parseJson() accepts nesting up to its limit', () => {
  const { jsonDepth } = LIMITS;
  const nested = (depth: number): string => '['.repeat(depth) + ']'.repeat(depth);
  expect(() => parseJson(nested(jsonDepth))).not.toThrow();
  expect(() => parseJson('{"a":'.repeat(jsonDepth) + '1' + '}'.repeat(jsonDepth))).not.toThrow();
  expect(() => parseJson(nested(jsonDepth + 1))).toThrow(
    expect.objectContaining({ reason: 'depth', offset: jsonDepth }),
  );
  expect(() => parseJson('['.repeat(1_000_000))).toThrow(
    expect.objectContaining({ reason: 'depth' }),
  );
  expect(() => parseJson(nested(3), 2)).toThrow(expect.objectContaining({ reason: 'depth' }));
  expect(() => parseJson(`[${'[],'.repeat(5000)}[]]`)).not.toThrow();
});

test('parseJson() reads long texts with escapes, and gives the offset of a syntax error in them', () => {
  const long = 'a\\n'.repeat(1000);
  expect(parseJson(`["${long}\\ud800\\u00e9\\"",1]`)).toEqual([`${'a\n'.repeat(1000)}?é"`, 1]);
  for (const [end, at] of [
    ['\\x"', 1],
    ['\n"', 0],
    ['\\u12"', 1],
    ['\\', 1],
    ['', 0],
  ] as const) {
    const offset = long.length + 1 + at;
    expect(() => parseJson(`"${long}${end}`)).toThrow(
      expect.objectContaining({ reason: 'syntax', offset }),
    );
  }
});

test('parseJson() gives the offset of a syntax error', () => {
  for (const [text, offset] of [
    ['', 0],
    ['[1,]', 3],
    ['{"a" 1}', 5],
    ['"abc', 4],
    ['[1] x', 4],
    ['{a:1}', 1],
    ['\ufeff1', 0],
  ] as const) {
    expect(() => parseJson(text)).toThrow(expect.objectContaining({ reason: 'syntax', offset }));
  }
});

test('quote() writes literals that JSON.parse reads, with ? for lone surrogates', () => {
  fc.assert(
    fc.property(anyString, (text) => {
      expect(JSON.parse(quote(text))).toBe(wellFormed(text));
    }),
    { numRuns: 1000 },
  );
  expect(quote('a"\n\u2028😀\ud800')).toBe('"a\\"\\n\u2028😀?"');
});
