import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { Refusal } from '../errors.ts';
import { anyPair, anyPlain, anyRef } from '../values/arbitrary.ts';
import { compareRefs, compareValues } from '../values/compare.ts';
import { Double, integer, Ref, type Value } from '../values/value.ts';
import {
  after,
  collectionPrefix,
  databaseFrom,
  databasePrefix,
  decodeDocumentKey,
  decodeEntry,
  decodeEntryBelow,
  decodeHistoryEntry,
  decodeHistoryKey,
  documentKey,
  entryKey,
  entryKeyBelow,
  historyEntryKey,
  historyKey,
  indexPrefix,
  type Key,
  LOWEST_KEY,
  logKey,
  metaKey,
  refBytes,
  refOfKey,
  refPrefix,
  sharedIndexPrefix,
  sharedTermsPrefix,
  termsPrefix,
  termsPrefixOf,
  valuesPrefix,
} from './key.ts';
import { encodeValue } from './ordered.ts';

const hex = (raw: string): string =>
  Array.from(raw, (unit) => unit.charCodeAt(0).toString(16).padStart(2, '0')).join('');
const compareKeys = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);

const anyId = fc.oneof(
  fc.constantFrom(0n, 1n, 2n ** 53n + 1n, 2n ** 63n - 1n),
  fc.bigInt({ min: 0n, max: 2n ** 63n - 1n }),
);
const anyNumber32 = fc.oneof(
  fc.constantFrom(0, 1, 1024, 2 ** 31, 2 ** 32 - 1),
  fc.integer({ min: 0, max: 2 ** 32 - 1 }),
);
const anyMicros = fc.oneof(
  fc.constantFrom(0, -1, 1, Number.MAX_SAFE_INTEGER, Number.MIN_SAFE_INTEGER),
  fc.maxSafeInteger(),
);

interface Tuple {
  readonly values: readonly Value[];
  readonly ref: Ref;
  readonly ttl: number | undefined;
}
const tupleOf = (count: number): fc.Arbitrary<Tuple> =>
  fc.record({
    values: fc.array(anyPlain, { minLength: count, maxLength: count }),
    ref: anyRef.map(({ collection, id }) => new Ref(3, collection, id)),
    ttl: fc.option(anyMicros, { nil: undefined }),
  });
const anyShape = fc.array(fc.boolean(), { maxLength: 3 });
const terms = ['term', 1];
const keyOf = (reverse: readonly boolean[], { values, ref, ttl }: Tuple): Key =>
  entryKey({ database: 3, index: 32_768, terms, values, reverse, ref, ttl });

/** Compares tuples in the order of a set. Spec: sets 3. */
function compareTuples(reverse: readonly boolean[], a: Tuple, b: Tuple): number {
  for (const [at, value] of a.values.entries()) {
    const order = compareValues(value, b.values[at] ?? null);
    if (order !== 0) return Math.sign(reverse[at] ? -order : order);
  }
  return Math.sign(compareRefs(a.ref, b.ref));
}

test('entryKey() orders entries by values, each ascending or descending, then by ref', () => {
  fc.assert(
    fc.property(
      anyShape.chain((reverse) =>
        fc.tuple(fc.constant(reverse), tupleOf(reverse.length), tupleOf(reverse.length), fc.nat(3)),
      ),
      ([reverse, a, other, shared]) => {
        const b = {
          ...other,
          values: [...a.values.slice(0, shared), ...other.values.slice(shared)],
        };
        const order = compareTuples(reverse, a, b);
        fc.pre(order !== 0);
        expect(compareKeys(keyOf(reverse, a), keyOf(reverse, b))).toBe(order);
      },
    ),
    { numRuns: 2000 },
  );
});

test('entryKey() distinguishes 1 from 1.0, and entries with a ttl from those without', () => {
  const ref = new Ref(3, 1024, 1n);
  const keys = [
    keyOf([false], { values: [1], ref, ttl: undefined }),
    keyOf([false], { values: [new Double(1)], ref, ttl: undefined }),
    keyOf([false], { values: [1], ref, ttl: 5 }),
    keyOf([false], { values: [[1]], ref, ttl: undefined }),
    keyOf([false], { values: [[new Double(1)]], ref, ttl: undefined }),
  ];
  expect(new Set(keys).size).toBe(keys.length);
  const next = keyOf([false], { values: [1], ref: new Ref(3, 1024, 2n), ttl: undefined });
  expect(keys.slice(0, 3).every((key) => key < next)).toBe(true);
});

const wellFormed = (value: Value): Value =>
  typeof value === 'string'
    ? value.replace(/\p{Surrogate}/gu, '?')
    : Array.isArray(value)
      ? value.map(wellFormed)
      : value instanceof Map
        ? new Map([...value].map(([key, each]) => [key, wellFormed(each as Value)]))
        : value;

