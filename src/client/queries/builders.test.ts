import * as fc from 'fast-check';
import { createRequire } from 'node:module';
import { expect, test } from 'vitest';
import { BUILDER_ROWS } from './builder-table.ts';
import { q } from './builders.ts';
import { encodeQuery } from './encode.ts';
import { isOwnForm } from '../../reference/families.ts';
import { UsageError } from '../errors.ts';
import { printExpression } from './print.ts';
import * as values from './values.ts';

interface Values {
  readonly Ref: new (id: string, collection?: unknown, database?: unknown) => unknown;
  readonly SetRef: new (value: unknown) => unknown;
  readonly FaunaTime: new (value: string | Date) => unknown;
  readonly FaunaDate: new (value: string | Date) => unknown;
  readonly Bytes: new (value: Uint8Array) => unknown;
  readonly Query: new (value: unknown) => unknown;
}
type Builder = (...args: readonly unknown[]) => unknown;
interface Kit {
  readonly q: Readonly<Record<string, Builder>>;
  readonly values: Values;
}

// The original driver is a CommonJS package; its deprecation warnings would fill the report.
process.noDeprecation = true;
const faunadb = createRequire(import.meta.url)('faunadb') as {
  readonly query: Readonly<Record<string, Builder>>;
  readonly values: Values;
};
const theirs: Kit = { q: faunadb.query, values: faunadb.values };
const ours: Kit = { q: q as unknown as Kit['q'], values: values as unknown as Values };
const names = Object.keys(theirs.q).filter((name) => name !== 'arity' && name !== 'wrap');

/** Makes an argument with either library. */
type Recipe = (kit: Kit) => unknown;

const key = fc.string().filter((text) => text !== '__proto__');
const scalar = fc.oneof(
  fc.string(),
  fc.integer(),
  fc.double({ noNaN: true, noDefaultInfinity: true }),
  fc.boolean(),
  fc.constant(null),
);
const constant =
  (value: unknown): Recipe =>
  () =>
    value;
const { recipe } = fc.letrec<{ recipe: Recipe }>((tie) => ({
  recipe: fc.oneof(
    { depthSize: 'small' },
    scalar.map(constant),
    fc.constantFrom<Recipe>(
      () => new Uint8Array([1, 2, 250]),
      () => Symbol('name'),
      (kit) =>
        new kit.values.Ref('1', new kit.values.Ref('notes', new kit.values.Ref('collections'))),
      (kit) => new kit.values.FaunaTime('2026-11-21T10:00:00.000000001Z'),
      (kit) => new kit.values.FaunaTime(new Date(5)),
      (kit) => new kit.values.FaunaDate(new Date(5)),
      (kit) => new kit.values.Bytes(new Uint8Array([255, 0])),
      (kit) =>
        new kit.values.SetRef({ match: new kit.values.Ref('all', new kit.values.Ref('indexes')) }),
      (kit) => new kit.values.Query({ lambda: 'x', expr: { var: 'x' } }),
      ({ q }) =>
        (x: unknown) =>
          q['Get']?.(x),
      ({ q }) =>
        (one: unknown, /* , */ two: unknown) =>
          q['Add']?.(one, two),
    ),
    fc.array(tie('recipe'), { maxLength: 3 }).map(
      (each): Recipe =>
        (kit) =>
          each.map((make) => make(kit)),
    ),
    fc.dictionary(key, tie('recipe'), { maxKeys: 3 }).map(
      (each): Recipe =>
        (kit) =>
          Object.fromEntries(Object.entries(each).map(([name, make]) => [name, make(kit)])),
    ),
    fc.tuple(fc.constantFrom('Get', 'Now', 'Union', 'Index', 'Collections'), tie('recipe')).map(
      ([name, make]): Recipe =>
        (kit) =>
          kit.q[name]?.(...(name === 'Now' ? [] : [make(kit)])),
    ),
  ),
}));

