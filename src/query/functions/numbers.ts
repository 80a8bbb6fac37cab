/** Arithmetic, bit operations, rounding and powers. Spec: functions 1.10, values 11. */
import { fail } from '../../errors.ts';
import { doubleText } from '../../codec/number-text.ts';
import {
  addIntegers,
  asDouble,
  multiplyIntegers,
  subtractIntegers,
  toDouble,
  truncateToInteger,
  type IntegerValue,
  type NumberValue,
} from '../../values/number.ts';
import { double, integer as toInteger, isDouble, isInteger } from '../../values/value.ts';
import { integer, number, optional, param, someOf } from '../casts.ts';
import { COVERED, NEAREST_DOUBLE } from '../costs.ts';
import { define, type PureContext } from '../define.ts';
import type { FunctionRow } from '../function-row.ts';
import { positionOf } from '../query-path.ts';
import { refuseBound } from './bounds.ts';
import { upperPart } from './fdlibm.ts';
import * as nearest from './nearest-double.ts';
import { roundNumber, truncateNumber } from './rounding.ts';

/** Units of work of arithmetic. Large Integers take longest. */
const adding = ({ length }: readonly NumberValue[]): number => length * 400;

// --- folds ----------------------------------------------------------------------------------------

/** The result is an Integer while all operands are Integers, and a Double from the first Double on. */
function foldNumbers(
  operands: readonly NumberValue[],
  ofIntegers: (a: IntegerValue, b: IntegerValue) => NumberValue,
  ofDoubles: (a: number, b: number) => number,
): NumberValue {
  let result = operands[0] ?? 0;
  for (let i = 1; i < operands.length; i += 1) {
    const next = operands[i] ?? 0;
    result =
      isInteger(result) && isInteger(next)
        ? ofIntegers(result, next)
        : double(ofDoubles(toDouble(result), toDouble(next)));
  }
  return result;
}

const operands = param(someOf(number), 'Number+');

/** @param check validates the operands */
const arithmetic = (
  key: string,
  ofIntegers: (a: IntegerValue, b: IntegerValue) => NumberValue,
  ofDoubles: (a: number, b: number) => number,
  check?: (all: readonly NumberValue[], context: PureContext) => void,
): FunctionRow =>
  define(
    'pure',
    { [key]: operands },
    (args) => adding(args[key] ?? []),
    (args, context) => {
      const all = args[key] ?? [];
      check?.(all, context);
      return foldNumbers(all, ofIntegers, ofDoubles);
    },
  );

function requireDivisors(all: readonly NumberValue[], context: PureContext): void {
  const divisors = all.slice(1);
  if (divisors.some((each) => toDouble(each) === 0)) {
    fail('invalid argument', positionOf(context.path), 'Illegal division by zero.');
  }
}

/** Truncates toward zero. Overflow wraps around: the smallest Integer divided by -1 is itself. */
function divideIntegers(a: IntegerValue, b: IntegerValue): IntegerValue {
  // `+ 0` because 0 / -1 is -0, which is not an Integer.
  if (typeof a === 'number' && typeof b === 'number') return (a - (a % b)) / b + 0;
  return toInteger(BigInt(a) / BigInt(b));
}

function remainderOfIntegers(a: IntegerValue, b: IntegerValue): IntegerValue {
  if (typeof a === 'number' && typeof b === 'number') return (a % b) + 0;
  return toInteger(BigInt(a) % BigInt(b));
}

// --- bits -----------------------------------------------------------------------------------------

const bitsOf = (value: NumberValue): bigint => BigInt(truncateToInteger(value));

/** Doubles are truncated first. If any operand is a Double, so is the result. */
function foldBits(
  all: readonly NumberValue[],
  step: (a: bigint, b: bigint) => bigint,
): NumberValue {
  const result = toInteger(all.map(bitsOf).reduce(step));
  return all.some(isDouble) ? asDouble(result) : result;
}

const bitwise = (key: string, step: (a: bigint, b: bigint) => bigint): FunctionRow =>
  define(
    'pure',
    { [key]: operands },
    (args) => adding(args[key] ?? []),
    (args) => foldBits(args[key] ?? [], step),
  );

const bitNot = define('pure', { bitnot: param(number, 'Number') }, COVERED, (args) =>
  toInteger(~bitsOf(args.bitnot)),
);

// --- one number -----------------------------------------------------------------------------------

const abs = define('pure', { abs: param(number, 'Number') }, COVERED, ({ abs: value }) => {
  if (!isInteger(value)) return double(Math.abs(toDouble(value)));
  return typeof value === 'number' ? Math.abs(value) : toInteger(value < 0n ? -value : value);
});

const ceil = define('pure', { ceil: param(number, 'Number') }, COVERED, ({ ceil: value }) =>
  isInteger(value) ? value : double(Math.ceil(toDouble(value))),
);

