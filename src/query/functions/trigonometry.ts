/** Trigonometric functions, in radians, and hyperbolic functions. Spec: functions 1.10. */
import { toDouble } from '../../values/number.ts';
import { double } from '../../values/value.ts';
import { number, param } from '../casts.ts';
import { COVERED, NEAREST_DOUBLE } from '../costs.ts';
import { define, type PureContext } from '../define.ts';
import type { FunctionRow } from '../function-row.ts';
import { refuseBound } from './bounds.ts';
import { acos, asin, atan, cosh, sinh, tanh } from './fdlibm.ts';
import { cos, sin, tan } from './nearest-double.ts';
import { numberText } from './numbers.ts';

// A single multiplication by a constant, as in Java. Dividing by π first may differ in the last digit.
const RADIANS_PER_DEGREE = 0.017_453_292_519_943_295;
const DEGREES_PER_RADIAN = 57.295_779_513_082_32;

const FUNCTIONS: Readonly<Record<string, (value: number) => number>> = {
  sin,
  cos,
  tan,
  sinh,
  cosh,
  tanh,
  asin,
  acos,
  atan,
  degrees: (value) => value * DEGREES_PER_RADIAN,
  radians: (value) => value * RADIANS_PER_DEGREE,
};

/** Functions of which our own arithmetic takes long. */
const LONG = new Set(['sin', 'cos', 'tan']);

/** Functions that are undefined outside -1 to 1. */
const INVERSE = new Set(['asin', 'acos']);

export const trigonometryRows: readonly FunctionRow[] = Object.entries(FUNCTIONS).map(
  ([name, call]) =>
    define(
      'pure',
      { [name]: param(number, 'Number') },
      LONG.has(name) ? NEAREST_DOUBLE : COVERED,
      (args, context: PureContext) => {
        const operand = args[name] ?? 0;
        const value = toDouble(operand);
        if (INVERSE.has(name) && Math.abs(value) > 1) {
          refuseBound(context, numberText(operand), 'between -1 and 1 inclusive');
        }
        return double(call(value));
      },
    ),
);
