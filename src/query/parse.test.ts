import { expect, test } from 'vitest';
import { LIMITS } from '../limits.ts';
import { QueryFailure } from '../errors.ts';
import { parseQuery } from './parse.ts';
import { shown } from './testing/pure-session.ts';

const failureOf = (text: string): QueryFailure['faults'] => {
  try {
    parseQuery(text, '4');
    return [];
  } catch (failure) {
    if (!(failure instanceof QueryFailure)) throw failure;
    return failure.faults;
  }
};
const faultsOf = (text: string): readonly string[] =>
  failureOf(text).map(({ position, description }) => `${JSON.stringify(position)} ${description}`);
const faults = (query: unknown): readonly string[] => faultsOf(JSON.stringify(query));

test('parseQuery() refuses an empty body and invalid JSON', () => {
  expect(faultsOf(' \n')).toEqual(['[] No query provided.']);
  expect(faultsOf('{"add":')).toEqual(['[] Request body is not valid JSON.']);
});

test('parseQuery() reports the position of an integer beyond 64 bits', () => {
  for (const number of ['9223372036854775808', '-9223372036854775809', '1' + '0'.repeat(400)]) {
    expect(failureOf(`{"add":[1,${number}]}`)).toMatchObject([
      {
        position: [],
        description: 'Request body is not valid JSON.',
        detail: 'The integer at 10 is beyond 64 bits.',
      },
    ]);
  }
  expect(faultsOf('{"add":[1,9223372036854775807,9223372036854775808.0]}')).toEqual([]);
});

test('parseQuery() lists the keys of an unknown function in the given order', () => {
  expect(faults({ zeta: 1, alpha: 2 })).toEqual([
    '[] No form/function found, or invalid argument keys: { zeta, alpha }.',
  ]);
});

test('parseQuery() lists the arguments of a function that has an unknown one', () => {
  const detail = (query: unknown) => failureOf(JSON.stringify(query))[0]?.detail;
  expect(detail({ paginate: 1, sizee: 5 })).toBe(
    'paginate takes after, size, ts, events, sources, before, cursor.',
  );
  expect(detail({ param: 1, create: 1 })).toBe('create takes params.');
  expect(detail({ zeta: 1, alpha: 2 })).toBeUndefined();
  expect(detail({ now: null, toString: 1 })).toBeUndefined();
});

test('parseQuery() recognizes a function whatever the order of its keys', () => {
  expect(shown({ from: [7], select: 0 })).toBe('7');
});

test('parseQuery() reports the first faulty member of an array, an object or a function call', () => {
  expect(faults([{ bad: 1 }, { worse: 1 }])).toHaveLength(1);
  expect(faults({ object: { a: { bad: 1 }, b: { worse: 1 } } })[0]).toMatch(/^\["object","a"\]/);
  expect(faults({ from: { bad: 1 }, select: { worse: 1 } })[0]).toMatch(/^\["select"\]/);
});

test('parseQuery() reports every faulty binding of a let, then its body', () => {
  const query = { let: [{ a: { bad: 1 } }, { b: 1, c: 2 }, { d: { worse: 1 } }], in: { no: 1 } };
  expect(faults(query).map((text) => text.slice(0, text.indexOf(' ')))).toEqual([
    '["let",1]',
    '["let",0,"a"]',
    '["let",2,"d"]',
    '["in"]',
  ]);
});

test('parseQuery() reports faults of a pattern and of the body together', () => {
  const query = { query: { lambda: ['x', 1], expr: { bad: 1 } } };
  expect(faults(query)).toEqual([
    '["query","lambda",1] String expected, Integer provided.',
    '["query","expr"] No form/function found, or invalid argument keys: { bad }.',
  ]);
});

test('parseQuery() reports all unbound variables if there is no other fault', () => {
  expect(faultsOf('[{"var":"a"},{"if":true,"then":1,"else":{"var":"b"}}]')).toEqual([
    "[0] Variable 'a' is not defined.",
    '[1,"else"] Variable \'b\' is not defined.',
  ]);
  expect(faults([{ var: 'a' }, { bad: 1 }])).toHaveLength(1);
});