/** Arguments after the first few are often left out, undefined or null, because builders differ there. */
const listOf = (length: number) =>
  fc.array(
    fc.oneof(
      { weight: 4, arbitrary: recipe },
      { weight: 1, arbitrary: fc.constant(constant(undefined)) },
    ),
    {
      minLength: length,
      maxLength: length,
    },
  );

const specialArguments: Readonly<Record<string, fc.Arbitrary<readonly Recipe[]>>> = {
  Bytes: fc
    .constantFrom<Recipe>(constant(new Uint8Array([7])), constant('AQID'))
    .map((each) => [each]),
  Let: fc.tuple(
    fc.oneof(
      fc.dictionary(key, recipe).map(
        (each): Recipe =>
          (kit) =>
            Object.fromEntries(Object.entries(each).map(([name, make]) => [name, make(kit)])),
      ),
      fc.array(fc.tuple(key, recipe)).map(
        (each): Recipe =>
          (kit) =>
            each.map(([name, make]) => ({ [name]: make(kit) })),
      ),
    ),
    recipe,
  ),
  Object: fc
    .dictionary(key, recipe)
    .map((each) => [
      (kit: Kit) =>
        Object.fromEntries(Object.entries(each).map(([name, make]) => [name, make(kit)])),
    ]),
  Lambda: fc.oneof(
    fc.tuple(fc.oneof(fc.string(), fc.array(fc.string())).map(constant), recipe),
    fc.constantFrom<readonly Recipe[]>(
      [
        ({ q }) =>
          (x: unknown) =>
            q['Not']?.(x),
      ],
      [
        ({ q }) =>
          function (a: unknown, b: unknown) {
            return q['Or']?.(a, b);
          },
      ],
      [({ q }) => q['Lambda']?.('y', 1)],
    ),
  ),
  // For an undefined id the original sends `{"ref":…}`, which is refused for its keys; our builder says what is undefined.
  Ref: fc.array(recipe, { minLength: 1, maxLength: 2 }),
  Paginate: fc.tuple(
    recipe,
    fc
      .dictionary(
        fc.constantFrom('size', 'after', 'before', 'ts', 'cursor', 'events', 'sources'),
        recipe,
      )
      .map(
        (each): Recipe =>
          (kit) =>
            Object.fromEntries(Object.entries(each).map(([name, make]) => [name, make(kit)])),
      ),
  ),
};

/** A call of any builder, with such calls among its arguments. */
const { program } = fc.letrec<{ program: Recipe; argument: Recipe }>((tie) => ({
  argument: fc.oneof({ depthSize: 'small' }, recipe, tie('program')),
  program: fc.constantFrom(...names.filter((name) => !(name in specialArguments))).chain((name) => {
    const { min = 1, max = 2 } = BUILDER_ROWS.find((each) => each.name === name) ?? {};
    return fc.array(tie('argument'), { minLength: min, maxLength: Math.min(max, min + 2) }).map(
      (args): Recipe =>
        (kit) =>
          kit.q[name]?.(...args.map((make) => make(kit))),
    );
  }),
}));

/** Wire text of the call, or that it was refused. */
function wire(kit: Kit, name: string, recipes: readonly Recipe[]): string {
  const args = recipes.map((make) => make(kit));
  let expression: unknown;
  try {
    expression = kit.q[name]?.(...args);
  } catch {
    return 'refused';
  }
  return kit === ours ? encodeQuery(expression) : JSON.stringify(expression);
}

test('q has exactly the builders of the original driver and of our own forms', () => {
  const own = BUILDER_ROWS.filter(({ keys }) => isOwnForm(keys[0]?.key ?? ''));
  expect(names).toHaveLength(206);
  expect(Object.keys(q).sort()).toEqual([...names, ...own.map(({ name }) => name)].sort());
});

