import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { q } from './builders.ts';
import { decodeInSlices, decodeWire } from './decode.ts';
import { encodeQuery } from './encode.ts';
import { parseWire, revive } from './revive.ts';
import { Bytes, Double, FaunaDate, FaunaTime, Query, Ref, SetRef, Uuid } from './values.ts';

const notes = new Ref('notes', new Ref('collections'));

test('decodeWire() decodes each tag to its value', async () => {
  const text = `{
    "ref": {"@ref":{"id":"7","collection":{"@ref":{"id":"notes","collection":{"@ref":{"id":"collections"}}}}}},
    "scoped": {"@ref":{"id":"keys","database":{"@ref":{"id":"child","collection":{"@ref":{"id":"databases"}}}}}},
    "time": {"@ts":"2026-11-21T10:00:00.000000001Z"}, "date": {"@date":"2026-11-21"},
    "bytes": {"@bytes":"AQL6"}, "uuid": {"@uuid":"0f8a"}, "object": {"@obj":{"@ts":"no time"}},
    "set": {"@set":{"documents":{"@ref":{"id":"notes"}}}},
    "function": {"@query":{"lambda":"x","expr":{"object":{"@obj":{"@odd":{"var":"x"}}}}}}
  }`;
  const scoped = new Ref('keys', undefined, new Ref('child', new Ref('databases')));
  expect(await decodeWire(text)).toEqual({
    ref: new Ref('7', notes),
    scoped,
    time: new FaunaTime('2026-11-21T10:00:00.000000001Z'),
    date: new FaunaDate('2026-11-21'),
    bytes: new Bytes(new Uint8Array([1, 2, 250])),
    uuid: new Uuid('0f8a'),
    object: { '@ts': 'no time' },
    set: new SetRef({ documents: { '@ref': { id: 'notes' } } }),
    function: new Query({ lambda: 'x', expr: { object: { '@obj': { '@odd': { var: 'x' } } } } }),
  });
});

test('decodeWire() keeps large integers exact', async () => {
  const text =
    '[9007199254740991,9007199254740992,-9223372036854775808,1763722995000000,1.0,1e2,"9007199254740993",{"a":-9007199254740993}]';
  expect(await decodeWire(text)).toEqual([
    9007199254740991,
    9007199254740992n,
    -9223372036854775808n,
    1763722995000000,
    1,
    100,
    '9007199254740993',
    { a: -9007199254740993n },
  ]);
});

test('decodeWire() keeps functions and sets so that they can be encoded unchanged', async () => {
  const wires = [
    '{"@query":{"lambda":"x","expr":{"add":[{"var":"x"},1.0,9007199254740993,2.5,1e21]}}}',
    '{"@set":{"match":{"@ref":{"id":"i","collection":{"@ref":{"id":"indexes"}}}},"terms":[1.0,"1.0",{"@obj":{"@a":2.0}}]}}',
    '{"@query":{"lambda":["a","b"],"expr":{"object":{"@obj":{"@ts":{"var":"a"}}}},"api_version":"4"}}',
  ];
  for (const wire of wires) {
    expect(encodeQuery(await decodeWire(wire))).toBe(wire.replace('1e21', '1e+21'));
    expect(encodeQuery(await decodeInSlices(wire, 32))).toBe(wire.replace('1e21', '1e+21'));
  }
});

test('decodeWire() treats __proto__ as an ordinary member', async () => {
  for (const piece of [32, 1000]) {
    const value = await decodeInSlices(
      '{"a":{"__proto__":{"polluted":[1,2,3,"some more text to be cut"]}}}',
      piece,
    );
    expect(JSON.stringify(value)).toBe(
      '{"a":{"__proto__":{"polluted":[1,2,3,"some more text to be cut"]}}}',
    );
  }
  expect({}).not.toHaveProperty('polluted');
});

