/** Arbitraries of values of every kind for property tests, biased to edge cases. Only tests import this file. */
import * as fc from 'fast-check';
import { DAY_MAX, DAY_MIN, NANOS_MAX, NANOS_MIN } from './time.ts';
import {
  Action,
  Bytes,
  DateValue,
  double,
  integer,
  PENDING,
  Ref,
  Time,
  UnresolvedRef,
  Uuid,
  type Document,
  type Double,
  type Event,
  type Lambda,
  type Page,
  type SetValue,
  type Sourced,
  type Value,
} from './value.ts';

const TWO_53 = 2n ** 53n;
const TWO_63 = 2n ** 63n;

const EDGE_INTEGERS: readonly bigint[] = [
  [0n, 1n, -1n, 255n, 256n, 2n ** 32n, -(2n ** 32n)],
  [TWO_53 - 1n, TWO_53, TWO_53 + 1n, -TWO_53, -TWO_53 - 1n],
  [TWO_63 - 1n, TWO_63 - 512n, TWO_63 - 513n, TWO_63 - 1024n, -TWO_63, -TWO_63 + 1n],
  [2n ** 62n, 2n ** 62n + 1n, 2n ** 62n - 1n],
].flat();

export const anyInteger: fc.Arbitrary<number | bigint> = fc
  .oneof(
    fc.constantFrom(...EDGE_INTEGERS),
    fc.bigInt({ min: -TWO_63, max: TWO_63 - 1n }),
    fc.bigInt({ min: -5n, max: 5n }),
  )
  .map(integer);

const EDGE_DOUBLES: readonly number[] = [
  [0, -0, 1, -1, 0.5, -0.5, Number.NaN, Infinity, -Infinity],
  [Number.MIN_VALUE, -Number.MIN_VALUE, Number.MAX_VALUE, -Number.MAX_VALUE],
  [2 ** 53, -(2 ** 53), 2 ** 62, 2 ** 63, -(2 ** 63), 2 ** 63 - 1024, 1e300, 1e-5, 1e7],
].flat();

export const anyDouble: fc.Arbitrary<number | Double> = fc
  .oneof(fc.constantFrom(...EDGE_DOUBLES), fc.double(), fc.integer({ min: -5, max: 5 }))
  .map(double);

// Emoji sort after U+FF5E by bytes but before it by UTF-16 units; lone surrogates are ordered as `?`, because they are stored as `?`.
const EDGE_STRINGS = [
  ['', 'a', 'ab', 'a\0', 'a\0b', '\0', '\0\0', 'a\u0001', 'A', 'é', '\u007f', '\u0080'],
  ['～', '😀', '😁', 'a😀', '\ufffd', '\uffff', '\ud800', '\udc00', 'a\ud83d', '\ud83d?', '?'],
  ['"', '\\', '\n', '@ref', '@obj', '__proto__', '1', '01', '\u2028', 'a'.repeat(300)],
].flat();

const anyUnit: fc.Arbitrary<string> = fc.oneof(
  fc.constantFrom(
    '\0',
    '\u0001',
    'a',
    'b',
    '?',
    'é',
    '～',
    '\ud83d',
    '\ude00',
    '"',
    '\\',
    '\u00ff',
  ),
  fc.integer({ min: 0, max: 0xffff }).map((unit) => String.fromCharCode(unit)),
);

/** Any string, also with lone surrogates. */
export const anyString: fc.Arbitrary<string> = fc.oneof(
  fc.constantFrom(...EDGE_STRINGS),
  fc.string({ unit: 'binary' }),
  fc.string(),
  fc.array(anyUnit, { maxLength: 6 }).map((units) => units.join('')),
);

/** Strings as documents contain them: without lone surrogates. */
export const anyWellFormedString: fc.Arbitrary<string> = anyString.map((text) =>
  text.replace(/\p{Surrogate}/gu, '?'),
);

export const anyBytes: fc.Arbitrary<Bytes> = fc
  .oneof(
    fc.constantFrom([], [0], [0, 0], [0, 1], [0, 255], [255], [255, 255], [1]),
    fc.array(fc.integer({ min: 0, max: 255 }), { maxLength: 6 }),
  )
  .map((bytes) => new Bytes(Uint8Array.from(bytes)));