test.each(names)('q.%s() makes the wire JSON of the original driver', (name) => {
  const row = BUILDER_ROWS.find((each) => each.name === name);
  const min = row?.min ?? 1;
  const max = Math.min(row?.max ?? 4, min + 3);
  const args = specialArguments[name] ?? fc.integer({ min, max }).chain(listOf);
  fc.assert(
    fc.property(args, (recipes) => {
      expect(wire(ours, name, recipes)).toBe(wire(theirs, name, recipes));
    }),
    { numRuns: 60 },
  );
});

test('q makes the wire JSON of the original driver for whole programs', () => {
  const textOf = (kit: Kit, make: Recipe): string => {
    const expression = make(kit);
    return kit === ours ? encodeQuery(expression) : JSON.stringify(expression);
  };
  fc.assert(
    fc.property(program, (make) => {
      expect(textOf(ours, make)).toBe(textOf(theirs, make));
    }),
    { numRuns: 1000 },
  );
});

test('q refuses the argument counts that the original driver refuses', () => {
  for (const name of names) {
    for (let count = 0; count < 7; count++) {
      const recipes = Array.from({ length: count }, () => constant({}));
      const refused = wire(theirs, name, recipes) === 'refused';
      expect([name, count, wire(ours, name, recipes) === 'refused']).toEqual([
        name,
        count,
        refused,
      ]);
    }
  }
});

test('q and the original driver accept the expressions of each other', () => {
  const mixed = q.Get(theirs.q['Ref']?.(ours.q['Collection']?.('notes'), '1') as values.Expr);
  expect(encodeQuery(mixed)).toBe('{"get":{"ref":{"collection":"notes"},"id":"1"}}');
});

test('q.Paginate() refuses options that are an expression', () => {
  const loose = q.Paginate as unknown as Builder;
  expect(() => loose(q.Documents(q.Collection('notes')), q.Var('x'))).toThrow(
    'The options of q.Paginate must be an object literal',
  );
  expect(() => loose(q.Documents(q.Collection('notes')), [1])).toThrow(UsageError);
});

test('q names the missing argument', () => {
  const loose = q.Match as unknown as Builder;
  expect(() => loose(undefined)).toThrow('q.Match: argument 1 is required, but is undefined.');
  expect(() => loose()).toThrow('q.Match takes at least 1 argument(s), but got 0.');
  expect(() => (q.If as unknown as Builder)(true, 1)).toThrow(
    'q.If takes 3 argument(s), but got 2.',
  );
});

test('q refuses numbers that have no wire form', () => {
  expect(() => q.Abs(Number.NaN)).toThrow(UsageError);
  expect(() => q.Abs(2n ** 63n)).toThrow(UsageError);
  expect(encodeQuery(q.Abs(-(2n ** 63n)))).toBe('{"abs":-9223372036854775808}');
});

test('q keeps a member named __proto__', () => {
  const data: unknown = JSON.parse('{"__proto__":{"a":1}}');
  expect(encodeQuery(q.Object(data as object))).toBe('{"object":{"__proto__":{"object":{"a":1}}}}');
  expect({}).not.toHaveProperty('a');
});

test('q does not treat the content of a document as an expression', () => {
  const data: object = JSON.parse('{"_isFaunaExpr":true,"now":null}');
  const made = q.Object({ data });
  expect(encodeQuery(made)).toBe('{"object":{"data":{"object":{"_isFaunaExpr":true,"now":null}}}}');
  expect(made.toFQL()).toBe('{"data": {"_isFaunaExpr": true, "now": null}}');
  // An app may copy objects that others have written.
  const copied = Object.assign({}, JSON.parse('{"__proto__":{"_isFaunaExpr":true},"now":null}'));
  expect(() => q.Object({ data: copied as object })).toThrow(UsageError);
});

