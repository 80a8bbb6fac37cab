import type { Family, FamilyDocs } from '../form-docs.ts';

const ANGLES: Readonly<Record<string, readonly [summary: string, example: string]>> = {
  sin: ['The sine of an angle in radians.', 'Sin(0)'],
  cos: ['The cosine of an angle in radians.', 'Cos(0)'],
  tan: ['The tangent of an angle in radians.', 'Tan(0)'],
  sinh: ['The hyperbolic sine.', 'Sinh(0)'],
  cosh: ['The hyperbolic cosine.', 'Cosh(0)'],
  tanh: ['The hyperbolic tangent.', 'Tanh(0)'],
  asin: ['The arc sine, in radians.', 'Asin(0)'],
  acos: ['The arc cosine, in radians.', 'Acos(1)'],
  atan: ['The arc tangent, in radians.', 'Atan(0)'],
  degrees: ['Converts an angle from radians to degrees.', 'Round(Degrees(3.141592653589793), 6)'],
  radians: ['Converts an angle from degrees to radians.', 'Trunc(Radians(180), 6)'],
};

const angles: FamilyDocs = Object.fromEntries(
  Object.entries(ANGLES).map(([name, [summary, example]]) => [
    name,
    {
      summary,
      result: 'Double',
      ...(/^a(sin|cos)$/.test(name) && {
        errors: [['invalid argument', 'the operand is not between -1 and 1']] as const,
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
    'An Integer has 64 bits and overflows silently; a Double is an IEEE 754 double. `1` is an Integer; `1.0` and `1e2` are Doubles. The database keeps the type. An operation on both types returns a Double.',
  docs: {
    add: {
      summary: 'The sum of all operands.',
      result: 'Number',
      example: '[Add(1, 2, 3), Add(1, 0.5)]',
    },
    subtract: {
      summary: 'The first operand minus all others.',
      result: 'Number',
      example: 'Subtract(10, 3, 2)',
    },
    multiply: {
      summary: 'The product of all operands.',
      result: 'Number',
      example: 'Multiply(2, 3, 1.5)',
    },
    divide: {
      summary:
        'The first operand divided by each of the others. Division of Integers truncates toward zero.',
      result: 'Number',
      errors: [ZERO],
      example: '[Divide(7, 2), Divide(-7, 2), Divide(7, 2.5)]',
    },
    modulo: {
      summary: 'The remainder of a division. It has the sign of the first operand.',
      result: 'Number',
      errors: [ZERO],
      example: '[Modulo(7, 3), Modulo(-7, 3)]',
    },
    bitand: {
      summary: 'Bitwise AND of all operands.',
      result: 'Number',
      example: 'BitAnd(12, 10)',
    },
    bitor: {
      summary: 'Bitwise OR of all operands.',
      result: 'Number',
      example: 'BitOr(12, 10)',
    },
    bitxor: {
      summary: 'Bitwise exclusive OR of all operands.',
      result: 'Number',
      example: 'BitXor(12, 10)',
    },
    bitnot: { summary: 'Bitwise NOT.', result: 'Integer', example: 'BitNot(7)' },
    abs: { summary: 'The absolute value.', result: 'Number', example: 'Abs(-7.5)' },
    ceil: {
      summary: 'Rounds up to a whole number of the same type.',
      result: 'Number',
      example: '[Ceil(1.2), Ceil(-1.2)]',
    },
    floor: {
      summary: 'Rounds down to a whole number of the same type.',
      result: 'Number',
      example: '[Floor(1.8), Floor(-1.2)]',
    },
    round: {
      summary:
        'Rounds to a number of decimal places, 2 by default; a negative precision rounds to tens, hundreds and so on. It adds one half and truncates, so negative numbers are not rounded to the nearest.',
      result: 'Number',
      example: '[Round(3.14159), Round(2.5, 0), Round(-2.6, 0), Round(1250, -2)]',
    },
    trunc: {
      summary: 'Truncates toward zero to a number of decimal places, 2 by default.',
      result: 'Number',
      example: '[Trunc(3.149), Trunc(-3.149, 1)]',
    },
    sign: {
      summary: 'The sign: -1, 0 or 1. For the Double 0.0 it is 1, as in the original.',
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
      summary: 'Raises a number to a power, 2 by default.',
      result: 'Double',
      example: '[Pow(3), Pow(2, 10)]',
    },
    hypot: {
      summary: 'The hypotenuse of a right triangle with these two sides.',
      result: 'Double',
      example: 'Hypot(3, 4)',
    },
    exp: { summary: 'e raised to a power.', result: 'Double', example: 'Exp(0)' },
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