export const anyTime: fc.Arbitrary<Time> = fc
  .oneof(
    fc.constantFrom(0n, -1n, 1n, NANOS_MIN, NANOS_MAX, 999_999_999n, -1_000_000_000n),
    fc.bigInt({ min: -(10n ** 19n), max: 10n ** 19n }),
    fc.bigInt({ min: NANOS_MIN, max: NANOS_MAX }),
  )
  .map((nanos) => new Time(nanos));

export const anyDate: fc.Arbitrary<DateValue> = fc
  .oneof(
    fc.constantFrom(0, -1, 1, DAY_MIN, DAY_MAX, 2 ** 32, -(2 ** 32)),
    fc.integer({ min: -800_000, max: 800_000 }),
    fc.integer({ min: DAY_MIN, max: DAY_MAX }),
  )
  .map((day) => new DateValue(day));

export const anyUuid: fc.Arbitrary<Uuid> = fc.uuid().map((text) => new Uuid(text));

export const anyRef: fc.Arbitrary<Ref> = fc
  .tuple(
    fc.constantFrom(0, 1, 7, 2 ** 32 - 1),
    fc.constantFrom(1, 3, 8, 1024, 1025, 32_768, 2 ** 32 - 1),
    fc.oneof(
      fc.constantFrom(0n, 1n, 2n, 10n, TWO_53 + 1n, TWO_63 - 1n),
      fc.bigInt({ min: 0n, max: TWO_63 - 1n }),
    ),
  )
  .map(([database, collection, id]) => new Ref(database, collection, id));

export const anyUnresolved: fc.Arbitrary<UnresolvedRef> = fc
  .tuple(fc.constantFrom('collection', 'index', 'function', 'role', 'database'), fc.string())
  .map(([what, name]) => new UnresolvedRef(what, name, `{"id":${JSON.stringify(name)}}`));

export const anyLambda: fc.Arbitrary<Lambda> = fc
  .tuple(fc.constantFrom('x', 'y'), fc.constantFrom('2.12', '3', '4'))
  .map(([name, apiVersion]) => ({
    kind: 'lambda',
    pattern: name,
    body: undefined,
    captures: new Map(),
    apiVersion,
    wire: `"lambda":"${name}","expr":{"var":"${name}"}`,
  }));

/** Values that contain no other value. Pending times are left out, because they are not stored. */
export const anyScalar: fc.Arbitrary<Value> = fc.oneof(
  { arbitrary: fc.constantFrom(null, false, true), weight: 2 },
  { arbitrary: anyInteger, weight: 3 },
  { arbitrary: anyDouble, weight: 3 },
  { arbitrary: anyString, weight: 4 },
  anyBytes,
  anyTime,
  anyDate,
  anyUuid,
  anyRef,
);

// A type alias, because TypeScript does not accept an interface as the record of `letrec`.
type Tied = { readonly plain: Value; readonly value: Value; readonly set: SetValue };

const values = fc.letrec<Tied>((tie) => ({
  plain: fc.oneof(
    { depthSize: 'small', withCrossShrink: true },
    anyScalar,
    fc.array(tie('plain'), { maxLength: 4 }),
    objectOf(tie('plain')),
  ),
  value: fc.oneof(
    { depthSize: 'small', withCrossShrink: true },
    { arbitrary: anyScalar, weight: 4 },
    { arbitrary: fc.array(tie('value'), { maxLength: 3 }), weight: 2 },
    { arbitrary: objectOf(tie('value')), weight: 2 },
    fc.constantFrom('create', 'update', 'delete', 'add', 'remove').map((name) => new Action(name)),
    fc.constant(PENDING),
    anyUnresolved,
    anyLambda,
    tie('set'),
    documentOf(tie('plain')),
    eventOf(tie('plain')),
    pageOf(tie('plain')),
    fc
      .tuple(tie('plain'), fc.array(tie('set'), { maxLength: 2 }))
      .map(([value, sources]): Sourced => ({ kind: 'sourced', value, sources })),
  ),
  set: fc.oneof(
    { depthSize: 'small', withCrossShrink: true },
    fc
      .tuple(anyRef, fc.array(tie('plain'), { maxLength: 2 }))
      .map(([index, terms]): SetValue => ({ kind: 'set', op: 'match', index, terms })),
    anyRef.map((collection): SetValue => ({ kind: 'set', op: 'documents', collection })),
    anyRef.map((collection): SetValue => ({
      kind: 'set',
      op: 'documents',
      collection,
      native: true,
    })),
    anyRef.map((ref): SetValue => ({ kind: 'set', op: 'singleton', ref })),
    fc.oneof(anyRef, tie('set')).map((of): SetValue => ({ kind: 'set', op: 'events', of })),
    fc
      .tuple(
        fc.constantFrom('union', 'intersection', 'difference'),
        fc.array(tie('set'), { minLength: 1, maxLength: 2 }),
      )
      .map(([op, sets]): SetValue => ({ kind: 'set', op, sets })),
    fc
      .tuple(fc.constantFrom('distinct', 'reverse'), tie('set'))
      .map(([op, set]): SetValue => ({ kind: 'set', op, set })),
    fc
      .tuple(tie('set'), anyLambda)
      .map(([set, lambda]): SetValue => ({ kind: 'set', op: 'filter', set, lambda })),
    fc
      .tuple(tie('set'), fc.oneof(anyLambda, anyRef))
      .map(([set, other]): SetValue => ({ kind: 'set', op: 'join', set, with: other })),
    fc
      .tuple(
        tie('set'),
        fc.array(tie('plain'), { maxLength: 2 }),
        fc.array(tie('plain'), { maxLength: 2 }),
      )
      .map(([set, from, to]): SetValue => ({ kind: 'set', op: 'range', set, from, to })),
  ),
}));