test('q.Lambda() accepts functions with plain parameter names only', () => {
  const lambda = (body: unknown) => encodeQuery((q.Lambda as unknown as Builder)(body));
  const shorthand = {
    each(a: values.Expr, b: values.Expr) {
      return q.Add(a, b);
    },
  };
  // oxlint-disable-next-line typescript/unbound-method -- only its text is read, and it has no `this`
  expect(lambda(shorthand.each)).toBe(
    '{"lambda":["a","b"],"expr":{"add":[{"var":"a"},{"var":"b"}]}}',
  );
  expect(lambda((größe: values.Expr) => größe)).toBe('{"lambda":"größe","expr":{"var":"größe"}}');
  const others = [
    ({ a, b }: Record<string, values.Expr>) => [a, b],
    (a: values.Expr, b: unknown = 1) => [a, b],
    (a: unknown = 1) => a,
    (...all: values.Expr[]) => all,
    () => 1,
  ];
  for (const other of others)
    expect(() => lambda(other)).toThrow(
      'Cannot encode a function: it must have parameters, all of them plain names.',
    );
});

test.each<[string, () => unknown]>([
  ['braces without return', () => q.Map([1], (n) => void q.Add(n, 1))],
  ['a member of an expression', () => q.Map([1], (n) => (n as { data?: unknown }).data)],
  ['variables taken from one object', () => q.Let({ a: 1 }, (all) => (all as { a?: unknown }).a)],
])('q refuses a function that returns nothing: %s', (_, make) => {
  expect(make).toThrow('it must return an expression.');
});

const built = (name: string, recipes: readonly Recipe[]): unknown => {
  try {
    return ours.q[name]?.(...recipes.map((make) => make(ours)));
  } catch (reason) {
    return reason;
  }
};

test('printExpression() prints a program that builds the same query', () => {
  const program = fc.constantFrom(...names).chain((name) => {
    const row = BUILDER_ROWS.find((each) => each.name === name);
    const min = row?.min ?? 1;
    const args =
      specialArguments[name] ??
      fc
        .integer({ min, max: Math.min(row?.max ?? 2, min + 2) })
        .chain((count) => fc.array(recipe, { minLength: count, maxLength: count }));
    return fc.tuple(fc.constant(name), args);
  });
  const scope = { ...q, SetRef: values.SetRef };
  fc.assert(
    fc.property(program, ([name, recipes]) => {
      const expression = built(name, recipes);
      // `Let({}, (x) => Get(x))` cannot be built, so there is nothing to print.
      fc.pre(!(expression instanceof Error));
      const text = printExpression(expression);
      // oxlint-disable-next-line typescript/no-implied-eval -- that it is a program is what is tested
      const again: unknown = new Function(...Object.keys(scope), `return ${text}`)(
        ...Object.values(scope),
      );
      expect(printExpression(again)).toBe(text);
    }),
    { numRuns: 300 },
  );
  expect(
    String(q.Map(q.Paginate(q.Documents(q.Collection('notes')), { size: 2 }), (x) => q.Get(x))),
  ).toBe('Map(Paginate(Documents(Collection("notes")), {"size": 2}), Lambda("x", Get(Var("x"))))');
  // A stored lambda has all its bindings in one object.
  const stored = new values.Query({
    lambda: 'x',
    expr: { let: { a: 1, b: { var: 'a' } }, in: { var: 'b' } },
  });
  expect(String(stored)).toBe('Query(Lambda("x", Let({"a": 1, "b": Var("a")}, Var("b"))))');
});

class Heron {
  readonly name = 'Ada';
}

test.each([
  [{ data: { at: new Date(0) } }, 'Cannot encode the Date at data.at: use q.Time'],
  [
    { data: { seen: [{ at: new Date(0) }] } },
    'Cannot encode the Date at data.seen.0.at: use q.Time',
  ],
  [{ data: new Map([['a', 1]]) }, 'Cannot encode the Map at data: use a plain object'],
  [{ data: { of: new Set([1]) } }, 'Cannot encode the Set at data.of: use a plain object'],
  [{ data: new Heron() }, 'Cannot encode the Heron at data: use a plain object'],
  [{ data: /a/ }, 'Cannot encode the RegExp at data: use a plain object'],
])('a value that FQL does not have is refused with its path: %j', (params, message) => {
  expect(() => q.Create(q.Collection('notes'), params as never)).toThrow(message);
});

