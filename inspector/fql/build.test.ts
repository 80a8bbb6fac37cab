import { expect, test } from 'vitest';
import { q } from '../../src/index.ts';
import { build } from './build.ts';
import { SyntaxProblem } from './tokens.ts';

const wire = (value: unknown): unknown => JSON.parse(JSON.stringify(value));

const SAME: readonly (readonly [text: string, expression: unknown])[] = [
  ['Get(Ref(Collection("a"), "1"))', q.Get(q.Ref(q.Collection('a'), '1'))],
  ['q.Add(1, -2.5, 3e2);', q.Add(1, -2.5, 300)],
  [`Concat(['a', "b\\n", '\\u00e9\\x41'])`, q.Concat(['a', 'b\n', 'éA'])],
  [`Concat(['\\0', '\\v'])`, q.Concat(['\0', '\v'])],
  ['Map([1, 2], x => Add(x, 1))', q.Map([1, 2], q.Lambda('x', q.Add(q.Var('x'), 1)))],
  ['Lambda((a, b) => [b, (a)])', q.Lambda(['a', 'b'], [q.Var('b'), q.Var('a')])],
  ['Let({ a: 1 }, Var("a"))', q.Let({ a: 1 }, q.Var('a'))],
  [
    'Paginate(Documents(Collection("c")), { size: 5, after: [null, true,], }) // ends',
    q.Paginate(q.Documents(q.Collection('c')), { size: 5, after: [null, true] }),
  ],
  [
    'Map([], x => ({ x, "y z": /* why */ 1 }))',
    q.Map([], q.Lambda('x', { x: q.Var('x'), 'y z': 1 })),
  ],
  ['Do(Now(), null)', q.Do(q.Now(), null)],
];

for (const [text, expression] of SAME) {
  test(`build() reads ${text}`, () => {
    expect(wire(build(text).expression)).toEqual(wire(expression));
  });
}

test('build() keeps integers beyond the safe range exact', () => {
  expect(build('Abs(9223372036854775807)').expression.raw).toEqual({ abs: 9223372036854775807n });
});

test('build() makes a query of a bare value', () => {
  expect(wire(build('[1]').expression)).toEqual({ let: [], in: [1] });
});

const WRONG: readonly (readonly [text: string, at: string, message: string])[] = [
  ['', '', 'Type a query first.'],
  ['Gett(1)', 'Gett', 'Unknown function Gett'],
  ['get(1)', 'get', 'Unknown function get. Did you mean Get?'],
  ['Get(', '', 'Expected a value, but the query ends here'],
  ['Get(1 2)', '2', 'Expected “,” or “)”'],
  ['Add(1, 2', '', 'Expected “,” or “)”, but the query ends here'],
  ['{ a: [1 }', '}', 'Expected “,” or “]”'],
  ['Get()', 'Get', 'q.Get takes from 1 to 2 argument(s), but got 0.'],
  ['Get(x)', 'x', 'Unknown name x. Strings need quotes.'],
  ['Map([], x => x) x', 'x', 'Only one query can be run. Combine several with Do(…)'],
  ['Add(1, #)', '#', 'Unexpected character #.'],
  ['Concat(["a, b])', '"a, b])', 'The string has no closing ".'],
  ['constructor(1)', 'constructor', 'Unknown function constructor'],
  ['{ a 1 }', '1', 'Expected “:”'],
  ['Abs(1.5n)', 'n', 'Expected “,” or “)”'],
];

for (const [text, at, message] of WRONG) {
  test(`build() refuses ${JSON.stringify(text)}, and gives the position`, () => {
    const problem = problemOf(text);
    expect(problem.message).toBe(message);
    expect(text.slice(problem.start, problem.end)).toBe(at);
    expect(problem.start).toBe(at === '' ? text.length : text.lastIndexOf(at));
  });
}

function problemOf(text: string): SyntaxProblem {
  try {
    build(text);
  } catch (error) {
    if (error instanceof SyntaxProblem) return error;
    throw error;
  }
  throw new Error(`${text} was read.`);
}

const PLACES: readonly (readonly [text: string, position: (string | number)[], found: string])[] = [
  ['Get(Ref(Collection("a"), "1"))', ['get'], 'Ref(Collection("a"), "1")'],
  ['Get(Ref(Collection("a"), "1"))', ['get', 'ref'], 'Collection("a")'],
  ['Map([1], x => Get(x))', ['map', 'expr'], 'Get(x)'],
  ['Do(1, Abort("no"))', ['do', 1], 'Abort("no")'],
  ['Create(Collection("a"), { data: Add("x") })', ['params', 'object', 'data'], 'Add("x")'],
  ['Abort("no")', [], 'Abort("no")'],
];

for (const [text, position, found] of PLACES) {
  test(`locate() finds ${position.join('.') || 'the whole'} of ${text}`, () => {
    const { start, end } = build(text).locate(position);
    expect(text.slice(start, end)).toBe(found);
  });
}