test('decodeEntry() returns values with their number types, ref and ttl', () => {
  fc.assert(
    fc.property(
      anyShape.chain((reverse) => fc.tuple(fc.constant(reverse), tupleOf(reverse.length))),
      fc.array(anyPlain, { maxLength: 2 }),
      fc.string(),
      ([reverse, tuple], someTerms, tail) => {
        const { values, ref, ttl } = tuple;
        const key = entryKey({
          database: 3,
          index: 9,
          terms: someTerms,
          values,
          reverse,
          ref,
          ttl,
        });
        expect(decodeEntry((key + tail) as Key, values.length, reverse)).toEqual({
          values: values.map(wellFormed),
          ref,
          ttl,
        });
        const terms = termsPrefix(3, 9, someTerms);
        const { refAt, ...found } = decodeEntryBelow(terms, 3, (key + tail) as Key, reverse);
        expect(found).toEqual(decodeEntry((key + tail) as Key, values.length, reverse));
        expect(key.slice(0, refAt)).toBe(valuesPrefix(terms, values, reverse));
      },
    ),
    { numRuns: 1000 },
  );
});

test('decodeEntry() distinguishes the ref of the entry from values that are refs, even the same ref', () => {
  const ref = new Ref(3, 1024, 77n);
  const others = [new Ref(3, 1024, 78n), new Ref(3, 1025, 77n), new Ref(4, 1024, 77n)];
  for (const value of [ref, ...others])
    for (const isReversed of [false, true])
      for (const values of [[value], ['x', value], [value, 'x']]) {
        const reverse = values.map(() => isReversed);
        const key = entryKey({ database: 3, index: 9, terms: [], values, reverse, ref });
        const found = { values, ref, ttl: undefined };
        expect(decodeEntry(key, values.length, reverse)).toEqual(found);
      }
});

test('decodeEntry() keeps the number types of up to 40 numbers', () => {
  fc.assert(
    fc.property(fc.array(fc.boolean(), { maxLength: 40 }), (doubles) => {
      const value = doubles.map((isDouble, index) => (isDouble ? new Double(index) : index));
      const ref = new Ref(3, 1024, 1n);
      const key = keyOf([false], { values: [value], ref, ttl: undefined });
      expect(decodeEntry(key, 1, [false]).values).toEqual([value]);
    }),
  );
});

test('entryKeyBelow() makes the same key as entryKey()', () => {
  const ref = new Ref(3, 1024, 1n);
  const entry = { database: 3, index: 9, terms, values: [1, 'x'], reverse: [true], ref, ttl: 7 };
  expect(entryKeyBelow(termsPrefix(3, 9, terms), entry)).toBe(entryKey(entry));
});

test('termsPrefix() is the prefix of the entries with these terms, and of no others', () => {
  fc.assert(
    fc.property(anyPair(anyPlain), fc.boolean(), ([a, b], longer) => {
      const ref = new Ref(3, 1024, 1n);
      const prefix = termsPrefix(3, 9, [a]);
      const own = entryKey({ database: 3, index: 9, terms: [a], values: [], reverse: [], ref });
      expect(own.startsWith(prefix)).toBe(true);
      const others = longer ? [a, b] : [b];
      const other = entryKey({
        database: 3,
        index: 9,
        terms: others,
        values: [],
        reverse: [],
        ref,
      });
      expect(other.startsWith(prefix)).toBe(termsPrefix(3, 9, others) === prefix);
    }),
  );
  expect(termsPrefix(3, 9, [1])).not.toBe(termsPrefix(3, 9, [new Double(1)]));
  expect(termsPrefix(3, 9, [[1]])).not.toBe(termsPrefix(3, 9, [[new Double(1)]]));
});

test('termsPrefixOf() returns the terms prefix of an entry and of longer keys', () => {
  fc.assert(
    fc.property(
      fc.array(anyPlain, { maxLength: 3 }),
      tupleOf(1),
      fc.string({
        unit: fc.integer({ min: 0, max: 255 }).map((byte) => String.fromCharCode(byte)),
      }),
      (terms, tuple, tail) => {
        const prefix = termsPrefix(3, 9, terms);
        const entry = entryKey({ database: 3, index: 9, terms, reverse: [true], ...tuple });
        expect(termsPrefixOf(entry)).toBe(prefix);
        expect(termsPrefixOf(prefix + tail)).toBe(prefix);
        expect(sharedTermsPrefix(prefix, after(prefix))).toBe(prefix);
        expect(sharedTermsPrefix(entry, after(entry))).toBe(prefix);
        expect(sharedTermsPrefix(entry, after(indexPrefix(3, 9)))).toBe(undefined);
      },
    ),
  );
  expect(termsPrefixOf('')).toBe(undefined);
  expect(termsPrefixOf(indexPrefix(3, 9))).toBe(undefined);
  expect(termsPrefixOf(`${indexPrefix(3, 9)}\xffno tag`)).toBe(undefined);
});