const nowhere = Object.create(Object.create(Object.create(null) as object) as object) as object;

test.each<[string, unknown, string]>([
  ['NaN', Number.NaN, 'NaN at data.of.1: FQL has no representation for it.'],
  ['Infinity', -Infinity, '-Infinity at data.of.1: FQL has no representation for it.'],
  ['a bigint of more than 64 bits', 2n ** 63n, '9223372036854775808 at data.of.1: it does not fit'],
  ['a function', () => 1, 'a function at data.of.1: it must have parameters'],
  ['a listener', (_event: unknown) => undefined, 'a function at data.of.1: it must return'],
  ['a typed array', new Float64Array(1), 'the Float64Array at data.of.1: use a plain object'],
  ['a DataView', new DataView(new ArrayBuffer(1)), 'the DataView at data.of.1: use a plain object'],
  ['a Number object', Object(1), 'the Number at data.of.1: use a plain object'],
  ['a String object', Object('a'), 'the String at data.of.1: use a plain object'],
  [
    'an object with a toJSON()',
    new URL('https://a.example'),
    'the URL at data.of.1: use a plain object',
  ],
  ['a promise', Promise.resolve(1), 'the Promise at data.of.1: use a plain object'],
  ['an error', new Error('x'), 'the Error at data.of.1: use a plain object'],
  ['a proxy of a Map', new Proxy(new Map(), {}), 'the Map at data.of.1: use a plain object'],
  ['an object without a constructor', nowhere, 'at data.of.1: use a plain object'],
])('%s is refused with its path', (_, value, message) => {
  const build = () => q.Create(q.Collection('notes'), { data: { of: [0, value] } });
  expect(build).toThrow(UsageError);
  expect(build).toThrow(message);
});

test('a proxy of plain objects and arrays is encoded like its target', () => {
  const data = new Proxy({ all: new Proxy([1, { a: 2 }], {}) }, {});
  expect(encodeQuery(q.Object(data))).toBe('{"object":{"all":[1,{"object":{"a":2}}]}}');
});

test.each([
  ['a Map', new Map([['a', 1]]), 'the Map: use a plain object'],
  ['a Date', new Date(0), 'the Date: use q.Time'],
  ['an instance', new Heron(), 'the Heron: use a plain object'],
  ['text', 'abc', 'the String: use a plain object'],
  ['an expression', q.Var('x'), 'the Expr: use a plain object'],
])('%s is refused by q.Object(), q.Let() and q.Paginate()', (_, given, message) => {
  const loose = q as unknown as Record<'Object' | 'Let' | 'Paginate', Builder>;
  const builds = [
    () => loose.Object(given),
    () => loose.Let(given, 1),
    () => loose.Let([given], 1),
    ...(typeof given === 'object' && !('toFQL' in given) ? [() => loose.Paginate([], given)] : []),
  ];
  for (const build of builds) {
    expect(build).toThrow(UsageError);
    expect(build).toThrow(`Cannot encode ${message}`);
  }
});

test.each([
  ['beside an integer of 64 bits', 5n, '5'],
  ['beside a Double', new values.Double(5), '5.0'],
  ['beside a number', 5, '5'],
])('holes in an array are encoded as null, %s', (_, last, text) => {
  const list: unknown[] = [];
  list[2] = last;
  expect(encodeQuery(q.Object({ list }))).toBe(`{"object":{"list":[null,null,${text}]}}`);
});

test('a bigint is encoded as an Integer, even if an app gives bigints a toJSON()', () => {
  const query = q.Object({ id: 9007199254740993n });
  Object.assign(BigInt.prototype, { toJSON: () => 'text' });
  try {
    expect(encodeQuery(query)).toBe('{"object":{"id":9007199254740993}}');
  } finally {
    Reflect.deleteProperty(BigInt.prototype, 'toJSON');
  }
});

