import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { storedText } from '../codec/stored.ts';
import {
  anyBytes,
  anyDate,
  anyInteger,
  anyTime,
  anyUuid,
  anyWellFormedString,
} from '../values/arbitrary.ts';
import { double, isKind, type Value } from '../values/value.ts';
import { applyLambda } from './evaluate.ts';
import { Frame } from './frame.ts';
import { effectOf, LambdaValue } from './lambda-value.ts';
import { parseLambda, parseQuery } from './parse.ts';
import { pureSession } from './testing/pure-session.ts';

const anyDouble = fc
  .oneof(fc.constantFrom(Number.NaN, Infinity, -Infinity), fc.double())
  .map(double);

/** Values whose text evaluates to the same value. */
const { value: writable } = fc.letrec<{ readonly value: Value }>((tie) => ({
  value: fc.oneof(
    { depthSize: 'small' },
    fc.constantFrom(null, true, false),
    anyInteger,
    anyDouble,
    anyWellFormedString,
    anyTime,
    anyDate,
    anyUuid,
    anyBytes,
    fc.array(tie('value'), { maxLength: 3 }),
    fc
      .array(
        fc.tuple(
          fc.oneof(fc.constantFrom('@ts', '@obj', 'add'), anyWellFormedString),
          tie('value'),
        ),
        { maxLength: 3 },
      )
      .map((members) => new Map(members)),
  ),
}));

test('wire contains the captured values, and the lambda read from it returns them', () => {
  const made = parseQuery(
    '{"let":{"held":1},"in":{"query":{"lambda":"_","expr":{"var":"held"}}}}',
    '4',
  );
  if (made.kind !== 'let' || made.body.kind !== 'query') throw new Error('no lambda');
  const node = made.body.lambda;
  const session = pureSession();
  fc.assert(
    fc.property(writable, (held) => {
      const scope = new Frame([held], new Frame([], undefined, 0), 0);
      const lambda = new LambdaValue(node, { scope, session });
      const again = parseLambda(lambda.wire, lambda.apiVersion);
      expect(storedText(applyLambda(again, null, session))).toBe(storedText(held));
      expect(storedText(applyLambda(lambda, null, session))).toBe(storedText(held));
    }),
  );
});

test('wire of a lambda that was read from text is the same text', () => {
  const wire = '"lambda":["a","_"],"expr":[{"var":"a"},1.0,{"@ts":"2020-01-01T00:00:00Z"}]';
  const lambda = parseLambda(wire, '4');
  expect(lambda.wire).toBe(wire);
  expect(isKind(lambda, 'lambda')).toBe(true);
  expect(lambda.captures.size).toBe(0);
});

const bodyOf = (expr: unknown): unknown => {
  const { wire } = parseLambda(JSON.stringify({ lambda: 'x', expr }), '4');
  expect(parseLambda(wire, '4').wire).toBe(wire);
  return (JSON.parse(`{${wire}}`) as { expr: unknown }).expr;
};

test.each([
  [
    { let: [{ x: 1 }, { y: { var: 'x' } }], in: { var: 'y' } },
    { let: { x: 1, y: { var: 'x' } }, in: { var: 'y' } },
  ],
  [
    { let: { x: { let: [{ y: 1 }], in: { var: 'y' } } }, in: [{ let: [], in: 1 }] },
    { let: { x: { let: { y: 1 }, in: { var: 'y' } } }, in: [{ let: {}, in: 1 }] },
  ],
  [
    { let: [{ '@obj': { '@x': 1 } }, { quote: { let: [{ a: 1 }], in: 2 } }], in: 1 },
    { let: { '@obj': { '@x': 1, quote: { let: { a: 1 }, in: 2 } } }, in: 1 },
  ],
  [
    { let: [{ x: 1 }, { x: { let: [{ y: 1 }], in: 2 } }], in: { var: 'x' } },
    { let: [{ x: 1 }, { x: { let: { y: 1 }, in: 2 } }], in: { var: 'x' } },
  ],
  [
    { map: { lambda: 'y', expr: { let: [{ z: 1 }], in: 2 } }, collection: [] },
    { map: { lambda: 'y', expr: { let: { z: 1 }, in: 2 } }, collection: [] },
  ],
  [{ '@obj': { let: [{ x: 1 }], in: 2 } }, { '@obj': { let: { x: 1 }, in: 2 } }],
  // A member called `let` of an object or of data is not a `let` form.
  [{ object: { let: [1], in: 2 } }, { object: { let: [1], in: 2 } }],
  [
    { object: { '@obj': { let: [{ object: { x: 1 } }], in: 2, '@x': 1 } } },
    { object: { '@obj': { let: [{ object: { x: 1 } }], in: 2, '@x': 1 } } },
  ],
  [{ quote: { let: [{ x: 1 }], in: 2 } }, { quote: { let: [{ x: 1 }], in: 2 } }],
])('the text of a lambda writes the bindings of %j as one object', (written, read) => {
  expect(JSON.stringify(bodyOf(written))).toBe(JSON.stringify(read));
});

test('effectOf() is the strongest effect that a lambda can have', () => {
  expect(effectOf(parseLambda('"lambda":"x","expr":[{"var":"x"}]', '4'))).toBe('pure');
  expect(effectOf(parseLambda('"lambda":"x","expr":{"get":{"var":"x"}}', '4'))).toBe('read');
  expect(effectOf(parseLambda('"lambda":"x","expr":{"call":{"var":"x"}}', '4'))).toBe('write');
});