test('sharedIndexPrefix() is the prefix of the one index or collection that contains the whole range', () => {
  const prefix = indexPrefix(3, 9);
  const entry = termsPrefix(3, 9, ['a']);
  expect(sharedIndexPrefix(prefix, after(prefix))).toBe(prefix);
  expect(sharedIndexPrefix(entry, after(entry))).toBe(prefix);
  expect(sharedIndexPrefix(entry, indexPrefix(3, 10))).toBe(prefix);
  expect(sharedIndexPrefix(entry, after(indexPrefix(3, 10)))).toBe(undefined);
  expect(sharedIndexPrefix(databasePrefix(3), after(prefix))).toBe(undefined);
  expect(sharedIndexPrefix(indexPrefix(3, 0xffff_ffff), databasePrefix(4))).toBe(
    indexPrefix(3, 0xffff_ffff),
  );
});

test('valuesPrefix() is the prefix of entries that begin with these values, whatever their number types', () => {
  const ref = new Ref(3, 1024, 1n);
  const below = termsPrefix(3, 32_768, terms);
  for (const reverse of [[], [true], [true, true]]) {
    const prefix = valuesPrefix(below, [1], reverse);
    const holds = (values: readonly Value[]): boolean =>
      keyOf(reverse, { values, ref, ttl: undefined }).startsWith(prefix);
    expect(holds([1, 'x'])).toBe(true);
    expect(holds([new Double(1), 'x'])).toBe(true);
    expect(holds([1.5, 'x'])).toBe(false);
  }
});

test('valuesPrefix() of a text is not the prefix of longer texts', () => {
  const ref = new Ref(3, 1024, 1n);
  const below = termsPrefix(3, 32_768, terms);
  for (const reverse of [[false], [true]]) {
    const longer = keyOf(reverse, { values: ['a\0'], ref, ttl: undefined });
    expect(longer.startsWith(valuesPrefix(below, ['a'], reverse))).toBe(false);
  }
});

test('documentKey() orders by database, collection and id, and decodeDocumentKey() reads it', () => {
  const anyAddress = fc.record({ database: anyNumber32, collection: anyNumber32, id: anyId });
  fc.assert(
    fc.property(anyAddress, anyAddress, (a, b) => {
      const [x, y] = [a, b].map((each) => documentKey(each.database, each.collection, each.id));
      expect(decodeDocumentKey(x!)).toEqual(a);
      const order =
        a.database - b.database ||
        a.collection - b.collection ||
        (a.id < b.id ? -1 : a.id > b.id ? 1 : 0);
      expect(compareKeys(x!, y!)).toBe(Math.sign(order));
    }),
  );
});

test('historyKey() orders versions of a document by time, and decodeHistoryKey() reads it', () => {
  fc.assert(
    fc.property(
      anyNumber32,
      anyNumber32,
      anyId,
      anyMicros,
      anyMicros,
      (database, collection, id, a, b) => {
        const [x, y] = [a, b].map((ts) => historyKey(database, collection, id, ts));
        expect(decodeHistoryKey(x!)).toEqual({ database, collection, id, ts: a });
        expect(compareKeys(x!, y!)).toBe(Math.sign(a - b));
        expect(x!.startsWith(documentKey(database, collection, id))).toBe(true);
      },
    ),
  );
});

test('historyEntryKey() orders by entry, then by time, and decodeHistoryEntry() reads it', () => {
  fc.assert(
    fc.property(tupleOf(1), tupleOf(1), anyMicros, anyMicros, (a, b, added, removed) => {
      const [x, y] = [keyOf([false], a), keyOf([false], b)];
      const key = historyEntryKey(x, added, removed);
      expect(decodeHistoryEntry(key)).toEqual({ entry: x, added, removed });
      const other = historyEntryKey(y, removed, added);
      const order = compareKeys(x, y) || Math.sign(added - removed);
      expect(compareKeys(key, other)).toBe(order);
    }),
  );
});

test('after() is above all keys with a prefix and below all other higher keys', () => {
  const anyKey = fc
    .array(fc.constantFrom(0, 1, 0x7f, 0xfe, 0xff), { minLength: 1, maxLength: 4 })
    .map((bytes) => String.fromCharCode(...bytes) as Key);
  fc.assert(
    fc.property(anyKey, anyKey, (prefix, other) => {
      fc.pre(!/^\u00ff+$/.test(prefix));
      const upper = after(prefix);
      expect(other < upper).toBe(other < prefix || other.startsWith(prefix));
      expect(prefix + other < upper).toBe(true);
    }),
  );
  expect(() => after('\u00ff\u00ff' as Key)).toThrow('nothing is above it');
});