test('parseQuery() ends the scope of variables after their let or lambda', () => {
  const scoped = { let: { x: 1 }, in: { var: 'x' } };
  expect(faults([scoped, { var: 'x' }])).toEqual(["[1] Variable 'x' is not defined."]);
  const mapped = { map: { lambda: ['x', '_'], expr: { var: '_' } }, collection: [] };
  expect(faults(mapped)).toEqual(['["map","expr"] Variable \'_\' is not defined.']);
});

test('parseQuery() requires lambdas to be written in place', () => {
  expect(faults({ map: { query: { lambda: 'x', expr: 1 } }, collection: [] })).toEqual([
    '["map"] Lambda expected, Object provided.',
  ]);
});

test('parseQuery() accepts let as an array or an object, escaped or not', () => {
  const body = { var: 'b' };
  expect(shown({ let: [{ a: 1 }, { b: { var: 'a' } }], in: body })).toBe('1');
  expect(shown({ let: { a: 1, b: { var: 'a' } }, in: body })).toBe('1');
  expect(shown({ let: { '@obj': { a: 1, b: { var: 'a' } } }, in: body })).toBe('1');
  expect(faults({ let: 'a', in: 1 })).toEqual(['["let"] Array expected, String provided.']);
  expect(faults({ let: [1, {}, { a: 1, b: 2 }], in: 1 })).toEqual([
    '["let",0] Object expected, Integer provided.',
    '["let",1] Object expected, Object provided.',
    '["let",2] Object expected, Object provided.',
  ]);
});

test('parseQuery() includes @obj in positions', () => {
  expect(faults({ object: { '@obj': { '@ts': { bad: 1 } } } })[0]).toMatch(
    /^\["object","@obj","@ts"\]/,
  );
  expect(faults({ '@obj': { a: 1 } })[0]).toMatch(/^\["@obj"\]/);
  expect(faults({ '@obj': 5 })).toEqual(['[] Invalid object.']);
});

test('parseQuery() refuses an escaped value where an object is required', () => {
  expect(faults({ object: { '@date': '2020-01-01' } })).toEqual([
    '[] Object expected, Date provided.',
  ]);
  expect(shown({ object: { '@other': 1 } })).toBe('{"@obj":{"@other":1}}');
});

test('parseQuery() knows a function only from its version on', () => {
  expect(() => parseQuery('{"first":[1]}', '3')).toThrow(QueryFailure);
  expect(parseQuery('{"first":[1]}', '4').effect).toBe('read');
});

test('parseQuery() folds constants into one node', () => {
  const query = [{ object: { a: [1, { object: { b: { '@ts': '2020-01-01T00:00:00Z' } } }] } }];
  expect(parseQuery(JSON.stringify(query), '4').kind).toBe('constant');
});

test('parseQuery() and evaluate() accept queries nested as deeply as JSON may be', () => {
  const nested = (levels: number, open: string, close: string, inner: string): string =>
    open.repeat(levels) + inner + close.repeat(levels);
  const depth = LIMITS.jsonDepth - 4;
  expect(shown(nested(depth, '{"not":', '}', 'true'))).toBe('true');
  expect(shown(nested(depth / 2, '{"let":{"a":1},"in":', '}', '{"var":"a"}'))).toBe('1');
  for (const [levels, open, close] of [
    [depth / 2, '{"object":{"a":', '}}'],
    [depth, '[', ']'],
    [depth, '{"quote":', '}'],
  ] as const)
    expect(parseQuery(nested(levels, open, close, 'true'), '4').kind, open).toBe('constant');
  const maps = nested(150, '{"map":{"lambda":"x","expr":', '},"collection":[1]}', '{"var":"x"}');
  expect(shown(maps)).toBe(`${'['.repeat(150)}1${']'.repeat(150)}`);
  expect(faultsOf('['.repeat(1200) + ']'.repeat(1200))).toHaveLength(1);
});