/** Scalars, arrays and objects: the values that an index entry can contain. */
export const anyPlain: fc.Arbitrary<Value> = values.plain;
export const anyValue: fc.Arbitrary<Value> = values.value;
export const anySet: fc.Arbitrary<SetValue> = values.set;

/** Keys have no lone surrogates: two keys that differ only in those would be stored as the same key. */
function objectOf(member: fc.Arbitrary<Value>): fc.Arbitrary<ReadonlyMap<string, Value>> {
  return fc
    .array(
      fc.tuple(fc.oneof(fc.constantFrom('a', 'b', 'ab', '@ref'), anyWellFormedString), member),
      {
        maxLength: 4,
      },
    )
    .map((members) => new Map(members));
}

function documentOf(member: fc.Arbitrary<Value>): fc.Arbitrary<Document> {
  return fc
    .record({
      ref: anyRef,
      ts: fc.oneof(fc.integer({ min: 0, max: 5 }), fc.constant(PENDING)),
      created: fc.boolean(),
      data: objectOf(member),
    })
    .map(({ ref, ts, created, data }) => ({
      kind: 'document',
      ref,
      ts,
      created,
      fields: new Map([['data', data]]),
      text: undefined,
    }));
}

function eventOf(member: fc.Arbitrary<Value>): fc.Arbitrary<Event> {
  return fc.record({
    kind: fc.constant('event'),
    ts: fc.integer({ min: 0, max: 5 }),
    action: fc.constantFrom('create', 'update', 'delete', 'add', 'remove'),
    document: fc.option(anyRef, { nil: undefined }),
    data: fc.option(member, { nil: undefined }),
  });
}

function pageOf(member: fc.Arbitrary<Value>): fc.Arbitrary<Page> {
  return fc.record({
    kind: fc.constant('page'),
    before: fc.option(fc.array(member, { maxLength: 2 }), { nil: undefined }),
    after: fc.option(fc.array(member, { maxLength: 2 }), { nil: undefined }),
    data: fc.array(member, { maxLength: 2 }),
    cursors: fc.constant(undefined),
  });
}

/** Two strings, often with a common prefix. */
export const anyStringPair: fc.Arbitrary<readonly [string, string]> = fc.oneof(
  fc.tuple(anyString, anyString),
  fc.tuple(anyString, anyString, anyString).map(([first, a, b]) => [first + a, first + b] as const),
);

/** Two values that often have a common prefix, or differ only in the types of their numbers. */
export const anyPair = (value: fc.Arbitrary<Value>): fc.Arbitrary<readonly [Value, Value]> =>
  fc.oneof(
    fc.tuple(value, value),
    value.map((same) => [same, same] as const),
    fc.tuple(value, value, value).map(
      ([first, a, b]) =>
        [
          [first, a],
          [first, b],
        ] as const,
    ),
    anyStringPair,
    fc.tuple(fc.oneof(anyInteger, anyDouble), fc.oneof(anyInteger, anyDouble)),
  );