test('prefixes of databases, collections and indexes begin the keys within them', () => {
  const key = documentKey(3, 1024, 5n);
  expect(key.startsWith(databasePrefix(3))).toBe(true);
  expect(key.startsWith(collectionPrefix(3, 1024))).toBe(true);
  expect(termsPrefix(3, 9, []).startsWith(indexPrefix(3, 9))).toBe(true);
});

test('databaseFrom() is the first database with keys that are not below a key', () => {
  expect(databaseFrom(LOWEST_KEY)).toBe(0);
  expect(databaseFrom(documentKey(255, 1024, 5n))).toBe(255);
  for (const database of [0, 254, 255, 256, 65_535])
    expect(databaseFrom(after(databasePrefix(database)))).toBe(database + 1);
});

test('refBytes() has the order of refs', () => {
  fc.assert(
    fc.property(anyRef, anyRef, (a, b) => {
      const order = compareRefs(new Ref(0, a.collection, a.id), new Ref(0, b.collection, b.id));
      expect(compareKeys(refBytes(a), refBytes(b))).toBe(Math.sign(order));
    }),
  );
});

test('keys have the bytes in docs/store-format.md', () => {
  const ref = new Ref(7, 1024, 101n);
  const entry = entryKey({
    database: 7,
    index: 32_768,
    terms: ['a', new Double(1)],
    values: [integer(1n), false],
    reverse: [false, true],
    ref,
    ttl: 1,
  });
  const pin = (key: Key, ...parts: readonly string[]): void =>
    expect(hex(key)).toBe(parts.join(''));
  const document = ['00000007', '00000400', '8000000000000065'];
  pin(documentKey(7, 1024, 101n), ...document);
  pin(historyKey(7, 1024, 101n, 1_600_000_000_000_000), ...document, '8005af3107a40000');
  // Terms: the first number is a Double. Values: 1, and false in descending order.
  const shownTerms = ['20610001', '10bff00000000000008000', '04', '01'];
  const shownValues = ['10bff00000000000008000', '97'];
  const shownRef = ['8000000000000065', '00000400'];
  const typesAndTtl = ['00', '01', '8000000000000001'];
  pin(entry, '00000007', '00008000', ...shownTerms, ...shownValues, ...shownRef, ...typesAndTtl);
  pin(historyEntryKey('e' as Key, 1, 2), '65', '8000000000000001', '8000000000000002');
  pin(metaKey('head'), '68656164', '0001');
  pin(logKey(1, 2), '8000000000000001', '8000000000000002');
});

test('refOfKey() returns the ref of a document key and of a history key', () => {
  const ref = new Ref(7, 1024, 101n);
  expect(refOfKey(documentKey(7, 1024, 101n))).toEqual(ref);
  expect(refOfKey(historyKey(7, 1024, 101n, 5))).toEqual(ref);
});

test('refPrefix() is the prefix of the entries of one document, between those of its neighbours', () => {
  const terms = termsPrefix(3, 9, ['x']);
  const entryOf = (id: bigint) =>
    entryKeyBelow(valuesPrefix(terms, [1], []), {
      values: [],
      reverse: [],
      ref: new Ref(3, 1024, id),
      ttl: undefined,
    });
  const prefix = refPrefix(valuesPrefix(terms, [1], []), new Ref(3, 1024, 2n));
  expect([1n, 2n, 3n].map((id) => entryOf(id).startsWith(prefix))).toEqual([false, true, false]);
  expect(entryOf(1n) < prefix && prefix < entryOf(3n)).toBe(true);
});

test('decoders refuse malformed keys with a message that names the error', () => {
  const key = entryKey({
    database: 1,
    index: 2,
    terms: [],
    values: [1],
    reverse: [],
    ref: new Ref(1, 1024, 1n),
  });
  const cut = key.slice(0, -1) as Key;
  const odd = (cut + '\u0002') as Key;
  for (const [decode, message] of [
    [() => decodeDocumentKey('abc' as Key), 'not the length of a document key'],
    [() => refOfKey('abc' as Key), 'not the length of a document key'],
    [() => decodeHistoryKey('abc' as Key), 'not the length of a history key'],
    [() => decodeEntry(cut, 1, []), 'it ends early'],
    [() => decodeEntry(odd, 1, []), 'neither with nor without ttl'],
    [() => decodeHistoryEntry('abc' as Key), 'it ends early'],
  ] as const) {
    expect(decode).toThrow(Refusal);
    expect(decode).toThrow(message);
  }
});

test('valuesPrefix() appends what encodeValue() returns', () => {
  expect(valuesPrefix('' as Key, ['x', 2], [])).toBe(encodeValue('x') + encodeValue(2));
});