const floor = define('pure', { floor: param(number, 'Number') }, COVERED, ({ floor: value }) =>
  isInteger(value) ? value : double(Math.floor(toDouble(value))),
);

const PRECISION_DEFAULT = 2;

const round = define(
  'pure',
  { round: param(number, 'Number'), precision: optional(integer, 'Integer') },
  COVERED,
  ({ round: value, precision = PRECISION_DEFAULT }) => roundNumber(value, Number(precision)),
);

const trunc = define(
  'pure',
  { trunc: param(number, 'Number'), precision: optional(integer, 'Integer') },
  COVERED,
  ({ trunc: value, precision = PRECISION_DEFAULT }) => truncateNumber(value, Number(precision)),
);

/** A Double that is not below zero has the sign 1, even 0.0 and NaN. */
const sign = define('pure', { sign: param(number, 'Number') }, COVERED, ({ sign: value }) => {
  if (toDouble(value) < 0) return -1;
  return value === 0 ? 0 : 1;
});

// --- powers ---------------------------------------------------------------------------------------

/** A number as messages about bounds print it. */
export const numberText = (value: NumberValue): string =>
  isInteger(value) ? String(value) : doubleText(toDouble(value));

const sqrt = define(
  'pure',
  { sqrt: param(number, 'Number') },
  COVERED,
  ({ sqrt: value }, context) => {
    if (toDouble(value) < 0) refuseBound(context, numberText(value), 'positive');
    return double(Math.sqrt(toDouble(value)));
  },
);

const POWER_DEFAULT = 2;

const pow = define(
  'pure',
  { pow: param(number, 'Number'), exp: optional(number, 'Number') },
  NEAREST_DOUBLE,
  ({ pow: base, exp = POWER_DEFAULT }) => double(nearest.pow(toDouble(base), toDouble(exp))),
);

const hypot = define(
  'pure',
  { hypot: param(number, 'Number'), b: optional(number, 'Number') },
  COVERED,
  ({ hypot: a, b = a }) => double(hypotenuse(toDouble(a), toDouble(b))),
);

/**
 * The square root of the sum of two squares, as the original computes it, with an error of less than one unit in the
 * last place: the squares are composed of exact products. `Math.hypot` is less accurate on some hosts.
 */
function hypotenuse(x: number, y: number): number {
  const a = Math.max(Math.abs(x), Math.abs(y));
  const b = Math.min(Math.abs(x), Math.abs(y));
  if (!Number.isFinite(a)) return Math.hypot(x, y);
  if (b <= a * 2 ** -60) return a + b;
  if (a > 2 ** 500) return hypotenuse(a * 2 ** -600, b * 2 ** -600) * 2 ** 600;
  if (b < 2 ** -500) return hypotenuse(a * 2 ** 600, b * 2 ** 600) * 2 ** -600;
  const difference = a - b;
  if (difference > b) {
    const upper = upperPart(a);
    return Math.sqrt(upper * upper - (b * -b - (a - upper) * (a + upper)));
  }
  const twice = a + a;
  const upper = upperPart(twice);
  const upperB = upperPart(b);
  const rest = upper * (b - upperB) + (twice - upper) * b;
  return Math.sqrt(upper * upperB - (difference * -difference - rest));
}

const exp = define('pure', { exp: param(number, 'Number') }, NEAREST_DOUBLE, (args) =>
  double(nearest.exp(toDouble(args.exp))),
);

function requireLogarithm(value: NumberValue, context: PureContext): number {
  const operand = toDouble(value);
  if (operand <= 0) refuseBound(context, numberText(value), 'greater than 0');
  return operand;
}

const ln = define('pure', { ln: param(number, 'Number') }, NEAREST_DOUBLE, (args, context) =>
  double(nearest.ln(requireLogarithm(args.ln, context))),
);

const log = define('pure', { log: param(number, 'Number') }, NEAREST_DOUBLE, (args, context) =>
  double(nearest.log10(requireLogarithm(args.log, context))),
);

export const numberRows: readonly FunctionRow[] = [
  arithmetic('add', addIntegers, (a, b) => a + b),
  arithmetic('subtract', subtractIntegers, (a, b) => a - b),
  arithmetic('multiply', multiplyIntegers, (a, b) => a * b),
  arithmetic('divide', divideIntegers, (a, b) => a / b, requireDivisors),
  arithmetic('modulo', remainderOfIntegers, (a, b) => a % b, requireDivisors),
  bitwise('bitand', (a, b) => a & b),
  bitwise('bitor', (a, b) => a | b),
  bitwise('bitxor', (a, b) => a ^ b),
  bitNot,
  abs,
  ceil,
  floor,
  round,
  trunc,
  sign,
  sqrt,
  pow,
  hypot,
  exp,
  ln,
  log,
];
