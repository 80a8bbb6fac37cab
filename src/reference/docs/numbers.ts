import type { Family, FamilyDocs } from '../form-docs.ts';

const ANGLES: Readonly<Record<string, readonly [summary: string, example: string]>> = {
  sin: ['The sine of an angle in radians.', 'Sin(0)'],
  cos: ['The cosine of an angle in radians.', 'Cos(0)'],
  tan: ['The tangent of an angle in radians.', 'Tan(0)'],
  sinh: ['The hyperbolic sine.', 'Sinh(0)'],
  cosh: ['The hyperbolic cosine.', 'Cosh(0)'],
  tanh: ['The hyperbolic tangent.', 'Tanh(0)'],
  asin: ['The angle in radians whose sine this is.', 'Asin(0)'],
  acos: ['The angle in radians whose cosine this is.', 'Acos(1)'],
  atan: ['The angle in radians whose tangent this is.', 'Atan(0)'],
  degrees: ['An angle in radians, in degrees.', 'Round(Degrees(3.141592653589793), 6)'],
  radians: ['An angle in degrees, in radians.', 'Trunc(Radians(180), 6)'],
};

const angles: FamilyDocs = Object.fromEntries(
  Object.entries(ANGLES).map(([name, [summary, example]]) => [
    name,
    {
      summary,
      result: 'Double',
      ...(/^a(sin|cos)$/.test(name) && {
        errors: [['invalid argument', 'the operand lies outside -1 to 1']] as const,
      }),
      example,
    },
  ]),
);

const ZERO = ['invalid argument', 'a divisor is zero'] as const;

export const numbers: Family = {
  file: 'numbers',
  title: 'Numbers',
  about:
    'Integers have 64 bits and wrap around silently; Doubles are those of IEEE 754. `1` is an Integer, `1.0` and `1e2` are Doubles, and both stay what they are on their way through the database. An operation on both kinds gives a Double.',
  docs: {
    add: {
      summary: 'The sum of all operands.',
      result: 'Number',
      example: '[Add(1, 2, 3), Add(1, 0.5)]',
    },
    subtract: {
      summary: 'The first operand less all others.',
      result: 'Number',
      example: 'Subtract(10, 3, 2)',
    },
    multiply: {
      summary: 'The product of all operands.',
      result: 'Number',
      example: 'Multiply(2, 3, 1.5)',
    },
    divide: {
      summary: 'The first operand divided by each other; between Integers, cut toward zero.',
      result: 'Number',
      errors: [ZERO],
      example: '[Divide(7, 2), Divide(-7, 2), Divide(7, 2.5)]',
    },
    modulo: {
      summary: 'What remains of a division; it has the sign of the first operand.',
      result: 'Number',
      errors: [ZERO],
      example: '[Modulo(7, 3), Modulo(-7, 3)]',
    },
    bitand: {
      summary: 'The bits that all operands have.',
      result: 'Number',
      example: 'BitAnd(12, 10)',
    },
    bitor: {
      summary: 'The bits that any operand has.',
      result: 'Number',
      example: 'BitOr(12, 10)',
    },
    bitxor: {
      summary: 'The bits that an odd number of operands have.',
      result: 'Number',
      example: 'BitXor(12, 10)',
    },
    bitnot: { summary: 'All bits turned over.', result: 'Integer', example: 'BitNot(7)' },
    abs: { summary: 'The number without its sign.', result: 'Number', example: 'Abs(-7.5)' },
    ceil: {
      summary: 'The next whole number upward, of the same kind.',
      result: 'Number',
      example: '[Ceil(1.2), Ceil(-1.2)]',
    },
    floor: {
      summary: 'The next whole number downward, of the same kind.',
      result: 'Number',
      example: '[Floor(1.8), Floor(-1.2)]',
    },
    round: {
      summary:
        'Rounded to so many digits after the point, 2 unless said; a negative precision counts to the left. Adds one half and cuts, which looks wrong below zero.',
      result: 'Number',
      example: '[Round(3.14159), Round(2.5, 0), Round(-2.6, 0), Round(1250, -2)]',
    },
    trunc: {
      summary: 'Cut toward zero after so many digits, 2 unless said.',
      result: 'Number',
      example: '[Trunc(3.149), Trunc(-3.149, 1)]',
    },
    sign: {
      summary: '-1, 0 or 1; the sign of the Double zero is 1, as in the original.',
      result: 'Integer',
      example: '[Sign(-3.5), Sign(0), Sign(12)]',
    },
    sqrt: {
      summary: 'The square root.',
      result: 'Double',
      errors: [['invalid argument', 'the operand is negative']],
      example: 'Sqrt(2.25)',
    },
    pow: {
      summary: 'A power, the square unless said.',
      result: 'Double',
      example: '[Pow(3), Pow(2, 10)]',
    },
    hypot: {
      summary: 'The longest side of a right-angled triangle.',
      result: 'Double',
      example: 'Hypot(3, 4)',
    },
    exp: { summary: 'Euler’s number to this power.', result: 'Double', example: 'Exp(0)' },
    ln: {
      summary: 'The natural logarithm.',
      result: 'Double',
      errors: [['invalid argument', 'the operand is not greater than 0']],
      example: 'Ln(1)',
    },
    log: {
      summary: 'The logarithm to base 10.',
      result: 'Double',
      errors: [['invalid argument', 'the operand is not greater than 0']],
      example: 'Log(1000)',
    },
    ...angles,
  },
};