test('-0 is encoded as the Integer 0, as in the original, and Double(-0) as -0.0', () => {
  expect(encodeQuery(q.Object({ zero: -0 }))).toBe('{"object":{"zero":0}}');
  expect(encodeQuery(q.Object({ zero: new values.Double(-0) }))).toBe('{"object":{"zero":-0.0}}');
});

test('an exception of a getter in the data is thrown unchanged', () => {
  const reason = new Error('not loaded');
  const data = {
    get lazy(): unknown {
      throw reason;
    },
  };
  expect(() => q.Create(q.Collection('notes'), { data })).toThrow(reason);
});

test.each([
  [
    'Paginate',
    () => q.Paginate(q.Documents(q.Collection('notes')), { ts: new Date(0) } as never),
    'the Date at ts',
  ],
  ['Let', () => q.Let({ at: new Date(0) } as never, q.Var('at')), 'the Date at at'],
  ['Let, of an array', () => q.Let([{ at: new Date(0) }] as never, q.Var('at')), 'the Date at at'],
  ['Object', () => q.Object({ all: [new Date(0)] } as never), 'the Date at all.0'],
])('a Date is refused with its path by q.%s', (_, build, place) => {
  expect(build).toThrow(UsageError);
  expect(build).toThrow(`Cannot encode ${place}: use q.Time`);
});

test.each([
  ['a Double of NaN', () => new values.Double(Number.NaN)],
  ['an infinite Double', () => new values.Double(Infinity)],
  ['a Double of text', () => new values.Double('1' as never)],
  ['a FaunaTime of a number', () => new values.FaunaTime(5 as never)],
  ['a FaunaTime of null', () => new values.FaunaTime(null as never)],
  ['a FaunaTime of an invalid Date', () => new values.FaunaTime(new Date('x'))],
  ['a FaunaDate of undefined', () => new values.FaunaDate(undefined as never)],
  ['a FaunaDate of an invalid Date', () => new values.FaunaDate(new Date('x'))],
])('%s is refused', (_, make) => {
  expect(make).toThrow(UsageError);
});

test('objects without a prototype, bytes and values of FQL are accepted', () => {
  const bare = Object.assign(Object.create(null) as object, { a: 1 });
  const data = { bare, bytes: new Uint8Array([1]), at: new values.FaunaTime(new Date(0)) };
  expect(JSON.stringify(q.Create(q.Collection('notes'), { data }))).toContain('"@ts":"1970-');
});

test('data that contains itself is refused', () => {
  const data: Record<string, unknown> = { name: 'Ada' };
  data['self'] = data;
  expect(() => q.Create(q.Collection('notes'), { data })).toThrow(
    'The query is nested too deeply or contains itself.',
  );
});

test('lambdas and sets in answers are printed as FQL source', () => {
  const things = { '@ref': { id: 'things', collection: { '@ref': { id: 'collections' } } } };
  const documents = { '@set': { documents: things } };
  const lambda = { api_version: '4', lambda: 'x', expr: { not: { var: 'x' } } };
  const set = (parts: unknown) => new values.SetRef(parts).toFQL();
  expect(new values.Query(lambda).toFQL()).toBe('Query(Lambda("x", Not(Var("x"))))');
  expect(set({ filter: lambda, collection: documents })).toBe(
    'Filter(Documents(Collection("things")), Lambda("x", Not(Var("x"))))',
  );
  expect(set({ range: documents, from: [1] })).toBe(
    'Range(Documents(Collection("things")), [1], [])',
  );
  expect(set({ range: documents, to: [1] })).toBe(
    'Range(Documents(Collection("things")), [], [1])',
  );
});

test('a variable in a template string throws an error that suggests q.Concat()', () => {
  const refused = 'A variable is not text: use q.Concat().';
  expect(() => q.Map(['Ada'], (name) => `hi ${String(name)}`)).toThrow(refused);
  expect(() => q.Map([1], (n) => (n as never) + 1)).toThrow(refused);
  expect(q.Var('name').toFQL()).toBe('Var("name")');
  expect(String(q.Lambda('name', q.Var('name')))).toBe('Lambda("name", Var("name"))');
});