const wireText = fc.letrec<{ wire: string }>((tie) => {
  const member = fc.tuple(
    fc.oneof(fc.string(), fc.constantFrom('@ref', '@a', 'id', '__proto__')),
    tie('wire'),
  );
  const members = (entries: readonly (readonly [string, string])[]) =>
    [...new Map(entries)].map(([key, text]) => `${JSON.stringify(key)}:${text}`).join(',');
  const plain = fc.array(member, { maxLength: 4 }).map((entries) => {
    const text = `{${members(entries)}}`;
    return entries.some(([key]) => key.startsWith('@')) ? `{"@obj":${text}}` : text;
  });
  return {
    wire: fc.oneof(
      { depthSize: 'medium' },
      fc.string({ unit: 'binary' }).map((text) => JSON.stringify(text)),
      fc
        .string({ unit: fc.constantFrom('"', '\\', ',', '{', ']', 'a') })
        .map((text) => JSON.stringify(text)),
      fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n }).map(String),
      fc
        .double({ noNaN: true, noDefaultInfinity: true })
        .map((number) => (Number.isInteger(number) ? number.toExponential() : String(number))),
      fc.constantFrom(
        'null',
        'true',
        '1.0',
        '{"@ref":{"id":"7","collection":{"@ref":{"id":"notes","collection":{"@ref":{"id":"collections"}}}}}}',
        '{"@obj":{"@ref":{"id":"7","collection":{"@ref":{"id":"notes","collection":{"@ref":{"id":"collections"}}}}}}}',
        '{"@ref":{"id":"7","collection":{"@ref":{"id":"notes","collection":{"@ref":{"id":"collections"}}}},"database":{"@ref":{"id":"d","collection":{"@ref":{"id":"databases"}}}}}}',
        '{"@ts":"2026-11-21T10:00:00Z"}',
        '{"@bytes":"AQL6"}',
      ),
      fc.array(tie('wire'), { maxLength: 4 }).map((each) => `[${each.join(',')}]`),
      plain,
      plain.map((text) => `{"@set":${text}}`),
      tie('wire').map((text) => `{"@query":{"lambda":"x","expr":${text}}}`),
    ),
  };
}).wire;

test('decodeInSlices() returns the same as one parse, wherever it cuts', async () => {
  await fc.assert(
    fc.asyncProperty(wireText, fc.integer({ min: 32, max: 400 }), async (text, piece) => {
      // In an array, like a page of results, because top-level text is longer than a piece.
      const inArray = `[${text}]`;
      expect(await decodeInSlices(inArray, piece)).toStrictEqual(revive(parseWire(inArray)));
    }),
    { numRuns: 1000 },
  );
});

test('a large page consists of real arrays and refs, like a small one', async () => {
  const entry = (at: number) =>
    `["a, \\"{\\"@ref\\":",${at},{"@ref":{"id":"40000000000000${1000 + at}","collection":{"@ref":{"id":"notes","collection":{"@ref":{"id":"collections"}}}}}}]`;
  const text = `[${Array.from({ length: 1000 }, (_, at) => entry(at)).join(',')}]`;
  const page = (await decodeWire(text)) as unknown[][];
  expect(page).toStrictEqual(revive(parseWire(text)));
  expect(JSON.stringify(page)).toBe(text);
  expect([...page].every((each) => Array.isArray(each) && each[2] instanceof Ref)).toBe(true);
  expect(structuredClone(page)[7]?.[1]).toBe(7);
});

test('decodeWire() restores the values that encodeQuery() wrote', async () => {
  const value = fc.letrec((tie) => ({
    value: fc.oneof(
      fc.string(),
      fc.integer(),
      fc.bigInt({ min: 2n ** 53n, max: 2n ** 63n - 1n }),
      fc.constantFrom(
        notes,
        new FaunaTime('2026-11-21T10:00:00Z'),
        new Bytes(new Uint8Array([0, 255])),
      ),
      fc.array(tie('value'), { maxLength: 3 }),
    ),
  })).value;
  await fc.assert(
    fc.asyncProperty(value, async (each) => {
      expect(await decodeWire(encodeQuery(each))).toEqual(each);
    }),
  );
});

test('encodeQuery() writes a Double with a decimal point or an exponent', () => {
  const doubles = [1, -0, 0.5, 1e21, 2 ** 60, -3].map((each) => new Double(each));
  expect(encodeQuery(q.Add(...(doubles as [Double])))).toBe(
    '{"add":[1.0,-0.0,0.5,1e+21,1152921504606847000.0,-3.0]}',
  );
  expect(encodeQuery(q.Object({ a: new Double(1), b: 2n, c: [undefined], d: undefined }))).toBe(
    '{"object":{"a":1.0,"b":2,"c":[null]}}',
  );
});

test('encodeQuery() refuses a query that contains itself', () => {
  const loop: { self?: unknown } = {};
  loop.self = loop;
  expect(() => encodeQuery(loop)).toThrow('nested too deeply or contains itself');
  expect(() => encodeQuery(undefined)).toThrow('The query is undefined');
});

test('Ref.equals() compares id and collection', () => {
  expect(new Ref('7', notes).equals(new Ref('7', new Ref('notes', new Ref('collections'))))).toBe(
    true,
  );
  expect(new Ref('7', notes).equals(new Ref('8', notes))).toBe(false);
  expect(new Ref('7', notes).equals('7')).toBe(false);
  expect(String(new Ref('7', notes))).toBe('Ref(Collection("notes"), "7")');
});
